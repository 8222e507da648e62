package auth_test

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

// ipv6 reports whether this machine has the IPv6 loopback address.
func ipv6() bool {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}

// For localhost, a browser may connect to ::1 or to 127.0.0.1. If the client listened at only one of them, another
// program could listen at the other and receive the code.
func TestLocalhostListensAtIPv4AndIPv6(t *testing.T) {
	l := &auth.Loopback{Hostname: "localhost", Show: func(context.Context, string) error { return nil }}
	uri := redirectURI(t, t.Context(), l)
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	addresses := []string{"127.0.0.1"}
	if ipv6() {
		addresses = append(addresses, "::1")
	}
	for _, a := range addresses {
		at := net.JoinHostPort(a, u.Port())
		status, _, _ := visit(t, "http://"+at+u.Path+"?code=c&state=wrong", func(r *http.Request) { r.Host = u.Host })
		if status != http.StatusBadRequest {
			t.Errorf("at %s: got status %d, want the listener's refusal", at, status)
		}
	}
	for name, listens := range map[string]bool{"": false, "127.0.0.1": false, "localhost": true} {
		l := &auth.Loopback{Hostname: name}
		u, err := url.Parse(redirectURI(t, t.Context(), l))
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", net.JoinHostPort("::1", u.Port()))
		if err == nil {
			_ = c.Close()
		}
		if got := err == nil; got != (listens && ipv6()) {
			t.Errorf("%q: listens at ::1: %t, want %t", name, got, listens)
		}
	}
}

func TestPortInUseAtOneAddressIsAnError(t *testing.T) {
	for _, a := range []string{"127.0.0.1", "::1"} {
		taken, err := net.Listen("tcp", net.JoinHostPort(a, "0"))
		if err != nil && a == "::1" {
			continue // the machine does not have this address
		}
		if err != nil {
			t.Fatal(err)
		}
		port := taken.Addr().(*net.TCPAddr).Port
		if uri, err := (&auth.Loopback{Hostname: "localhost", Port: port}).RedirectURI(t.Context()); err == nil {
			t.Errorf("%s: port %d is in use, but Loopback listens at %s, want an error", a, port, uri)
		}
		_ = taken.Close()
	}
}
