package mcpserver_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcpserver"
)

func TestOnlyAllowedOriginsAndHostsAreServed(t *testing.T) {
	loopback, elsewhere := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}
	o := &mcpserver.HTTPOptions{AllowedOrigins: []string{"https://app.example"},
		AllowedHosts: []string{"proxy.example", "mcp.example:8080"}}
	tests := []struct {
		name    string
		local   net.Addr
		options *mcpserver.HTTPOptions
		host    string
		origins []string
		ok      bool
	}{
		{"no origin", loopback, nil, "localhost:80", nil, true},
		{"own origin", elsewhere, nil, "mcp.example", []string{"https://mcp.example"}, true},
		{"own origin with the port of its scheme", elsewhere, nil, "mcp.example:443", []string{"https://mcp.example"}, true},
		{"own origin in another case", elsewhere, nil, "MCP.example", []string{"https://mcp.EXAMPLE"}, true},
		{"own origin at a port", loopback, nil, "localhost:8080", []string{"http://localhost:8080"}, true},
		{"own origin as IPv6", loopback, nil, "[::1]:8080", []string{"http://[::1]:8080"}, true},
		{"other port", loopback, nil, "localhost:8080", []string{"http://localhost:3000"}, false},
		{"other origin", elsewhere, nil, "mcp.example", []string{"https://evil.example"}, false},
		{"null", elsewhere, nil, "mcp.example", []string{"null"}, false},
		{"no scheme", elsewhere, nil, "mcp.example", []string{"mcp.example"}, false},
		{"with a user", elsewhere, nil, "mcp.example", []string{"https://x@mcp.example"}, false},
		{"with a path", elsewhere, nil, "mcp.example", []string{"https://mcp.example/x"}, false},
		{"two origins", elsewhere, nil, "mcp.example", []string{"https://mcp.example", "https://mcp.example"}, false},
		{"listed origin", elsewhere, o, "proxy.example", []string{"https://app.example"}, true},
		{"listed origin with another scheme", elsewhere, o, "proxy.example", []string{"http://app.example"}, false},
		{"listed origin with the port of its scheme", elsewhere, o, "proxy.example", []string{"https://APP.example:443"},
			true},
		{"own origin, folded letters", elsewhere, nil, "evis.example", []string{"https://evi\u017f.example"}, false},
		{"any origin", elsewhere, &mcpserver.HTTPOptions{AllowedOrigins: []string{"*"}}, "mcp.example", []string{"null"},
			true},

		{"localhost", loopback, nil, "LOCALHOST:1", nil, true},
		{"127.0.0.1", loopback, nil, "127.0.0.1", nil, true},
		{"::1", loopback, nil, "[::1]", nil, true},
		{"rebound name", loopback, nil, "evil.example", nil, false},
		{"rebound name with its origin", loopback, nil, "evil.example:80", []string{"http://evil.example"}, false},
		{"name with localhost as its beginning", loopback, nil, "localhost.evil.example", nil, false},
		{"no host", loopback, nil, "", nil, false},
		{"listed host", loopback, o, "proxy.example:9", nil, true},
		{"listed host and port", loopback, o, "mcp.example:8080", nil, true},
		{"listed host and another port", loopback, o, "mcp.example:9", nil, false},
		{"any host", loopback, &mcpserver.HTTPOptions{AllowedHosts: []string{"*"}}, "evil.example", nil, true},
		{"listed host in another case", loopback, o, "PROXY.example", nil, true},
		{"other name of the loopback", loopback, nil, "app.localhost.:1", nil, true},
		{"mapped address of the loopback", loopback, nil, "[::ffff:127.0.0.1]:1", nil, true},
		{"name with letters that fold to localhost", loopback, nil, "localho\u017ft", nil, false},
		{"listed host elsewhere", elsewhere, o, "proxy.example:9", nil, true},
		{"listed host and port elsewhere", elsewhere, o, "mcp.example:8080", nil, true},
		{"listed host and another port elsewhere", elsewhere, o, "mcp.example", nil, false},
		{"unlisted host elsewhere", elsewhere, o, "evil.example", nil, false},
		{"unlisted host without TCP", &net.UnixAddr{}, o, "evil.example", nil, false},
		{"loopback without TCP", &net.UnixAddr{}, o, "localhost", nil, true},
		{"loopback elsewhere", elsewhere, o, "localhost", nil, false},
		{"any host elsewhere", elsewhere, &mcpserver.HTTPOptions{AllowedHosts: []string{"*"}}, "evil.example", nil, true},
		{"listed address", elsewhere, &mcpserver.HTTPOptions{AllowedHosts: []string{"2001:db8::1"}}, "[2001:db8:0::1]:80",
			nil, true},
		{"missing host with a list", elsewhere, o, "", nil, false},
		{"not loopback", elsewhere, nil, "evil.example", nil, true},
		{"IPv6 loopback", &net.TCPAddr{IP: net.IPv6loopback}, nil, "evil.example", nil, false},
		{"no TCP", &net.UnixAddr{}, nil, "evil.example", nil, true},
	}
	s := newServer(t, mcpserver.Options{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := s.HTTPHandler(tt.options)
			defer h.Shutdown(t.Context())
			r := request(t, context.WithValue(t.Context(), http.LocalAddrContextKey, tt.local), "POST", initialize)
			r.Host = tt.host
			r.Header["Origin"] = tt.origins
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if got := w.Code == http.StatusOK; got != tt.ok || !got && w.Code != http.StatusForbidden {
				t.Errorf("got %d, want the request served: %v", w.Code, tt.ok)
			}
		})
	}
}

func TestImpossibleAllowedHostsPanic(t *testing.T) {
	for _, host := range []string{"", "https://mcp.example", "mcp.example/mcp", "bücher.example", "127.1", "a b", ":80"} {
		func() {
			defer func() {
				if v, _ := recover().(string); !strings.Contains(v, "AllowedHosts has") {
					t.Errorf("%q: the panic is %q, want the reason", host, v)
				}
			}()
			newServer(t, mcpserver.Options{}).HTTPHandler(&mcpserver.HTTPOptions{AllowedHosts: []string{"mcp.example:80",
				"[::1]", "::1", "*", host}})
		}()
	}
}
