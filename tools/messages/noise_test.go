package messages

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/codes"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// journal collects log records of at least one level, as text.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

// telemetry returns telemetry that logs to the journal.
func (j *journal) telemetry(level slog.Level) *telemetry.Telemetry {
	return telemetry.New(telemetry.WithLogger(slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: level}))))
}

// lines returns the records so far.
func (j *journal) lines() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Split(strings.TrimSuffix(j.text.String(), "\n"), "\n")
}

func TestFailedAttemptLogsOneWarning(t *testing.T) {
	for name, server := range map[string]transport.Transport{
		"a process that exits": shell("read -r probe; " +
			`echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}'; exit 1`),
		"a process that says nothing": shell(`while read -r line; do :; done`),
		"a wrong URL":                 &transport.HTTP{URL: serving(t, http.NotFoundHandler())},
	} {
		var j journal
		o := hasty()
		o.Backoff.Attempts, o.Telemetry = -1, j.telemetry(slog.LevelInfo)
		c, err := mcpclient.New(server, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.WaitForState(t.Context(), connstate.Backoff); err != nil {
			t.Fatal(err)
		}
		stop(t, c)
		var warnings []string
		for _, line := range j.lines() {
			if !strings.Contains(line, "level=INFO") {
				warnings = append(warnings, line)
			}
		}
		if len(warnings) != 1 || !strings.Contains(warnings[0], "msg=mcp_client.connection.attempt") {
			t.Errorf("%s: want one warning, of the attempt, got:\n%s", name, strings.Join(j.lines(), "\n"))
		}
	}
}

// serving returns the URL of a server until the test ends.
func serving(t *testing.T, h http.Handler) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}

// quietLegacy returns healthy legacy servers, which do not know the probe.
func quietLegacy(t *testing.T) map[string]transport.Transport {
	s := mcpserver.New(mcp.Implementation{Name: "x", Version: "1"}, &mcpserver.Options{
		Versions:  []mcp.Version{mcp.Version20251125, mcp.Version20250618, mcp.Version20250326, mcp.Version20241105},
		Telemetry: telemetry.Off(),
	})
	h := s.HTTPHandler(nil)
	t.Cleanup(func() { _ = h.Shutdown(context.WithoutCancel(t.Context())) })
	return map[string]transport.Transport{
		"stdio": shell(`read -r probe; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}'
			read -r initialize; echo '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","capabilities":{},` +
			`"serverInfo":{"name":"x","version":"1"}}}'; while read -r line; do :; done`),
		"stdio, ending on the probe": shell(`read -r first; case "$first" in *server/discover*) exit 1; esac
			echo '{"jsonrpc":"2.0","id":'$(echo "$first" | grep -o '"id":[0-9]*' | cut -d: -f2)',"result":` +
			`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}'
			while read -r line; do :; done`),
		"Streamable HTTP": &transport.HTTP{URL: serving(t, h)},
		"HTTP+SSE":        &transport.HTTP{URL: serving(t, oldServer())},
	}
}

// oldServer returns an HTTP+SSE server: it answers posted messages on the stream of a GET.
func oldServer() http.Handler {
	mux, answers := http.NewServeMux(), make(chan string, 8)
	mux.HandleFunc("GET /mcp", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: endpoint\ndata: /messages\n\n")
		for {
			_ = http.NewResponseController(w).Flush()
			select {
			case answer := <-answers:
				fmt.Fprintf(w, "event: message\ndata: %s\n\n", answer)
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("POST /messages", func(w http.ResponseWriter, r *http.Request) {
		var m mcptest.Message
		_ = json.NewDecoder(r.Body).Decode(&m)
		if m.Method == mcp.MethodInitialize {
			answers <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2024-11-05","capabilities":{},`+
				`"serverInfo":{"name":"x","version":"1"}}}`, m.ID)
		}
		w.WriteHeader(http.StatusAccepted)
	})
	return mux
}

func TestAHealthyLegacyServerShowsNoError(t *testing.T) {
	for name, server := range quietLegacy(t) {
		rec := telemetrytest.Recorder(t)
		c, err := mcpclient.Connect(t.Context(), server, &mcpclient.Options{Telemetry: rec.Telemetry()})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.ProtocolVersion().Era() != mcp.Legacy {
			t.Errorf("%s: want a legacy version, got %s", name, c.ProtocolVersion())
		}
		stop(t, c)
		for _, r := range rec.Logs("") {
			if r.Level > slog.LevelInfo {
				t.Errorf("%s: want no warning, got %v %v", name, r.Event(), r.Attrs)
			}
		}
		for _, span := range rec.Spans() {
			if span.Status().Code == codes.Error {
				t.Errorf("%s: want no span in error, got %s: %s", name, span.Name(), span.Status().Description)
			}
		}
	}
}

func TestFailedCallLogsOneWarning(t *testing.T) {
	var j journal
	s := mcptest.NewServer(t, &mcpserver.Options{Telemetry: telemetry.Off()})
	c := connected(t, s, &mcpclient.Options{Telemetry: j.telemetry(slog.LevelWarn)})
	if err := c.Call(t.Context(), "sales/forecast", nil, nil); err == nil {
		t.Fatal("want an error")
	}
	stop(t, c)
	if lines := j.lines(); len(lines) != 1 || !strings.Contains(lines[0], "mcp_client.request.exception") {
		t.Errorf("want one warning, got:\n%s", strings.Join(lines, "\n"))
	}
}
