package metadata

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

const (
	dialTimeout = 10 * time.Second
	idleTimeout = 30 * time.Second
)

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// transport checks every request, including redirected requests.
type transport struct {
	guard   guard
	proxy   func(*http.Request) (*url.URL, error) // nil means no proxy
	direct  http.RoundTripper
	proxied http.RoundTripper
	lookup  bool // direct does not check addresses: resolve and check names before each request
}

func newTransport(c *http.Client, g guard) *transport {
	if c == nil || c.Transport == nil {
		return guarded(&http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			TLSHandshakeTimeout:    dialTimeout,
			IdleConnTimeout:        idleTimeout,
			MaxResponseHeaderBytes: DefaultSizeLimit,
		}, g)
	}
	t, ok := c.Transport.(*http.Transport)
	if !ok || dialsByItself(t) {
		return &transport{guard: g, direct: c.Transport, lookup: !g.private}
	}
	return guarded(t, g)
}

// dialsByItself reports whether t has a dialer that must receive the name of the host, not a checked address.
func dialsByItself(t *http.Transport) bool {
	//lint:ignore SA1019 a deprecated dialer dials all the same
	return t.DialTLSContext != nil || t.DialTLS != nil || t.Dial != nil
}

// guarded returns a transport that uses t for proxies and otherwise a copy of t that checks addresses as it dials.
func guarded(t *http.Transport, g guard) *transport {
	direct := t.Clone()
	direct.Proxy = nil
	direct.ForceAttemptHTTP2 = true
	direct.DialContext = g.dial
	if t.DialContext != nil {
		direct.DialContext = g.pin(t.DialContext)
	}
	return &transport{guard: g, proxy: t.Proxy, direct: direct, proxied: t}
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	next, err := t.choose(req)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	return next.RoundTrip(req)
}

func (t *transport) choose(req *http.Request) (http.RoundTripper, error) {
	if err := t.guard.url(req.URL); err != nil {
		return nil, err
	}
	if t.proxy != nil {
		if p, err := t.proxy(req); p != nil || err != nil {
			return t.proxied, err
		}
	}
	if !t.lookup {
		return t.direct, nil
	}
	if _, err := t.guard.resolve(req.Context(), req.URL.Hostname()); err != nil {
		return nil, unresolved(err)
	}
	return t.direct, nil
}

// unresolved returns the error for a name that cannot be resolved. A name that does not exist is refused, because the
// RoundTripper might still resolve it, to an unchecked address. Other errors of the resolver are temporary.
func unresolved(err error) error {
	if unknown, ok := errors.AsType[*net.DNSError](err); ok && unknown.IsNotFound {
		return fmt.Errorf("%w: %v, and the RoundTripper may resolve it to an unchecked address; "+
			"see AllowPrivateAddresses", ErrRefused, err)
	}
	return err
}

// CloseIdleConnections implements the interface that [http.Client.CloseIdleConnections] uses.
func (t *transport) CloseIdleConnections() {
	if direct, ok := t.direct.(*http.Transport); ok && t.proxied != nil {
		direct.CloseIdleConnections()
	}
}

// dial checks the resolved address immediately before it connects.
func (g guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{
		Timeout: dialTimeout,
		Control: func(_, resolved string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(resolved)
			if err != nil {
				return refuse(err.Error())
			}
			return g.address(host, to.Addr())
		},
	}
	return d.DialContext(ctx, network, address)
}

// pin returns a dialer that calls the user's dialer with checked addresses and never with a name.
func (g guard) pin(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		ips, err := g.resolve(ctx, host)
		if err != nil {
			return nil, err
		}
		var failed []error
		for _, ip := range ips {
			c, err := dial(ctx, network, net.JoinHostPort(ip.String(), port))
			if err == nil {
				return c, nil
			}
			failed = append(failed, err)
		}
		return nil, errors.Join(failed...)
	}
}

// resolve returns the allowed addresses of host. It returns an error if there are none.
func (g guard) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	var good []netip.Addr
	var refused error
	for _, ip := range ips {
		ip = ip.Unmap()
		if err := g.address(host, ip); err != nil {
			refused = err
			continue
		}
		good = append(good, ip)
	}
	if len(good) == 0 {
		if refused == nil {
			refused = fmt.Errorf("%s has no address", host)
		}
		return nil, refused
	}
	return good, nil
}
