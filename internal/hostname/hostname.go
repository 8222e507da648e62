// Package hostname is the only place in this module that answers questions about hosts: whether a host is this machine
// ([Loopback], [LoopbackAddr]), whether every program understands it the same way ([Plain], [Numeric]), whether two
// URLs have the same origin ([SameOrigin], [Origin]), and which names a header field may have ([Token]).
//
// The answers are the basis of trust decisions, so each errs on the safe side: if this package is not certain, a host
// is not loopback, not plain, and of another origin. Only ASCII letters are compared without regard to case, because
// some letters beyond ASCII fold to an ASCII letter ("localhoſt") or are mapped to one on the way to the network
// ("①②⑦.0.0.1").
//
// A test in this package keeps other packages from answering these questions themselves.
package hostname

import (
	"net"
	"net/netip"
	"strings"
)

const local = "localhost"

// Loopback reports whether a host is this machine regardless of DNS: a loopback address, including an IPv4 address
// mapped into IPv6 and an address with a zone; localhost, or a name below it (RFC 6761 §6.3), with or without the
// trailing dot. The host may have the brackets of an address in a URL, but no port: see [Host].
func Loopback(host string) bool {
	if ip, ok := address(host); ok {
		return LoopbackIP(ip)
	}
	name := strings.TrimSuffix(lower(host), ".")
	return name == local || strings.HasSuffix(name, "."+local) && name != "."+local
}

// LoopbackIP reports whether ip is a loopback address.
func LoopbackIP(ip netip.Addr) bool { return ip.Unmap().WithZone("").IsLoopback() }

// LoopbackAddr reports whether the address of one end of a network connection is on the loopback. The address is a
// [net.TCPAddr], or another address that prints as host and port. It reports false for nil.
func LoopbackAddr(a net.Addr) bool {
	if tcp, ok := a.(*net.TCPAddr); ok { // avoids two allocations per request for printing it
		return LoopbackIP(tcp.AddrPort().Addr())
	}
	if a == nil {
		return false
	}
	at, err := netip.ParseAddrPort(a.String())
	return err == nil && LoopbackIP(at.Addr())
}

// Host returns the host of "host", "host:port", "[host]" or "[host]:port", as in the Host field of a request or an
// argument of [net.Dial], without brackets. It returns "" for any other text.
func Host(hostport string) string {
	if name, port, err := net.SplitHostPort(hostport); err == nil {
		if strings.Trim(port, "0123456789") != "" {
			return ""
		}
		return name
	}
	name, opened := strings.CutPrefix(hostport, "[")
	name, closed := strings.CutSuffix(name, "]")
	if opened != closed || !opened && strings.Contains(name, ":") {
		return ""
	}
	return name
}

// Plain reports whether every program understands a host in the same way, so that a check and a later dial agree: the
// host is an address in its usual form, or a name of ASCII letters, digits, hyphens, underscores and single dots that
// is not [Numeric]. An international name is plain in its ASCII form, xn--….
func Plain(host string) bool {
	if _, ok := address(host); ok {
		return true
	}
	name := strings.TrimSuffix(host, ".")
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || strings.ContainsFunc(label, func(r rune) bool { return !alphanumeric(r) && r != '-' && r != '_' }) {
			return false
		}
	}
	return !Numeric(host)
}

// Numeric reports whether this program does not treat a host as an address, but other programs treat it as an IPv4
// address. Browsers, and the resolvers of C, accept 3405803783, 0xCB007107, 203.7 and 127.0.0.1 with a trailing dot.
// (WHATWG URL, "ends in a number checker")
func Numeric(host string) bool {
	if _, ok := address(host); ok {
		return false
	}
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(lower(last), "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// Equal reports whether two hosts, without port, are the same name or address. The empty host does not even equal
// itself.
func Equal(a, b string) bool {
	if lower(a) == lower(b) {
		return a != ""
	}
	x, first := address(a)
	y, second := address(b)
	return first && second && x == y
}

// address parses a host that is an address.
func address(host string) (netip.Addr, bool) {
	if inner, ok := strings.CutPrefix(host, "["); ok && strings.HasSuffix(inner, "]") {
		host = inner[:len(inner)-1]
	}
	ip, err := netip.ParseAddr(host)
	return ip, err == nil
}

// lower returns s with ASCII letters, and no others, in lower case.
func lower(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return 'A' <= r && r <= 'Z' }) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

func alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
