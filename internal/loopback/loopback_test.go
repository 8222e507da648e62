package loopback

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestOnlyHandlerServesOnlyLoopbackRequests(t *testing.T) {
	h := Only(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for _, tc := range []struct {
		host, at string
		want     int
	}{
		{"localhost", "127.0.0.1:1", 204}, {"LOCALHOST:80", "[::1]:1", 204}, {"127.0.0.1:8080", "127.0.0.1:1", 204},
		{"[::1]:8080", "[::1]:1", 204},
		{"127.8.9.1", "127.8.9.1:1", 204}, {"[::ffff:127.0.0.1]", "127.0.0.1:1", 204},
		{"evil.example", "127.0.0.1:1", 421}, {"127.0.0.1.evil.example:80", "127.0.0.1:1", 421}, {"", "127.0.0.1:1", 421},
		{"localhost.evil.example", "127.0.0.1:1", 421}, {"192.0.2.1", "127.0.0.1:1", 421}, {"localhost", "192.0.2.1:1", 421},
	} {
		addr, err := net.ResolveTCPAddr("tcp", tc.at)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = tc.host
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, addr))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tc.want {
			t.Errorf("host %q at %s: want %d, got %d", tc.host, tc.at, tc.want, w.Code)
		}
	}
}

func TestForwardedRequestsAreRefused(t *testing.T) {
	h := Only(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for header, want := range map[string]int{
		"Forwarded": 403, "X-Forwarded-For": 403, "x-forwarded-proto": 403, "X-Forwarded-Host": 403, "X-Real-IP": 403,
		"Via": 403, "CF-Connecting-IP": 403, "True-Client-IP": 403, "X-Client-IP": 403, "Accept": 204, "Traceparent": 204,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = "localhost"
		r.Header.Set(header, "192.0.2.1")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("with %s: got %d, want %d", header, w.Code, want)
		}
	}
}

func TestNamedRefusesForeignHostsOnLoopback(t *testing.T) {
	h := Named(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for _, tc := range []struct {
		host, at string
		want     int
	}{
		{"localhost:80", "127.0.0.1:1", 204}, {"[::1]:8080", "[::1]:1", 204}, {"evil.example", "127.0.0.1:1", 421},
		{"evil.example", "[::1]:1", 421}, {"", "127.0.0.1:1", 421}, {"pod.example", "192.0.2.1:1", 204},
	} {
		addr, err := net.ResolveTCPAddr("tcp", tc.at)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = tc.host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, addr)))
		if w.Code != tc.want {
			t.Errorf("host %q at %s: want %d, got %d", tc.host, tc.at, tc.want, w.Code)
		}
	}
}

func TestListenAcceptsOnlyLoopbackAddresses(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "nonsense", "[::]:0"} {
		if l, err := Listen(addr); err == nil {
			l.Close()
			t.Errorf("%q: want an error, got %v", addr, l.Addr())
		}
	}
	for _, addr := range []string{"", "127.0.0.1:0", "localhost:0"} {
		l, err := Listen(addr)
		if err != nil {
			t.Errorf("%q: want a listener, got %v", addr, err)
			continue
		}
		l.Close()
	}
}
