package metadata

import (
	"errors"
	"net/netip"
	"net/url"
	"testing"

	"pgregory.net/rapid"
)

func TestGuardChecksURLs(t *testing.T) {
	// allowed by: no guard, guards with loopback, guards with private addresses, all guards
	const no, local, private, yes = 0, 1, 2, 3
	for in, want := range map[string]int{
		"https://as.example/token":        yes,
		"https://AS.example:8443":         yes,
		"https://8.8.8.8/":                yes,
		"https://[2606:4700::1111]/":      yes,
		"https://[64:ff9b::808:808]/":     yes,
		"http://as.example/":              no,
		"http://8.8.8.8/":                 no,
		"ftp://as.example/":               no,
		"javascript:alert(1)":             no,
		"file:///etc/passwd":              no,
		"https:as.example":                no,
		"https:///token":                  no,
		"//as.example/token":              no,
		"/token":                          no,
		"https://user:secret@as.example/": no,
		"https://:443/":                   no,
		"http://localhost:3000/":          local,
		"https://LocalHost./":             local,
		"http://app.localhost/":           local,
		"http://127.0.0.1/":               local,
		"http://127.255.0.1:1/":           local,
		"http://[::1]:1/":                 local,
		"https://10.0.0.1/":               private,
		"https://172.31.255.255/":         private,
		"https://192.168.1.1/":            private,
		"https://100.64.0.1/":             private,
		"https://[fd00::1]/":              private,
		"http://10.0.0.1/":                no,
		"https://0.0.0.0/":                no,
		"https://[::]/":                   no,
		"https://169.254.169.254/latest":  no,
		"https://[fe80::1]/":              no,
		"https://[fe80::1%25eth0]/":       no,
		"https://224.0.0.1/":              no,
		"https://255.255.255.255/":        no,
		"https://[ff02::1]/":              no,
		"https://[::ffff:8.8.8.8]/":       no,
		"https://[::ffff:127.0.0.1]/":     no,
		"https://[::ffff:7f00:1]/":        no,
		"http://[::ffff:127.0.0.1]/":      no,
		"https://[64:ff9b::7f00:1]/":      no,
		"https://[64:ff9b::a00:1]/":       no,
		"https://[64:ff9b:1::1]/":         no,
		"https://[2002:7f00:1::]/":        no,
		"https://[2001:0:a00:1::]/":       no,
		"https://[2001:db8::1]/":          no,
		"https://192.0.2.1/":              no,
		"https://[::127.0.0.1]/":          no,
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []struct {
			guard
			name string
		}{
			{guard{}, "public"},
			{guard{loopback: true}, "loopback too"},
			{guard{loopback: true, private: true}, "private too"},
		} {
			may := want == yes || want == local && g.loopback || want == private && g.private
			err := g.url(u)
			if may != (err == nil) {
				t.Errorf("%s with a guard for %s: error is %v, want it allowed: %v", in, g.name, err, may)
			}
			if err != nil && !errors.Is(err, ErrRefused) {
				t.Errorf("%s: error %v is not ErrRefused", in, err)
			}
		}
	}
}

func TestLoopbackNameMustResolveToLoopback(t *testing.T) {
	g := guard{loopback: true, private: true}
	for _, host := range []string{"localhost", "127.0.0.1", "a.localhost"} {
		if err := g.address(host, netip.MustParseAddr("8.8.8.8")); err == nil {
			t.Errorf("%s may be 8.8.8.8, want it refused because its requests have no TLS", host)
		}
	}
}

// TestLocalAddressesAreNotPublic compares the table with the methods of netip.Addr, for addresses near the boundaries
// of prefixes.
func TestLocalAddressesAreNotPublic(t *testing.T) {
	prefixes := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0"), nat64,
		netip.MustParsePrefix("::ffff:0:0/96")}
	for _, k := range kinds {
		prefixes = append(prefixes, k.prefix)
	}
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SampledFrom(prefixes).Draw(t, "prefix")
		bytes := prefix.Addr().AsSlice()
		noise := rapid.SliceOfN(rapid.Byte(), len(bytes), len(bytes)).Draw(t, "noise")
		for i := range bytes {
			keep := max(0, min(8, prefix.Bits()-8*i))
			bytes[i] |= noise[i] & (0xff >> keep)
		}
		ip, _ := netip.AddrFromSlice(bytes)
		if classify(ip) != public {
			return
		}
		bare := ip
		if nat64.Contains(ip) {
			bare = netip.AddrFrom4([4]byte(bytes[12:]))
		}
		if ip.Is4In6() || bare.IsPrivate() || bare.IsLoopback() || bare.IsUnspecified() || bare.IsMulticast() ||
			bare.IsLinkLocalUnicast() || !bare.IsGlobalUnicast() {
			t.Fatalf("%s is public, want it refused", ip)
		}
	})
}
