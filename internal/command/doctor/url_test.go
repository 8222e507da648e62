package doctor_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/doctor"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// handler returns a healthy server over HTTP.
func handler(t *testing.T) http.Handler {
	t.Helper()
	h := newServer(telemetry.Off()).HTTPHandler(nil)
	t.Cleanup(func() { h.Shutdown(context.Background()) })
	return h
}

// listens starts a server for h. At the end of the test, the server closes the connections of waiting clients and ends.
func listens(t *testing.T, h http.Handler) (url string) {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL
}

func examine(t *testing.T, url string, timeout time.Duration) *doctor.Report {
	t.Helper()
	return doctor.Examine(t.Context(), doctor.Server{Name: "web", Transport: &transport.HTTP{URL: url}},
		&doctor.Options{Timeout: timeout})
}

func TestExaminationOfURLsFindsProblems(t *testing.T) {
	closed := func(t *testing.T) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return "http://" + l.Addr().String()
	}
	answering := func(h http.HandlerFunc) func(*testing.T) string {
		return func(t *testing.T) string { return listens(t, h) }
	}
	early := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", time.Now().Add(-time.Hour-10*time.Second).UTC().Format(http.TimeFormat))
			next.ServeHTTP(w, r)
		})
	}
	for name, tc := range map[string]struct {
		url       func(*testing.T) string
		timeout   time.Duration
		verdict   doctor.Verdict
		connected bool
		checks    map[string]string
	}{
		"good": {func(t *testing.T) string { return listens(t, handler(t)) }, 0, doctor.Note, true, map[string]string{
			"dns": "ok: 127.0.0.1 is an address", "tcp": "ok: connected to 127.0.0.1:", "tls": "ok: plain HTTP, which is safe",
			"http": "ok: POST 200 application/json", "authorization": "ok: not required",
			"handshake": "ok: weather 1.0 speaks 2026-07-28", "transport": "ok: Streamable HTTP without sessions, over HTTP/1.1",
			"propagation": "note: the doctor cannot see the server's spans; it sent traceparent in _meta and as a header, " +
				"with trace id ",
			"clock": "ok: the server's clock agrees", "listen": "ok: subscriptions/listen was acknowledged",
			"messages": "ok: ", "tools": "ok: 1 tool, ",
		}},
		"a clock that is behind": {func(t *testing.T) string { return listens(t, early(handler(t))) }, 0, doctor.Warn, true,
			map[string]string{"clock": "warn: the server's clock is 1h00m behind"}},
		"nothing there": {closed, 0, doctor.Fail, false, map[string]string{
			"tcp": "fail: nothing listens at 127.0.0.1:", "tls": "skipped: needs tcp", "handshake": "skipped: needs http",
		}},
		"an unknown host": {func(*testing.T) string { return "http://no-such-name.invalid/mcp" }, 0, doctor.Fail, false,
			map[string]string{"dns": "fail: ", "tcp": "skipped: needs dns"}},
		"an invalid URL": {func(*testing.T) string { return "ftp://127.0.0.1/mcp" }, 0, doctor.Fail, false,
			map[string]string{"dns": "fail: the URL is invalid"}},
		"a website": {answering(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no such page", http.StatusNotFound)
		}), 0, doctor.Fail, false, map[string]string{
			"http": "fail: the server speaks HTTP, but not MCP: ", "handshake": "skipped: needs http",
		}},
		"no answer": {answering(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // otherwise net/http does not notice that the client disconnects
			<-r.Context().Done()
		}), patience, doctor.Fail, false, map[string]string{"http": "fail: no answer within"}},
		"refuses all": {answering(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"out of order"}}`)
		}), patience, doctor.Fail, false, map[string]string{"http": "ok: POST 200 application/json", "handshake": "fail: "}},
		"an API key": {answering(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			http.NotFound(w, r)
		}), 0, doctor.Warn, false, map[string]string{
			"authorization": "warn: the server requires credentials, but does not name an authorization server",
			"handshake":     "skipped: authorization is required", "ping": "skipped: needs handshake",
		}},
		"forbidden": {answering(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }), 0,
			doctor.Fail, false, map[string]string{"authorization": "fail: the server rejects the client: "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said(t, examine(t, tc.url(t), tc.timeout), tc.verdict, tc.connected, tc.checks)
		})
	}
}

// protected starts an MCP server that requires a token, and is its own authorization server with this metadata.
func protected(t *testing.T, metadata func(origin string) string) string {
	t.Helper()
	mux := http.NewServeMux()
	url := listens(t, mux)
	mux.HandleFunc("POST /mcp", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+url+`/resource"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	mux.HandleFunc("GET /resource", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"resource":"%s/mcp","authorization_servers":["%s"],"scopes_supported":["read"]}`, url, url)
	})
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, metadata(url))
	})
	mux.HandleFunc("GET /.well-known/", http.NotFound)
	mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the doctor requested %s %s; it must neither change anything nor log in", r.Method, r.URL.Path)
	})
	return url + "/mcp"
}

func TestAuthorizationCheckReadsMetadataWithoutLogin(t *testing.T) {
	with := func(issuer, more string) func(string) string {
		return func(origin string) string {
			return fmt.Sprintf(`{"issuer":"%s","authorization_endpoint":"%s/authorize","token_endpoint":"%s/token",`+
				`"registration_endpoint":"%s/register"%s}`, origin+issuer, origin, origin, origin, more)
		}
	}
	const pkce = `,"code_challenge_methods_supported":["S256"]`
	for name, tc := range map[string]struct {
		metadata func(string) string
		verdict  doctor.Verdict
		want     string
	}{
		"valid metadata": {with("", pkce), doctor.Warn, "warn: the metadata is valid: http://127.0.0.1:"},
		"without PKCE":   {with("", ""), doctor.Fail, "does not support PKCE with S256"},
		"another issuer": {with("/other", pkce), doctor.Fail, "want exactly"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := examine(t, protected(t, tc.metadata), 0)
			said(t, r, tc.verdict, false, map[string]string{"authorization": tc.want, "ping": "skipped: needs handshake"})
		})
	}
}

// certificate returns a self-signed certificate for 127.0.0.1 that expires at this time.
func certificate(t *testing.T, end time.Time) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "weather"}, NotBefore: end.Add(-24 * time.Hour * 30),
		NotAfter: end, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: true,
	}
	text, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{text}, PrivateKey: key}
}

// TestTLSCheckExplainsCertificates adds the certificate authorities of two servers to http.DefaultTransport.
func TestTLSCheckExplainsCertificates(t *testing.T) {
	starts := func(c tls.Certificate) string {
		web := httptest.NewUnstartedServer(handler(t))
		web.TLS = &tls.Config{Certificates: []tls.Certificate{c}}
		web.Config.ErrorLog = nil
		web.StartTLS()
		t.Cleanup(web.Close)
		return web.URL
	}
	soon, over := certificate(t, time.Now().Add(75*time.Hour)), certificate(t, time.Now().Add(-time.Hour))
	trusted := x509.NewCertPool()
	for _, c := range []tls.Certificate{soon, over} {
		leaf, err := x509.ParseCertificate(c.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		trusted.AddCert(leaf)
	}
	usual := http.DefaultTransport
	mine := usual.(*http.Transport).Clone()
	mine.TLSClientConfig = &tls.Config{RootCAs: trusted}
	http.DefaultTransport = mine
	t.Cleanup(func() { http.DefaultTransport = usual })

	said(t, examine(t, starts(soon), 0), doctor.Warn, true, map[string]string{
		"tls": "warn: TLS 1.3, the certificate of weather is valid for 3 more days", "handshake": "ok: ",
		"transport": "ok: Streamable HTTP without sessions, over HTTP/",
	})
	said(t, examine(t, starts(over), 0), doctor.Fail, false, map[string]string{"tls": "fail: the certificate has expired"})
	stranger := certificate(t, time.Now().Add(time.Hour))
	said(t, examine(t, starts(stranger), 0), doctor.Fail, false, map[string]string{"tls": "signed by unknown authority"})
	said(t, examine(t, strings.Replace(listens(t, handler(t)), "http:", "https:", 1), 0), doctor.Fail, false,
		map[string]string{"tls": "fail: the server does not speak TLS at this port", "http": "skipped: needs tls"})
}
