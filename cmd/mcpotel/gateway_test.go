package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcpotel/mcpotel/internal/otlpcheck"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

// twoDemos writes a file with two servers, both the demo's, and returns its path.
func twoDemos(t *testing.T) string {
	t.Helper()
	self := demoServerCommand(t)[1]
	env := map[string]string{asCommand: "1", "OTEL_EXPORTER_OTLP_ENDPOINT": os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")}
	one := map[string]any{"command": self, "args": []string{"serve-demo"}, "env": env}
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"east": one, "west": one}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestGatewayCombinesTheServersOfAFile runs two demo servers behind a gateway, and checks the trace of a call.
func TestGatewayCombinesTheServersOfAFile(t *testing.T) {
	noCollector(t)
	sink, err := otlpsink.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close(context.Background())
	t.Setenv(asCommand, "1")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+sink.Endpoint())
	file := twoDemos(t)
	behind := []string{"--", demoServerCommand(t)[1], "proxy", "--deny-tool", "west_crash", "--config", file}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"tools"}, exitOK, "west_forecast(city string, days? integer)"},
		{[]string{"call", "east_divide", "a=6", "b=3"}, exitOK, `{"quotient":2}`},
		{[]string{"call", "--json", "west_crash"}, exitTool, `unknown tool "west_crash": the policy of the proxy`},
	} {
		code, out, stderr := runs(t, append(c.args, behind...)...)
		if code != c.code || !strings.Contains(out+stderr, c.want) {
			t.Errorf("%v: got exit code %d, %s%s, want %d and %s", c.args, code, out, stderr, c.code, c.want)
		}
	}
	s := sink.Snapshot()
	otlpcheck.Check(t, s)
	var names []string
	calls := append(s.SpansNamed("tools/call east_divide"), s.SpansNamed("tools/call divide")...)
	for _, span := range calls {
		names = append(names, span.Kind+" "+span.Service())
		if span.TraceID != calls[0].TraceID {
			t.Errorf("the span %s of %s is not in the trace of the first span", span.Name, span.Service())
		}
	}
	got := strings.Join(names, ", ")
	for _, want := range []string{"SERVER " + proxyService, "CLIENT " + proxyService, "SERVER mcpotel-demo-server"} {
		if !strings.Contains(got, want) {
			t.Errorf("the call has the spans %s, want them to include %s", got, want)
		}
	}
}

// TestServersOfAFileStartOnDemand calls a server that starts at its first call, behind a gateway of two servers and of
// one.
func TestServersOfAFileStartOnDemand(t *testing.T) {
	noCollector(t)
	t.Setenv(asCommand, "1")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	file := twoDemos(t)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeAt(t, file, strings.ReplaceAll(string(text), `"command"`, `"start":"lazy","idle":"1m","command"`))
	self := demoServerCommand(t)[1]
	for _, c := range []struct {
		args      []string
		out, note string
	}{
		{[]string{"call", "east_divide", "a=6", "b=3", "--", self, "proxy", "--config", file}, `{"quotient":2}`, ""},
		{[]string{"call", "divide", "a=6", "b=3", "--", self, "proxy", "--translate", "--config", file, "--server", "east"},
			`{"quotient":2}`, ""},
		{[]string{"proxy", "--config", file, "--server", "east"}, "", "no effect on the proxy of a single server"},
		{[]string{"call", "--config", file, "--server", "west", "divide", "a=6", "b=3"}, `{"quotient":2}`, ""},
	} {
		code, out, stderr := runs(t, c.args...)
		if code != exitOK || !strings.Contains(out, c.out) || c.note != "" && !strings.Contains(stderr, c.note) {
			t.Errorf("%v: got exit code %d, %s%s, want %s %s", c.args, code, out, stderr, c.out, c.note)
		}
	}
}

// TestAGatewayListens serves two demo servers as one server at a URL, and checks the health of both.
func TestAGatewayListens(t *testing.T) {
	noCollector(t)
	t.Setenv(asCommand, "1")
	url, stop := servesBy(t, "proxy", "--listen", ":0", "--config", twoDemos(t))
	for _, version := range []string{"2026-07-28", "2025-06-18", "2024-11-05"} {
		for _, tool := range []string{"east_divide", "west_divide"} { // connects each server before the health check
			args := []string{"call", "--url", url, "--pin-version", version, tool, `{"a":6,"b":3}`}
			if code, out, stderr := runs(t, args...); code != exitOK || out != "{\"quotient\":2}\n" {
				t.Errorf("a call with version %q: got exit code %d and %q: %s", version, code, out, stderr)
			}
		}
	}
	r, err := http.Get(strings.TrimSuffix(url, servedPath) + healthPath)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	if r.StatusCode != http.StatusOK || !strings.Contains(string(text), `"name":"west","state":"ready"`) {
		t.Errorf("health: got %d %s, want the health of both servers", r.StatusCode, text)
	}
	foreign, err := http.NewRequest(http.MethodGet, strings.TrimSuffix(url, servedPath)+healthPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	foreign.Host = "evil.example"
	if r, err = http.DefaultClient.Do(foreign); err != nil || r.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("a host name that resolves to the loopback: got %v, %v, want 421", r.Status, err)
	}
	r.Body.Close()
	if code := stop(); code != exitOK {
		t.Errorf("exit code of the stopped gateway: got %d, want 0", code)
	}
}

// TestGatewayRequiresABearerToken runs a gateway that accepts the tokens of the test's authorization server.
func TestGatewayRequiresABearerToken(t *testing.T) {
	noCollector(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keys := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Algorithm: "ES256", Use: "sig"}}}
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(keys)
	}))
	defer issuer.Close()
	const resource = "https://mcp.example.com/mcp"
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "k"}},
		(&jose.SignerOptions{}).WithType("at+jwt"))
	if err != nil {
		t.Fatal(err)
	}
	claims := fmt.Sprintf(`{"iss":%q,"aud":%q,"sub":"ada","exp":%d}`, issuer.URL, resource,
		time.Now().Add(time.Hour).Unix())
	signed, err := signer.Sign([]byte(claims))
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	url, _ := servesBy(t, append([]string{"proxy", "--listen", ":0", "--bearer-issuer", issuer.URL, "--bearer-keys",
		issuer.URL + "/keys", "--bearer-resource", resource}, demoServerCommand(t)...)...)
	if code, _, stderr := runs(t, "tools", "--url", url); code != exitConnection || !strings.Contains(stderr, "401") {
		t.Errorf("without a token: got exit code %d and %s, want 401", code, stderr)
	}
	debug, err := http.Get(strings.TrimSuffix(url, servedPath) + debugPath)
	if err != nil {
		t.Fatal(err)
	}
	if debug.Body.Close(); debug.StatusCode != http.StatusNotFound {
		t.Errorf("the debug page without a token: got %s, want 404", debug.Status)
	}
	code, out, stderr := runs(t, "call", "--url", url, "--header", "Authorization=Bearer "+token, "divide", "a=6", "b=3")
	if code != exitOK || out != "{\"quotient\":2}\n" {
		t.Errorf("with a token: got exit code %d and %q: %s", code, out, stderr)
	}
}

func TestBearerFlagsAreChecked(t *testing.T) {
	noCollector(t)
	for want, flags := range map[string][]string{
		"add --listen HOST:PORT": {"--bearer-issuer", "https://x"},
		"need each other":        {"--listen", ":0", "--bearer-issuer", "https://x"},
		`--bearer-keys "http://x.example/keys": want a URL with https`: {"--listen", ":0", "--bearer-issuer", "https://x",
			"--bearer-keys", "http://x.example/keys", "--bearer-resource", "https://x/mcp"},
	} {
		code, _, stderr := runs(t, append(append([]string{"proxy"}, flags...), "--", "never-started")...)
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%v: got exit code %d and %s, want %s", flags, code, stderr, want)
		}
	}
}

// TestGatewayInjectsFaultsAndRefusesToRecord injects the faults of a plan into the servers of a file.
func TestGatewayInjectsFaultsAndRefusesToRecord(t *testing.T) {
	noCollector(t)
	t.Setenv(asCommand, "1")
	file, plan := twoDemos(t), filepath.Join(t.TempDir(), "plan.yaml")
	writeAt(t, plan, "faults: [{kind: error, tool: divide}]\n")
	self := demoServerCommand(t)[1]
	steps(t, []step{
		{[]string{"call", "east_divide", "a=6", "b=3", "--", self, "proxy", "--config", file, "--chaos", plan}, exitTool, "",
			"injected by the plan of faults"},
		{[]string{"proxy", "--config", file, "--record", filepath.Join(t.TempDir(), "x")}, exitUsage, "",
			"--record needs one server, and " + file + " has 2: select one with --server NAME"},
	})
}
