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

// newAuthorizer returns an authorizer through which the person at this terminal signs in. The authorizer stores the
// tokens for the next run.
func newAuthorizer(o *observation, c *console, r *remote, server string) (*auth.Authorizer, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("no directory for stored tokens: %w", err)
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

// person asks the person at this terminal to authorize. The authorization server redirects the browser to a loopback
// listener.
type person struct {
	*auth.Loopback
	console *console
	browser bool // Authorize opens the browser; if false, it prints the URL of the page
}

// newPerson returns an interaction that opens the page in a browser, or prints its URL.
func newPerson(c *console, browser bool) auth.Interaction {
	if browser && hasBrowser() {
		return person{&auth.Loopback{}, c, true}
	}
	return person{&auth.Loopback{Show: func(_ context.Context, url string) error {
		c.say("open this page to authorize:\n%s", url)
		return nil
	}}, c, false}
}

// Authorize opens the browser and prints a line about it. The wait for the person does not count against --timeout.
func (p person) Authorize(ctx context.Context, r auth.InteractionRequest) (auth.Redirect, error) {
	if p.browser {
		p.console.say("opening the browser to authorize at %s", visible.Line(r.Issuer))
	}
	back := p.console.elsewhere()
	defer back()
	redirect, err := p.Loopback.Authorize(ctx, r)
	if err != nil && p.browser {
		return redirect, fmt.Errorf("%w; --no-browser prints the page instead", err)
	}
	return redirect, err
}

// hasBrowser reports whether the person is likely to see a page that this process opens. It returns false without a
// display and, on macOS and Windows, over SSH.
func hasBrowser() bool {
	if os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "" {
		_, err := exec.LookPath("xdg-open")
		return err == nil
	}
	return (runtime.GOOS == "darwin" || runtime.GOOS == "windows") && os.Getenv("SSH_CONNECTION") == ""
}
