package main

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/otlpcheck"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// speaks serves a tool at a URL, in a single revision.
func speaks(t *testing.T, v mcp.Version) (url string) {
	t.Helper()
	s := mcpserver.New(mcp.Implementation{Name: "one"}, &mcpserver.Options{
		Versions: []mcp.Version{v}, Telemetry: telemetry.Off(),
	})
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "say"}, func(context.Context, struct{}) (string, error) {
		return "in " + string(v), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	h := s.HTTPHandler(nil)
	web := httptest.NewServer(h)
	t.Cleanup(func() {
		_ = h.Shutdown(context.Background())
		web.Close()
	})
	return web.URL
}

// TestTranslateConnectsDifferentEras connects hosts and servers of different eras, on standard input and output, and
// over HTTP.
func TestTranslateConnectsDifferentEras(t *testing.T) {
	noCollector(t)
	t.Setenv(asCommand, "1")
	self := demoServerCommand(t)[1]
	for i, version := range eras {
		other := eras[1-i]
		url := speaks(t, mcp.Version(other))
		call := []string{"call", "say", "--pin-version", version}
		for name, server := range map[string][]string{
			"at a URL": {"--url", url}, "a program": {"--", self, "proxy", "--url", url},
		} {
			proxy := append([]string{"--", self, "proxy"}, server...)
			code, out, stderr := runs(t, append(call, proxy...)...)
			if code != exitConnection {
				t.Errorf("%s, %s, no flag: got exit code %d, %s%s, want no session", version, name, code, out, stderr)
			}
			if i > 0 && !strings.Contains(stderr, "mcpotel proxy --translate translates between them") {
				t.Errorf("%s, %s, no flag: got %s, want a hint to --translate", version, name, stderr)
			}
			proxy = append([]string{"--", self, "proxy", "--translate"}, server...)
			if code, out, stderr = runs(t, append(call, proxy...)...); code != exitOK || out != "in "+other+"\n" {
				t.Errorf("%s, %s: got exit code %d, %s%s, want the result of the tool", version, name, code, out, stderr)
			}
		}
		listens, _ := servesBy(t, "proxy", "--translate", "--listen", ":0", "--url", url)
		code, out, stderr := runs(t, append(call, "--url", listens)...)
		if code != exitOK || out != "in "+other+"\n" {
			t.Errorf("%s over HTTP: got exit code %d, %s%s, want the result of the tool", version, code, out, stderr)
		}
	}
}

func TestServerNameInTelemetryIsTheSameWithTranslate(t *testing.T) {
	noCollector(t)
	sink, err := otlpsink.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close(context.Background())
	t.Setenv(asCommand, "1")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+sink.Endpoint())
	self := demoServerCommand(t)[1]
	code, out, stderr := runs(t, "call", "divide", "a=6", "b=3", "--", self, "proxy", "--name", "far", "--translate", "--",
		self, "serve-demo")
	if code != exitOK || out != "{\"quotient\":2}\n" {
		t.Fatalf("got exit code %d, %s%s", code, out, stderr)
	}
	s := sink.Snapshot()
	otlpcheck.Check(t, s)
	got := map[string]any{}
	for _, span := range s.SpansNamed("tools/call divide") {
		if span.Service() == proxyService {
			got[span.Kind] = span.Attributes["mcp_client.name"]
			if span.Kind == "SERVER" {
				got[span.Kind] = span.Attributes["mcp_server.name"]
			}
		}
	}
	if got["CLIENT"] != "far" || got["SERVER"] != "far" {
		t.Errorf("the spans of the proxy name the server %v, want far", got)
	}
}

func TestTranslateNeedsOneServer(t *testing.T) {
	noCollector(t)
	t.Setenv(asCommand, "1")
	file := twoDemos(t)
	steps(t, []step{
		{[]string{"proxy", "--translate", "--config", file}, exitUsage, "",
			"--translate needs one server, and " + file + " has 2"},
		{[]string{"call", "divide", "a=6", "b=3", "--", demoServerCommand(t)[1], "proxy", "--translate", "--config", file,
			"--server", "west"}, exitOK, "{\"quotient\":2}\n", ""},
		{[]string{"proxy", "--translate", "--record", filepath.Join(t.TempDir(), "x"), "--", "never-started"}, exitUsage, "",
			"--record does not work with --translate"},
	})
}
