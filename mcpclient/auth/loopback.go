package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/internal/lock"
)

const (
	callbackPath = "/callback"

	// freePortTries is how often a port that is free in one family is looked for in the other.
	freePortTries = 16
)

// families are the addresses that a browser may go to for each name of the redirect URI. A program that listened at one
// that is left out would be sent the authorization code.
var families = map[string][]string{"127.0.0.1": {"127.0.0.1"}, "localhost": {"127.0.0.1", "::1"}}

// Loopback is the [Interaction] of RFC 8252 §7.3, for programs that run where the person's browser does: it opens the
// browser, which comes back to a listener on the loopback. The listener answers one redirect and is gone. The zero
// value is ready, and one Loopback serves any number of authorizations at the same time; with a fixed Port one waits
// for the other.
//
// A redirect with another state than the request's is turned away and not waited for any less: any page the browser
// shows could have sent it.
type Loopback struct {
	// Port of the redirect URI. 0 means a free one, another one each time, which authorization servers have to allow
	// (RFC 8252 §7.3). Those that do not need a fixed one, registered with them.
	Port int

	// Path of the redirect URI; empty means /callback.
	Path string

	// Hostname of the redirect URI: 127.0.0.1, or localhost for servers that want that. For localhost the listener is at
	// 127.0.0.1 and, unless the machine has no IPv6, at ::1, because browsers may go to either; a port that is taken at
	// one of them is an error. Empty means 127.0.0.1.
	Hostname string

	// Show shows the URL to the person, and may return before they have seen it. Its error ends the authorization. Nil
	// opens the URL in the browser.
	Show func(ctx context.Context, url string) error

	mu      sync.Mutex
	waiting map[string]*callback // listeners by redirect URI that Authorize has not taken yet; guarded by mu
	turn    lock.Mutex           // held while a listener has the fixed Port
}

// RedirectURI starts to listen and returns where. The listener ends with Authorize, or with ctx.
func (l *Loopback) RedirectURI(ctx context.Context) (string, error) {
	if err := l.check(); err != nil {
		return "", fmt.Errorf("loopback: %w", err)
	}
	leave, err := l.enter(ctx)
	if err != nil {
		return "", fmt.Errorf("loopback: port %d: %w", l.Port, err)
	}
	listeners, port, err := listen(families[l.hostname()], l.Port)
	if err != nil {
		leave()
		return "", fmt.Errorf("loopback: %w", err)
	}
	c := newCallback(listeners, l.path(), leave)
	uri := l.uri(port)
	l.put(ctx, uri, c)
	return uri, nil
}

// Authorize shows the URL and waits for the redirect.
func (l *Loopback) Authorize(ctx context.Context, r InteractionRequest) (Redirect, error) {
	c := l.take(r.RedirectURI)
	if c == nil {
		return Redirect{}, errors.New(
			"loopback: nothing listens at this redirect URI: it is not the latest of RedirectURI, or its context has ended")
	}
	defer c.close()
	c.expect(r.State)
	failed := make(chan error, 1) // the browser is told once
	if err := l.show(ctx, r.URL, failed); err != nil {
		return Redirect{}, fmt.Errorf("loopback: %w", err)
	}
	select {
	case redirect := <-c.redirect:
		return redirect, nil
	case err := <-failed:
		return Redirect{}, fmt.Errorf("loopback: %w", err)
	case <-ctx.Done():
		return Redirect{}, fmt.Errorf("loopback: no redirect came: %w", context.Cause(ctx))
	}
}

func (l *Loopback) show(ctx context.Context, address string, failed chan<- error) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return errors.New("the authorization URL is no http or https URL")
	}
	if l.Show != nil {
		return l.Show(ctx, address)
	}
	return openBrowser(u.String(), failed)
}

func (l *Loopback) check() error {
	switch {
	case l.Port < 0 || l.Port > 65535:
		return fmt.Errorf("port is %d, want 0 to 65535", l.Port)
	case l.Path != "" && !strings.HasPrefix(l.Path, "/") || strings.ContainsAny(l.Path, "?#"):
		return fmt.Errorf("path is %q, want one that begins with / and has no query", l.Path)
	case families[l.hostname()] == nil:
		return fmt.Errorf("host name is %q, want 127.0.0.1 or localhost", l.Hostname)
	}
	return nil
}

func (l *Loopback) path() string {
	if l.Path == "" {
		return callbackPath
	}
	return l.Path
}

func (l *Loopback) hostname() string { return cmp.Or(l.Hostname, "127.0.0.1") }

func (l *Loopback) uri(port int) string {
	return (&url.URL{Scheme: "http", Host: net.JoinHostPort(l.hostname(), strconv.Itoa(port)), Path: l.path()}).String()
}

// enter waits for the fixed port, and returns what gives it back.
func (l *Loopback) enter(ctx context.Context) (leave func(), err error) {
	if l.Port == 0 {
		return func() {}, nil
	}
	if err := l.turn.LockContext(ctx); err != nil {
		return nil, err
	}
	return l.turn.Unlock, nil
}

// put keeps c for Authorize, until ctx ends.
func (l *Loopback) put(ctx context.Context, uri string, c *callback) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == nil {
		l.waiting = map[string]*callback{}
	}
	l.waiting[uri] = c
	c.forget = context.AfterFunc(ctx, func() { l.drop(uri, c) })
}

// drop closes c if Authorize has not taken it.
func (l *Loopback) drop(uri string, c *callback) {
	l.mu.Lock()
	mine := l.waiting[uri] == c
	if mine {
		delete(l.waiting, uri)
	}
	l.mu.Unlock()
	if mine {
		c.close()
	}
}

func (l *Loopback) take(uri string) *callback {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.waiting[uri]
	delete(l.waiting, uri)
	if c != nil {
		c.forget()
	}
	return c
}
