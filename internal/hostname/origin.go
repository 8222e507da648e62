package hostname

import (
	"net"
	"net/url"
	"strings"
)

// Port returns the port in a URL, or the default port of http and https. It returns "" if there is none.
func Port(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	switch lower(u.Scheme) {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}

// SameOrigin reports whether two URLs have the same scheme, host and port (RFC 6454 §5). A URL without a host has no
// origin and does not even match itself; user information is ignored.
func SameOrigin(a, b *url.URL) bool {
	return lower(a.Scheme) == lower(b.Scheme) && Equal(a.Hostname(), b.Hostname()) && Port(a) == Port(b)
}

// Origin returns the canonical form of a URL's scheme, host and port, equal for URLs of the same origin: in lower case
// and without the default port of the scheme. It returns "" if the URL has no host.
func Origin(u *url.URL) string {
	host := lower(u.Hostname())
	if host == "" {
		return ""
	}
	if ip, ok := address(host); ok {
		host = ip.String()
	}
	scheme, port := lower(u.Scheme), Port(u)
	if usual := Port(&url.URL{Scheme: scheme}); port != usual {
		host = net.JoinHostPort(host, port)
	} else if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return scheme + "://" + host
}

// Root returns the URL of an origin, with a slash as its path.
func Root(u *url.URL) *url.URL {
	return &url.URL{Scheme: lower(u.Scheme), Host: strings.TrimPrefix(Origin(u), lower(u.Scheme)+"://"), Path: "/"}
}
