package mcpserver

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// guard keeps web pages of others from talking to the server through a browser.
// (specification 2026-07-28, basic/transports/streamable-http, "Security & Endpoint")
type guard struct {
	origins []string
	hosts   []string
}

// check returns why a request is refused, empty if it is not.
func (g *guard) check(r *http.Request) string {
	switch {
	case !g.originAllowed(r):
		return "the origin is not allowed"
	case !g.hostAllowed(r):
		return "the host is not allowed"
	}
	return ""
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
	if slices.ContainsFunc(g.origins, func(o string) bool { return strings.EqualFold(o, origins[0]) }) {
		return true
	}
	u, err := url.Parse(origins[0])
	if err != nil || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	return strings.EqualFold(withPort(u.Host, u.Scheme), withPort(r.Host, u.Scheme))
}

// withPort returns host with the port it stands for.
func withPort(host, scheme string) string {
	u := url.URL{Host: host}
	if port := u.Port(); port != "" {
		return host
	}
	host = strings.TrimSuffix(host, ":")
	switch scheme {
	case "http":
		return host + ":80"
	case "https":
		return host + ":443"
	}
	return host
}

// hostAllowed reports whether the name by which the client calls a server at a loopback address is one that leads there
// whatever anybody writes into the DNS.
func (g *guard) hostAllowed(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok || !local.IP.IsLoopback() {
		return true
	}
	host := (&url.URL{Host: r.Host}).Hostname()
	switch host {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	return strings.EqualFold(host, "localhost") || slices.ContainsFunc(g.hosts, func(allowed string) bool {
		return allowed == "*" || strings.EqualFold(allowed, host) || strings.EqualFold(allowed, r.Host)
	})
}
