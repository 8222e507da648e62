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

	// freePortTries is the number of attempts to find a port that is free at all addresses.
	freePortTries = 16
)

// families maps a host name of the redirect URI to the addresses to which a browser may connect. Loopback listens at
// all of them. At an address without a listener, another program could listen and receive the authorization code.
var families = map[string][]string{"127.0.0.1": {"127.0.0.1"}, "localhost": {"127.0.0.1", "::1"}}

// Loopback is the [Interaction] of RFC 8252 §7.3, for programs on the same machine as the person's browser. It opens
// the browser and receives the redirect with a listener on loopback, which closes after one redirect. The zero value
// is ready for use. One Loopback serves any number of concurrent authorizations; with a fixed Port they run one after
// another.
//
// Loopback rejects a redirect with a wrong state and continues to wait, because any page in the browser could have
// sent it.
type Loopback struct {
	// Port is the port of the redirect URI. 0 means a free port, different each time, which authorization servers must
	// allow (RFC 8252 §7.3). For servers that do not allow this, register a fixed port.
	Port int

	// Path is the path of the redirect URI. Empty means /callback.
	Path string

	// Hostname is the host name of the redirect URI: 127.0.0.1, or localhost for servers that require it. For
	// localhost, Loopback listens at 127.0.0.1 and, if the machine has IPv6, at ::1, because browsers may use either.
	// It is an error if the port is in use at one of them. Empty means 127.0.0.1.
	Hostname string

	// Show shows the URL to the person. It may return before the person has seen the URL. If it returns an error, the
	// authorization fails. If Show is nil, Loopback opens the URL in the browser.
	Show func(ctx context.Context, url string) error

	mu      sync.Mutex
	waiting map[string]*callback // listeners by redirect URI, before Authorize; guarded by mu
	turn    lock.Mutex           // held while a listener uses the fixed Port
}

// RedirectURI starts a listener and returns its URI. The listener closes after Authorize, or when ctx ends.
func (l *Loopback) RedirectURI(ctx context.Context) (string, error) {
	if err := l.check(); err != nil {
		return "", fmt.Errorf("loopback: %w", err)
	}
	leave, err := l.lockPort(ctx)
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
	l.add(ctx, uri, c)
	return uri, nil
}

// Authorize shows the URL and waits for the redirect.
func (l *Loopback) Authorize(ctx context.Context, r InteractionRequest) (Redirect, error) {
	c := l.remove(r.RedirectURI)
	if c == nil {
		return Redirect{}, errors.New(
			"loopback: no listener for this redirect URI; call RedirectURI before each Authorize, and keep its context alive")
	}
	defer c.close()
	c.expect(r.State)
	failed := make(chan error, 1) // the opener sends at most one error
	if err := l.show(ctx, r.URL, failed); err != nil {
		return Redirect{}, fmt.Errorf("loopback: %w", err)
	}
	select {
	case redirect := <-c.redirect:
		return redirect, nil
	case err := <-failed:
		return Redirect{}, fmt.Errorf("loopback: %w", err)
	case <-ctx.Done():
		return Redirect{}, fmt.Errorf("loopback: no redirect received: %w", context.Cause(ctx))
	}
}

func (l *Loopback) show(ctx context.Context, address string, failed chan<- error) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return errors.New("the authorization URL is not an http or https URL")
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
		return fmt.Errorf("path is %q, want a path that begins with / and has no query", l.Path)
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

// lockPort waits until the fixed port is free. leave releases the port.
func (l *Loopback) lockPort(ctx context.Context) (leave func(), err error) {
	if l.Port == 0 {
		return func() {}, nil
	}
	if err := l.turn.LockContext(ctx); err != nil {
		return nil, err
	}
	return l.turn.Unlock, nil
}

// add stores c for Authorize until ctx ends.
func (l *Loopback) add(ctx context.Context, uri string, c *callback) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == nil {
		l.waiting = map[string]*callback{}
	}
	l.waiting[uri] = c
	c.forget = context.AfterFunc(ctx, func() { l.drop(uri, c) })
}

// drop closes c if Authorize has not removed it.
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

func (l *Loopback) remove(uri string) *callback {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.waiting[uri]
	delete(l.waiting, uri)
	if c != nil {
		c.forget()
	}
	return c
}
