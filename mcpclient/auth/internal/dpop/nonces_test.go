package dpop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/dpop"
)

func TestNoncesAreStoredPerOrigin(t *testing.T) {
	var n dpop.Nonces
	n.Note(parseURL(t, "https://as.example/token"), "first")
	n.Note(parseURL(t, "https://AS.example:443/other"), "second")
	n.Note(parseURL(t, "https://mcp.example/mcp"), "third")
	n.Note(parseURL(t, "https://mcp.example/mcp"), "")
	n.Note(parseURL(t, "https://mcp.example/mcp"), strings.Repeat("x", 2000))
	for u, want := range map[string]string{
		"https://as.example/":       "second",
		"https://mcp.example/":      "third",
		"http://mcp.example/":       "",
		"https://mcp.example:8443/": "",
	} {
		if got := n.For(parseURL(t, u)); got != want {
			t.Errorf("nonce for %s is %.20q, want %q", u, got, want)
		}
	}
}

func TestNoncesAreKeptForABoundedNumberOfOrigins(t *testing.T) {
	var n dpop.Nonces
	const origins = 1000
	for i := range origins {
		n.Note(parseURL(t, fmt.Sprintf("https://h%d/", i)), "x")
	}
	kept := 0
	for i := range origins {
		if n.For(parseURL(t, fmt.Sprintf("https://h%d/", i))) != "" {
			kept++
		}
	}
	if kept == 0 || kept > 256 {
		t.Errorf("%d of %d nonces are kept, want 1 to 256", kept, origins)
	}
	if n.For(parseURL(t, "https://h999/")) != "x" {
		t.Error("the latest nonce is forgotten, want it kept")
	}
}
