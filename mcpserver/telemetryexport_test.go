package mcpserver_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpcheck"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// exported holds the telemetry that a client and a server have sent over OTLP and printed to the console, with the SDK
// as programs configure it.
type exported struct {
	otlpsink.Snapshot
	console string
}

// lockedBuffer is a console that is safe for concurrent writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// export makes a client use a server with all log levels enabled, and returns the exported telemetry.
func export(t *testing.T, w way, use func(c *mcpclient.Client)) exported {
	t.Helper()
	sink, err := otlpsink.Listen("")
	must(t, err)
	defer sink.Close(context.Background())
	console := &lockedBuffer{}
	p, err := otlp.Setup(t.Context(), otlp.WithEndpoint(sink.Endpoint()), otlp.WithGlobals(false),
		otlp.WithServiceName("both"),
		otlp.WithConsole(console, slog.LevelDebug), otlp.WithLogLevel(slog.LevelDebug))
	must(t, err)
	t.Run(w.String(), func(t *testing.T) { // the clean-up of the subtest ends the client and the server
		tel := p.Telemetry(telemetry.WithSlowThreshold(time.Hour))
		use(connect(t, newServer(t, mcpserver.Options{Telemetry: tel}), w, mcpclient.Options{Telemetry: tel}))
	})
	must(t, p.Shutdown(context.Background()))
	s := sink.Snapshot()
	otlpcheck.Check(t, s)
	return exported{s, console.b.String()}
}

// spans returns the ids of the spans of a kind with this name, and the ids of their traces. An empty name selects all
// requests and notifications of the kind.
func (e exported) spans(kind, name string) map[string]string {
	m := map[string]string{}
	for _, s := range e.Spans {
		if s.Kind == kind && (name == "" || s.Name == name) {
			m[s.SpanID] = s.TraceID
		}
	}
	return m
}

var exportWays = []way{{mcp.Version20260728, false}, {mcp.Version20251125, true}, {mcp.Version20260728, true}}

// TestLogRecordsCarryTraceAndSpanIDs checks records sent over OTLP and records on the console.
func TestLogRecordsCarryTraceAndSpanIDs(t *testing.T) {
	for _, w := range exportWays {
		e := export(t, w, func(c *mcpclient.Client) {
			_ = c.Call(t.Context(), mcp.MethodCallTool,
				&mcp.CallToolParams{Name: "greet", Arguments: map[string]string{"name": "x"}}, nil)
			_ = c.Call(t.Context(), mcp.MethodCallTool,
				&mcp.CallToolParams{Name: "fail", Arguments: map[string]string{"how": "panic"}}, nil)
		})
		for _, want := range []struct {
			event, kind, span string
			severity          int
		}{
			{"mcp_client.request.start", "CLIENT", "tools/call greet", 5}, {"mcp_client.request.stop", "CLIENT",
				"tools/call greet", 5},
			{"mcp_server.request.start", "SERVER", "tools/call greet", 5}, {"mcp_server.request.stop", "SERVER",
				"tools/call greet", 5},
			{"mcp_client.request.exception", "CLIENT", "tools/call fail", 13},
			{"mcp_server.request.exception", "SERVER", "tools/call fail", 5}, {"mcp_server.handler.panic", "SERVER",
				"tools/call fail", 17},
			{"mcp_client.connection.attempt", "INTERNAL", "mcp_client.connect", 9},
		} {
			spans, found := e.spans(want.kind, want.span), false
			for _, r := range e.RecordsOf(want.event) {
				if trace, ok := spans[r.SpanID]; ok && r.TraceID == trace && r.Severity == want.severity &&
					r.Scope == telemetry.ScopeName {
					found = true
				}
			}
			if !found {
				t.Errorf("%v: a record %s of severity %d is of the span %s %s %v, got %v",
					w, want.event, want.severity, want.kind, want.span, spans, e.RecordsOf(want.event))
			}
			shown := false
			for line := range strings.Lines(e.console) {
				if !strings.Contains(line, " "+want.event+" ") {
					continue
				}
				for span, trace := range spans {
					shown = shown || strings.Contains(line, "trace_id="+trace+" span_id="+span)
				}
			}
			if !shown {
				t.Errorf("%v: a line of the console about %s has the ids of %v, got\n%s", w, want.event, spans, e.console)
			}
		}
	}
}

// TestExemplarsLeadToTheRightSpan checks every histogram that is recorded within a span.
func TestExemplarsLeadToTheRightSpan(t *testing.T) {
	for _, w := range exportWays {
		e := export(t, w, func(c *mcpclient.Client) {
			_ = c.Call(t.Context(), mcp.MethodCallTool,
				&mcp.CallToolParams{Name: "greet", Arguments: map[string]string{"name": "x"}}, nil)
		})
		for _, want := range []struct {
			metric, kind, span, key, value string
		}{
			{"mcp.client.operation.duration", "CLIENT", "tools/call greet", "gen_ai.tool.name", "greet"},
			{"mcp.server.operation.duration", "SERVER", "tools/call greet", "gen_ai.tool.name", "greet"},
			{"mcp_client.message.size", "CLIENT", "", "mcp_client.message.kind", "request"},
			{"mcp_client.message.decode.duration", "CLIENT", "", "mcp_client.message.kind", "response"},
			{"mcp_server.message.size", "SERVER", "", "mcp_server.message.kind", "request"},
			{"mcp_server.message.decode.duration", "SERVER", "", "mcp_server.message.kind", "request"},
			{"mcp_client.connection.attempt.duration", "INTERNAL", "mcp_client.connect", "mcp_client.connection.attempt.kind",
				"initial"},
		} {
			spans, all := e.spans(want.kind, want.span), map[string]string{}
			for _, s := range e.Spans {
				all[s.SpanID] = s.TraceID
			}
			found := false
			for _, p := range e.PointsOf(want.metric) {
				if p.Attributes[want.key] != want.value {
					continue
				}
				for _, x := range p.Exemplars {
					if all[x.SpanID] != x.TraceID {
						t.Errorf("%v: an exemplar of %s is of a span, got %s of trace %s", w, want.metric, x.SpanID, x.TraceID)
					}
					_, ok := spans[x.SpanID]
					found = found || ok
				}
			}
			if !found {
				t.Errorf("%v: an exemplar of %s with %s=%s leads to the span %s %s, got %v",
					w, want.metric, want.key, want.value, want.kind, want.span, e.PointsOf(want.metric))
			}
		}
	}
}
