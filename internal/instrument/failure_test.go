package instrument_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// outcomes lists the ways in which a client's request can end.
var outcomes = []struct {
	name        string
	result      instrument.Result
	errorType   string
	code        string
	kind        string
	level       slog.Level
	description string
}{
	{"server's error", instrument.Result{Code: -32603, HasCode: true, Message: "disk full",
		Err: errors.New("server error")},
		"-32603", "-32603", "jsonrpc", slog.LevelWarn, "disk full"},
	{"caller's fault", instrument.Result{Code: -32602, HasCode: true, Message: "no a"},
		"-32602", "-32602", "jsonrpc", slog.LevelWarn, "no a"},
	{"tool's error", instrument.Result{ToolError: true, Message: "content"}, "tool_error", "", "tool", slog.LevelDebug,
		""},
	{"timeout", instrument.Result{ErrorType: names.ErrorTimeout, Err: context.DeadlineExceeded},
		"timeout", "", "timeout", slog.LevelWarn, "context deadline exceeded"},
	{"caller left", instrument.Result{ErrorType: names.ErrorCancelled, CallerLeft: true, Err: context.Canceled},
		"cancelled", "", "cancelled", slog.LevelDebug, "context canceled"},
	{"connection lost", instrument.Result{Err: lost{}}, "connection_lost", "", "transport", slog.LevelWarn,
		"the server went away"},
	{"busy", instrument.Result{ErrorType: names.ErrorTransportBusy}, "transport_busy", "", "transport", slog.LevelWarn,
		""},
	{"violation", instrument.Result{ErrorType: names.ErrorViolation}, "protocol_violation", "", "protocol", slog.LevelWarn,
		""},
	{"not ready", instrument.Result{ErrorType: names.ErrorNotReady}, "not_ready", "", "state", slog.LevelWarn, ""},
	{"shutdown", instrument.Result{ErrorType: names.ErrorShutdown}, "shutdown", "", "shutdown", slog.LevelWarn, ""},
	{"Go error", instrument.Result{Err: errBroken, Kind: "transport"}, "*errors.errorString", "", "transport",
		slog.LevelWarn, "broken pipe"},
	{"unknown kind", instrument.Result{Err: errBroken, Kind: "magic"}, "*errors.errorString", "", "_OTHER",
		slog.LevelWarn, "broken pipe"},
}

func TestSpanMetricAndRecordAgreeOnFailure(t *testing.T) {
	for _, tt := range outcomes {
		t.Run(tt.name, func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			c := instrument.NewClient(rec.Telemetry(), "files", pipe)
			defer c.Close()
			_, op := c.StartRequest(t.Context(), instrument.Request{Method: "tools/list"})
			op.Admit(nil, 1)
			op.End(tt.result)

			span := rec.Span("tools/list")
			got := texts(span.Attributes())
			if got["error.type"] != tt.errorType || got["rpc.response.status_code"] != tt.code {
				t.Errorf("attributes of the span: got %v, want error.type %q and code %q", got, tt.errorType, tt.code)
			}
			if s := span.Status(); s.Code != codes.Error || s.Description != tt.description {
				t.Errorf("the span's status: got %v, want Error %q", s, tt.description)
			}
			point := rec.Points("mcp.client.operation.duration")[0]
			sample := texts(point.Attrs.ToSlice())
			if sample["error.type"] != tt.errorType || sample["rpc.response.status_code"] != tt.code {
				t.Errorf("attributes of the metric: got %v, want error.type %q and code %q", sample, tt.errorType, tt.code)
			}
			r := rec.Log("mcp_client.request.exception")
			if r.Level != tt.level || r.Text("error.type") != tt.errorType || r.Text("mcp_client.error.kind") != tt.kind {
				t.Errorf("the record: got %v %v, want %v, %q and kind %q", r.Level, r.Attrs, tt.level, tt.errorType,
					tt.kind)
			}
			if n := len(rec.Logs("mcp_client.request.stop")); n != 0 {
				t.Errorf("a failed request: got %d records of a stop, want none", n)
			}
			if got, want := len(rec.Logs("mcp_client.request.tool_error")) == 1, tt.result.ToolError; got != want {
				t.Errorf("the record of a tool's error: got %v, want %v", got, want)
			}
		})
	}
}

func TestErrorTextIsTruncatedOnSpanAndRecord(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
	op.End(instrument.Result{Code: -32603, HasCode: true, Message: strings.Repeat("é", 200)})
	_, op = c.StartRequest(t.Context(), instrument.Request{Method: "tools/list"})
	op.End(instrument.Result{Err: errors.New(strings.Repeat("x", 1000))})

	if got, want := rec.Span("ping").Status().Description, strings.Repeat("é", 128); got != want {
		t.Errorf("a server's message: got %q, want whole characters up to 256 bytes", got)
	}
	if got, want := rec.Span("tools/list").Status().Description, strings.Repeat("x", 256); got != want {
		t.Errorf("an error of this side: got %q, want 256 bytes", got)
	}
	for _, r := range rec.Logs("mcp_client.request.exception") {
		if n := len(r.Text("exception.message")); n != 256 {
			t.Errorf("the error of a record: got %d bytes, want 256", n)
		}
	}
}

// No signal records an expected error as a failure. The error may be an answer with a code, an answer of HTTP, or a
// missing answer.
func TestExpectedErrorIsNotFailure(t *testing.T) {
	for name, tt := range map[string]struct {
		result instrument.Result
		code   string
	}{
		"a code":              {instrument.Result{Code: -32601, HasCode: true, Message: "Method not found"}, "-32601"},
		"a status of HTTP":    {instrument.Result{ErrorType: "404", Kind: "transport", Err: errBroken}, ""},
		"the connection lost": {instrument.Result{Err: lost{}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			c := instrument.NewClient(rec.Telemetry(), "files", pipe)
			defer c.Close()
			_, op := c.StartRequest(t.Context(), instrument.Request{Method: "server/discover"})
			op.Admit(nil, 1)
			tt.result.Expected, tt.result.Told = true, true
			op.End(tt.result)

			span := rec.Span("server/discover")
			if got := texts(span.Attributes()); span.Status().Code != codes.Unset || got["error.type"] != "" ||
				got["rpc.response.status_code"] != tt.code {
				t.Errorf("span: want no error and code %q, got %v with %v", tt.code, span.Status(), got)
			}
			point := rec.Points("mcp.client.operation.duration")[0]
			if got := texts(point.Attrs.ToSlice()); got["error.type"] != "" || got["rpc.response.status_code"] != tt.code {
				t.Errorf("metric: want no error.type and code %q, got %v", tt.code, got)
			}
			if n := len(rec.Logs("mcp_client.request.exception")); n != 0 {
				t.Errorf("records: want no exception, got %d", n)
			}
			if got := rec.Log("mcp_client.request.stop").Text("rpc.response.status_code"); got != tt.code {
				t.Errorf("record: want code %q, got %q", tt.code, got)
			}
			if e := c.FlightRecord()[0]; e.Failed || e.Reason != tt.code {
				t.Errorf("flight recorder: want no failure and reason %q, got %+v", tt.code, e)
			}
			if o := c.Operations()[0]; o.Failed != 0 || o.Count != 1 {
				t.Errorf("statistics: want one success, got %+v", o)
			}
		})
	}
}

func TestConnectionLossDuringProbeIsNotFailure(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	_, a := c.StartAttempt(t.Context(), instrument.AttemptStart{Number: 1})
	a.ProbeLost(lost{})
	point := rec.Points("mcp_client.connection.attempt.duration")[0]
	if got := texts(point.Attrs.ToSlice()); got["error.type"] != "" {
		t.Errorf("metric: want no error.type, got %v", got)
	}
	if e := c.FlightRecord()[0]; e.Failed {
		t.Errorf("flight recorder: want no failure, got %+v", e)
	}
	if r := rec.Log("mcp_client.connection.attempt"); r.Level != slog.LevelInfo ||
		r.Text("exception.message") == "" {
		t.Errorf("record: want the error at INFO, got %v %v", r.Level, r.Attrs)
	}
}
