package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

// newAuthorizer returns what authorizes at a server as the person at this terminal. What it was given is kept for the
// next run.
func newAuthorizer(o *observation, c *console, r *remote, server string) (*auth.Authorizer, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("nowhere to keep the authorization: %w", err)
	}
	store, err := auth.NewFileStore(filepath.Join(dir, "mcpotel", "auth"))
	if err != nil {
		return nil, err
	}
	options := &auth.Options{
		Resource:     r.resourceOf(server),
		Store:        store,
		Registration: auth.Registration{ClientName: "mcpotel", SoftwareVersion: version()},
		Logger:       o.logger(),
	}
	if !r.stored {
		options.Interact = newPerson(c, !r.noBrowser)
	}
	return auth.New(options)
}

// person is who sits at this terminal, and comes back from the authorization server to a listener on loopback.
type person struct {
	*auth.Loopback
	console *console
	browser bool // which opens; else its page is printed
}

// newPerson opens the page in the person's browser, or prints its URL.
func newPerson(c *console, browser bool) auth.Interaction {
	if browser && hasBrowser() {
		return person{&auth.Loopback{}, c, true}
	}
	return person{&auth.Loopback{Show: func(_ context.Context, url string) error {
		c.say("open this page to authorize:\n%s", url)
		return nil
	}}, c, false}
}

// Authorize opens the browser and says so. What the person takes there is no time of the command's.
func (p person) Authorize(ctx context.Context, r auth.InteractionRequest) (auth.Redirect, error) {
	if p.browser {
		p.console.say("authorize at %s, in the browser that opens", visible.Line(r.Issuer))
	}
	back := p.console.elsewhere()
	defer back()
	redirect, err := p.Loopback.Authorize(ctx, r)
	if err != nil && p.browser {
		return redirect, fmt.Errorf("%w; --no-browser prints the page instead", err)
	}
	return redirect, err
}

// hasBrowser reports whether a page that is opened here is likely to be seen: not on a machine without a screen, or on
// one that is far away.
func hasBrowser() bool {
	if os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "" {
		_, err := exec.LookPath("xdg-open")
		return err == nil
	}
	return (runtime.GOOS == "darwin" || runtime.GOOS == "windows") && os.Getenv("SSH_CONNECTION") == ""
}
