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

// guard keeps web pages of others from talking to the server through a browser.
// (specification 2026-07-28, basic/transports/streamable-http, "Security & Endpoint")
type guard struct {
	origins []string
	hosts   []string
}

// CheckHosts finds what could never be the host of a request: it would keep all clients out.
func CheckHosts(allowed []string) error {
	for _, h := range allowed {
		if h != "*" && !hostname.Plain(h) && !hostname.Plain(hostname.Host(h)) {
			return fmt.Errorf("options: AllowedHosts has %q, want names of ASCII or addresses, with or without a port", h)
		}
	}
	return nil
}

// check returns the refusal of a request, nil if the request may pass.
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

// originAllowed reports whether the page that sends the request may: of the host it addresses, or listed.
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

// hostAllowed reports whether a client may call the server by the name that it does. By a name of the loopback it
// reaches this machine whatever is written in the DNS. Without a list, any other name is refused at a loopback address
// only: there a page of the web can have brought a browser, by having its own name lead to it.
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

// sameHost reports whether a listed host, with or without a port, is the one that a client has named.
func sameHost(allowed, host string) bool {
	if _, port, err := net.SplitHostPort(allowed); err == nil {
		_, named, err := net.SplitHostPort(host)
		return err == nil && port == named && hostname.Equal(hostname.Host(allowed), hostname.Host(host))
	}
	return hostname.Equal(allowed, hostname.Host(host))
}
