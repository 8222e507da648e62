//go:build unix

package mcpclient_test

import (
	"fmt"
	"os"
	"testing"

	"go.opentelemetry.io/otel/baggage"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// If a server exits without an error before it has sent anything, the exit is logged at info, not as a warning. Other
// records report the missing connection.
func TestCleanServerExitIsLoggedAtInfo(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rec := telemetrytest.Recorder(t)
	c, err := mcpclient.Connect(t.Context(), transport.Stdio{Command: exe, Args: []string{"-test.run=^$"}},
		&mcpclient.Options{Backoff: mcpclient.Backoff{Attempts: 1}, Telemetry: rec.Telemetry()})
	if err == nil {
		_ = c.Close()
		t.Fatal("want an error, because the process is not a server")
	}
	records := rec.Logs("mcp_client.process.exit")
	if len(records) == 0 {
		t.Fatal("want a record of the exit, got none")
	}
	if record := records[0]; record.Text("process.exit.code") != "0" || record.Level.String() != "INFO" {
		t.Errorf("record of the exit: got %v with code %s, want INFO and 0", record.Level, record.Text("process.exit.code"))
	}
}

// The test starts the same server with and without the option.
func TestChildGetsTraceContextIfConfigured(t *testing.T) {
	// this process's own trace context, which is not a parent of the child's
	t.Setenv("TRACEPARENT", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	for _, wanted := range []bool{false, true} {
		rec := telemetrytest.Recorder(t)
		s := server(t, roleServer)
		s.TraceContext = wanted
		ctx := baggage.ContextWithBaggage(t.Context(), must(baggage.New(must(baggage.NewMember("tenant", "acme")))))
		c, err := mcpclient.Connect(ctx, s, &mcpclient.Options{Telemetry: rec.Telemetry()})
		if err != nil {
			t.Fatal(err)
		}
		var told struct {
			Traceparent string `json:"traceparent"`
			Baggage     string `json:"baggage"`
		}
		if err := c.Call(t.Context(), methodEnvironment, nil, &told); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		attempt := rec.Span("mcp_client.connect").SpanContext()
		want := os.Getenv("TRACEPARENT")
		if wanted {
			want = fmt.Sprintf("00-%s-%s-01", attempt.TraceID(), attempt.SpanID())
		}
		if told.Traceparent != want || told.Baggage != "" {
			t.Errorf("option %v: the child got %+v, want %s and no baggage", wanted, told, want)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
