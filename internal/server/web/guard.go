package web

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// guard rejects requests that a foreign web page sends through a browser.
// (specification 2026-07-28, basic/transports/streamable-http, "Security & Endpoint")
type guard struct {
	origins []string
	hosts   []string
}

// CheckHosts returns an error for an entry that cannot match the host of any request. A list of such entries would
// reject all clients.
func CheckHosts(allowed []string) error {
	for _, h := range allowed {
		if h != "*" && !hostname.Plain(h) && !hostname.Plain(hostname.Host(h)) {
			return fmt.Errorf("options: AllowedHosts has %q, want ASCII names or addresses, with or without a port", h)
		}
	}
	return nil
}

// check returns the refusal of a request, or nil if the request is allowed.
func (g *guard) check(r *http.Request) *refusal {
	switch {
	case !g.originAllowed(r):
		return forbidden(names.RefusalOrigin, "the origin is not allowed (HTTPOptions.AllowedOrigins)")
	case !g.hostAllowed(r):
		return forbidden(names.RefusalHost, "the host is not allowed (HTTPOptions.AllowedHosts)")
	}
	return nil
}

func forbidden(reason, why string) *refusal {
	return &refusal{reason: reason, status: http.StatusForbidden,
		err: &mcp.Error{Code: mcp.CodeInvalidRequest, Message: why}}
}

// originAllowed reports whether a request has no origin, the requested host as its origin, or a listed origin.
func (g *guard) originAllowed(r *http.Request) bool {
	origins := r.Header["Origin"]
	if len(origins) == 0 || slices.Contains(g.origins, "*") {
		return true
	}
	if len(origins) > 1 {
		return false
	}
	if slices.Contains(g.origins, origins[0]) {
		return true
	}
	u, err := url.Parse(origins[0])
	if err != nil || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	if hostname.SameOrigin(u, &url.URL{Scheme: u.Scheme, Host: r.Host}) {
		return true
	}
	return slices.ContainsFunc(g.origins, func(o string) bool {
		listed, err := url.Parse(o)
		return err == nil && hostname.SameOrigin(u, listed)
	})
}

// hostAllowed reports whether the server accepts the host of a request. At a loopback address it accepts all names of
// the loopback, which no DNS entry can redirect. Without a list, it rejects other names only at a loopback address,
// because an attacker's web page can make its own name point there (DNS rebinding).
func (g *guard) hostAllowed(r *http.Request) bool {
	local, overTCP := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	here := !overTCP || hostname.LoopbackAddr(local)
	switch {
	case len(g.hosts) == 0 && (!overTCP || !here):
		return true
	case here && hostname.Loopback(hostname.Host(r.Host)):
		return true
	}
	return slices.ContainsFunc(g.hosts, func(allowed string) bool { return allowed == "*" || sameHost(allowed, r.Host) })
}

// sameHost reports whether a listed host matches the requested host. A listed host without a port matches every port.
func sameHost(allowed, host string) bool {
	if _, port, err := net.SplitHostPort(allowed); err == nil {
		_, named, err := net.SplitHostPort(host)
		return err == nil && port == named && hostname.Equal(hostname.Host(allowed), hostname.Host(host))
	}
	return hostname.Equal(allowed, hostname.Host(host))
}
