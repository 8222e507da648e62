package hostname

import (
	"net"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Before this package existed, six packages decided whether a host is loopback, and their answers differed. The letters
// stand for these packages: m is the guard of metadata, e the URLs of elicitation, b the keys of package bearer, o the
// endpoint of package otlp, s the server's guard against rebinding, p the pages that only this machine may read.
func TestLoopbackRecognizesLoopbackHosts(t *testing.T) {
	for _, tt := range []struct {
		host   string
		want   bool
		before string // packages that answered yes
	}{
		{"localhost", true, "mebosp"},
		{"LOCALHOST", true, "me--sp"},
		{"localhost.", true, "m-----"},
		{"app.localhost", true, "me----"},
		{"localhoſt", false, "----sp"}, // folds to localhost, but is a different name in the DNS
		{"127.0.0.1", true, "mebosp"},
		{"127.0.0.2", true, "mebo-p"},
		{"::1", true, "mebosp"},
		{"[::1]", true, "----sp"}, // most packages received hosts without brackets
		{"0:0:0:0:0:0:0:1", true, "mebo-p"},
		{"::1%lo", true, "me---p"},
		{"::ffff:127.0.0.1", true, "-ebo-p"},
		{"::ffff:7f00:1", true, "-ebo-p"},
		{"127.0.0.1.", false, "------"}, // a name, but browsers and C take it for the address: see Numeric
		{"127.1", false, "------"},
		{"0x7f.0.0.1", false, "------"},
		{"2130706433", false, "------"},
		{"①②⑦.0.0.1", false, "------"},
		{"0.0.0.0", false, "------"},
		{"::", false, "------"},
		{"::ffff:10.0.0.1", false, "------"},
		{"user@localhost", false, "------"},
		{"localhost:80", false, "-----p"}, // Host removes the port
		{"localhost.evil.example", false, "------"},
		{"evil-localhost", false, "------"},
		{".localhost", false, "me----"},
		{"localhost..", false, "------"},
		{"[localhost]", false, "----sp"},
		{"", false, "------"},
		{".", false, "------"},
	} {
		if got := Loopback(tt.host); got != tt.want {
			t.Errorf("Loopback(%q) = %t, want %t (before: %s)", tt.host, got, tt.want, tt.before)
		}
	}
}

func TestPlainRefusesAmbiguousHosts(t *testing.T) {
	for host, want := range map[string]bool{
		"as.example": true, "AS.Example.": true, "xn--bcher-kva.example": true, "my_host": true, "a--b.c": true,
		"localhost": true,
		"8.8.8.8":   true, "::1": true, "[::1]": true, "fe80::1%eth0": true, "1.2.3.4.example": true, "0x7f.example": true,
		"①②⑦.0.0.1": false, "bücher.example": false, "localhoſt": false, "as。example": false, "as.example\u00ad": false,
		"127.1": false, "0x7f.0.0.1": false, "2130706433": false, "0177.0.0.1": false, "127.0.0.1.": false,
		"1.2.3.4.5": false, "a.0x": false,
		"": false, ".": false, "a..b": false, ".a": false, "a b": false, "a%20b": false, "a/b": false, "a:80": false,
		"user@a": false,
	} {
		if got := Plain(host); got != want {
			t.Errorf("Plain(%q) = %t, want %t", host, got, want)
		}
	}
}

func TestNumericHosts(t *testing.T) {
	for host, want := range map[string]bool{
		"127.1": true, "3405803783": true, "0xCB007107": true, "203.7": true, "a.0x": true, "127.0.0.1.": true, "a.1": true,
		"127.0.0.1": false, "::1": false, "a.example": false, "a.0xg": false, "": false, ".": false,
	} {
		if got := Numeric(host); got != want {
			t.Errorf("Numeric(%q) = %t, want %t", host, got, want)
		}
	}
}

func TestSameOrigin(t *testing.T) {
	const base = "https://mcp.example:443/a?b"
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{base, "https://mcp.example", true},
		{base, "HTTPS://MCP.example/other", true},
		{base, "https://user:secret@mcp.example/", true},
		{base, "https://mcp.example:/", true},
		{base, "http://mcp.example:443/", false},
		{base, "https://mcp.example:8443/", false},
		{base, "https://mcp.example./", false},
		{base, "https://evil.example/", false},
		{base, "//mcp.example/", false},
		{"https://evis.example", "https://eviſ.example", false},
		{"http://localhost", "http://127.0.0.1", false},
		{"http://[::1]:80/", "http://[0:0::1]", true},
		{"http://[::ffff:127.0.0.1]/", "http://127.0.0.1/", false},
		{"http://h:80", "http://h", true},
		{"ws://h:80", "ws://h", false},
		{"mailto:a", "mailto:a", false},
		{"/a", "/a", false},
	} {
		a, b := parse(t, tt.a), parse(t, tt.b)
		if got := SameOrigin(a, b); got != tt.want || SameOrigin(b, a) != tt.want {
			t.Errorf("SameOrigin(%s, %s) = %t, want %t both ways", a, b, got, tt.want)
		}
		if got := Origin(a) != "" && Origin(a) == Origin(b); got != tt.want {
			t.Errorf("origins %q and %q: want them the same: %t", Origin(a), Origin(b), tt.want)
		}
	}
	for in, want := range map[string]string{
		"HTTPS://MCP.Example:443/x": "https://mcp.example/", "http://[0::1]:8080": "http://[::1]:8080/",
		"https://[::1]/": "https://[::1]/",
	} {
		if got := Root(parse(t, in)).String(); got != want {
			t.Errorf("Root(%s) = %s, want %s", in, got, want)
		}
	}
}

func parse(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestHostIsReturnedWithoutItsPort(t *testing.T) {
	for in, want := range map[string]string{
		"a": "a", "a:80": "a", "a:": "a", "127.0.0.1:1": "127.0.0.1", "[::1]": "::1", "[::1]:80": "::1",
		"[fe80::1%25lo]:1": "fe80::1%25lo",
		"":                 "", "::1": "", "[::1": "", "::1]": "", "a:b:c": "", "a:b": "", "https://a": "", "a:-1": "",
	} {
		if got := Host(in); got != want {
			t.Errorf("Host(%q) = %q, want %q", in, got, want)
		}
	}
}

type text string

func (text) Network() string  { return "test" }
func (a text) String() string { return string(a) }

func TestLoopbackAddrRecognizesLoopback(t *testing.T) {
	for _, tt := range []struct {
		addr net.Addr
		want bool
	}{
		{&net.TCPAddr{IP: net.IPv4(127, 9, 9, 9), Port: 1}, true},
		{&net.TCPAddr{IP: net.IPv6loopback, Port: 1}, true},
		{&net.TCPAddr{IP: net.ParseIP("::ffff:127.0.0.1"), Port: 1}, true},
		{&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1}, false},
		{&net.TCPAddr{IP: net.ParseIP("fe80::1"), Zone: "lo", Port: 1}, false},
		{&net.TCPAddr{IP: net.IPv6loopback, Zone: "lo", Port: 1}, true},
		{(*net.TCPAddr)(nil), false},
		{&net.TCPAddr{Port: 1}, false}, // the unspecified address
		{&net.UDPAddr{IP: net.IPv6loopback, Port: 1}, true},
		{&net.UnixAddr{Name: "/127.0.0.1:1", Net: "unix"}, false},
		{text("[::1%lo]:1"), true},
		{text("localhost:1"), false},
		{nil, false},
	} {
		if got := LoopbackAddr(tt.addr); got != tt.want {
			t.Errorf("LoopbackAddr(%v) = %t, want %t", tt.addr, got, tt.want)
		}
	}
}

// A loopback host is also plain, so that a guard that requires both properties accepts it. Neither property depends on
// letter case.
func TestLoopbackIsPlainInAnyCase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		host := rapid.OneOf(
			rapid.StringMatching(`([a-z0-9]{1,3}\.){0,2}localhost\.?`),
			rapid.StringMatching(`127(\.(0|[1-9][0-9]?)){3}`),
			rapid.String(),
		).Draw(t, "host")
		if Loopback(host) && !Plain(host) {
			t.Errorf("%q is loopback and not plain", host)
		}
		if capital := strings.ToUpper(host); Loopback(host) && !Loopback(capital) {
			t.Errorf("%q is loopback and %q is not", host, capital)
		}
	})
}

func TestTokens(t *testing.T) {
	for name, want := range map[string]bool{
		"Mcp-Name": true, "a!#$%&'*+-.^_`|~Z09": true,
		"": false, "a b": false, "a:": false, "a\"": false, "ä": false, "a\x7f": false, "a\x00": false, "(a)": false,
		"a/b": false, "@": false, "[": false, "{": false,
	} {
		if Token(name) != want || Token([]byte(name)) != want {
			t.Errorf("Token(%q) = %t, want %t", name, !want, want)
		}
	}
}

func TestTokens68(t *testing.T) {
	for s, want := range map[string]bool{
		"a": true, "Z9-._~+/": true, "YWI=": true, "YQ==": true, "": false, "=": false, "a=b": false, "a b": false,
		"a,": false, "ä": false, "a\xff": false, "a\"": false,
	} {
		if got := Token68(s); got != want {
			t.Errorf("Token68(%q): got %v, want %v", s, got, want)
		}
	}
}
