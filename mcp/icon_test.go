package mcp

import (
	"strings"
	"testing"
)

const png = "data:image/png;base64,iVBORw0="

func TestUnsafeIconSourcesAreRejected(t *testing.T) {
	for src, safe := range map[string]bool{
		"https://example.com/a.png": true,
		"http://example.com/a.png":  true,
		"HTTPS://example.com/a.png": true,
		"https://[::1]:8443/a.png":  true,
		png:                         true,
		"DATA:IMAGE/svg+xml,%3Csvg": true,

		"":                                false,
		"javascript:alert(1)":             false,
		"JavaScript:alert(1)":             false,
		" javascript:alert(1)":            false,
		"java\nscript:alert(1)":           false,
		"\x01javascript:alert(1)":         false,
		"vbscript:x":                      false,
		"file:///etc/passwd":              false,
		"ftp://example.com/a.png":         false,
		"ws://example.com/a.png":          false,
		"vscode://settings":               false,
		"blob:https://example.com/1":      false,
		"about:blank":                     false,
		"a.png":                           false,
		"/a.png":                          false,
		"//example.com/a.png":             false,
		"https:a.png":                     false,
		"https:///a.png":                  false,
		`https:\\example.com\a.png`:       false,
		"https://user@example.com/a.png":  false,
		"data:,":                          false,
		"data:text/html,<script>":         false,
		"data:text/html;image/png,<b>":    false,
		"data:imag":                       false,
		"data://image/png;base64,iVBORw0": false,
	} {
		if err := (Icon{Src: src}).Check(); (err == nil) != safe {
			t.Errorf("Icon{Src: %q}.Check() = %v, want safe: %v", src, err, safe)
		}
	}
}

func TestIconsAreLoadedFromTheServersOriginOnly(t *testing.T) {
	for _, c := range []struct {
		src, server string
		want        string // part of the error; empty for no error
	}{
		{"https://example.com/a.png", "https://example.com/mcp", ""},
		{"https://EXAMPLE.com:443/a.png", "https://example.com/mcp", ""},
		{"https://example.com:8443/a.png", "https://example.com:8443", ""},
		{"https://example.com:8443/a.png", "https://example.com/mcp", "not the server's origin"},
		{"https://example.com.evil.test/a.png", "https://example.com/mcp", "not the server's origin"},
		{"https://cdn.example.com/a.png", "https://example.com/mcp",
			"https://cdn.example.com, not the server's origin"},
		{"https://example.com/a.png", "http://example.com/mcp", "not the server's origin"},
		{"https://example.com/a.png", "", "not the server's origin"},
		{"https://example.com/a.png", "%", "not the server's origin"},
		{"http://example.com/a.png", "http://example.com/mcp", "not an https URL"},
		{png, "https://example.com/mcp", ""},
		{png, "", ""},
		{"javascript:alert(1)", "https://example.com/mcp", "unsafe scheme"},
	} {
		err := Icon{Src: c.src}.CheckFor(c.server)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("Icon{Src: %q}.CheckFor(%q) = %v, want %q", c.src, c.server, err, c.want)
		}
	}
}
