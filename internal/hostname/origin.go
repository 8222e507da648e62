package hostname

import (
	"net"
	"net/url"
	"strings"
)

// Port returns the port that a URL names or, of http and https, means. It is empty if there is none.
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

// SameOrigin reports whether two URLs have the same scheme, host and port (RFC 6454 §5). URLs without a host are of no
// origin, not even their own; user information does not count.
func SameOrigin(a, b *url.URL) bool {
	return lower(a.Scheme) == lower(b.Scheme) && Equal(a.Hostname(), b.Hostname()) && Port(a) == Port(b)
}

// Origin returns scheme, host and port of a URL in one form: URLs of the same origin have the same text, small and
// without the port that the scheme means. It is empty without a host.
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

// Root returns the URL of an origin, with a slash for its path.
func Root(u *url.URL) *url.URL {
	return &url.URL{Scheme: lower(u.Scheme), Host: strings.TrimPrefix(Origin(u), lower(u.Scheme)+"://"), Path: "/"}
}
