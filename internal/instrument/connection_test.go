package instrument_test

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func move(from, to connstate.State, why connstate.Reason) instrument.Transition {
	return instrument.Transition{Transition: connstate.Transition{
		From: from, To: to, Reason: why, Attempt: 1, Epoch: 3, Duration: 250 * time.Millisecond,
	}}
}

func TestTransitionIsCountedLoggedAndObserved(t *testing.T) {
	for _, tt := range []struct {
		transition instrument.Transition
		level      slog.Level
	}{
		{move(connstate.Starting, connstate.Initializing, connstate.ReasonTransportUp), slog.LevelInfo},
		{move(connstate.Initializing, connstate.Ready, connstate.ReasonNegotiated), slog.LevelInfo},
		{move(connstate.Ready, connstate.Backoff, connstate.ReasonTransportDown), slog.LevelWarn},
		{move(connstate.Starting, connstate.Backoff, connstate.ReasonOpenFailed), slog.LevelInfo},
		{move(connstate.Starting, connstate.Closing, connstate.ReasonRefused), slog.LevelWarn},
		{move(connstate.Ready, connstate.Closing, connstate.ReasonStopRequested), slog.LevelInfo},
		{move(connstate.Closing, connstate.Closing, connstate.ReasonTransportClosed), slog.LevelInfo},
	} {
		t.Run(tt.transition.Reason.String(), func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			c := instrument.NewClient(rec.Telemetry(), "files", pipe, first)
			defer c.Close()
			tt.transition.Err = errBroken
			c.Transition(tt.transition)
			from, to, reason := tt.transition.From.String(), tt.transition.To.String(), tt.transition.Reason.String()
			r := rec.Log("mcp_client.connection.transition")
			same(t, "fields of the record", fieldsOf(r), map[string]string{
				"event.name": "mcp_client.connection.transition", "mcp_client.name": "files", "mcp_client.instance.id": "1",
				"mcp_client.connection.from": from, "mcp_client.connection.to": to, "mcp_client.connection.reason": reason,
				"mcp_client.connection.attempt.number": "1", "mcp_client.connection.epoch": "3", "mcp_client.duration": "0.25",
				"exception.message": "broken pipe",
			})
			if r.Level != tt.level {
				t.Errorf("level: got %v, want %v", r.Level, tt.level)
			}
			if n := rec.Value("mcp_client.connection.transitions", "mcp_client.connection.from", from,
				"mcp_client.connection.to", to, "mcp_client.connection.reason", reason, "network.transport", "pipe"); n != 1 {
				t.Errorf("transitions: got %d, want 1", n)
			}
			for _, s := range connstate.States() {
				want := int64(0)
				if s == tt.transition.To {
					want = 1
				}
				if got := rec.Value("mcp_client.connection.state", "mcp_client.connection.state", s.String()); got != want {
					t.Errorf("gauge of %v in %v: got %d, want %d", s, tt.transition.To, got, want)
				}
			}
		})
	}
}

func TestLateResponseIsLoggedInTraceOfCall(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	_, op := c.StartRequest(t.Context(), instrument.Request{Method: "tools/list"})
	op.Admit(nil, 9)
	op.End(instrument.Result{ErrorType: names.ErrorTimeout})
	c.Dropped(instrument.Drop{Reason: names.DropLateTimeout, ID: "9", Age: 2 * time.Second, Ref: op.Ref()})
	c.Dropped(instrument.Drop{Reason: names.DropUnknownID, ID: strings.Repeat("9", 500)})

	span, records := rec.Span("tools/list").SpanContext(), rec.Logs("mcp_client.response.dropped")
	late, unknown := records[0], records[1]
	if late.Span.TraceID() != span.TraceID() || late.Span.SpanID() != span.SpanID() {
		t.Errorf("span of the record of a late response: got %v, want %v", late.Span, span)
	}
	if late.Level != slog.LevelInfo || late.Text("jsonrpc.request.id") != "9" || late.Text("mcp_client.drop.age") != "2" {
		t.Errorf("the record of a late response: got %v %v", late.Level, late.Attrs)
	}
	if unknown.Level != slog.LevelWarn || unknown.Span.IsValid() || len(unknown.Text("jsonrpc.request.id")) != 128 {
		t.Errorf("the record of an unknown id: got %v %v %v", unknown.Level, unknown.Span, unknown.Attrs)
	}
	for _, reason := range []string{"late_timeout", "unknown_id"} {
		if n := rec.Value("mcp_client.response.drops", "mcp_client.drop.reason", reason); n != 1 {
			t.Errorf("dropped for %s: got %d, want 1", reason, n)
		}
	}
}

func TestTransitionIsLoggedInTraceOfAttempt(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	_, attempt := c.StartAttempt(t.Context(), instrument.AttemptStart{Number: 1})
	attempt.End(nil)
	ready := move(connstate.Initializing, connstate.Ready, connstate.ReasonNegotiated)
	ready.Attempt = attempt.Ref()
	c.Transition(ready)
	span := rec.Span("mcp_client.connect").SpanContext()
	if got := rec.Log("mcp_client.connection.transition").Span; got.TraceID() != span.TraceID() ||
		got.SpanID() != span.SpanID() {
		t.Errorf("span of the record of a transition: got %v, want %v", got, span)
	}
}

func TestViolationsAreCountedAndLoggedWithinLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		c := instrument.NewClient(rec.Telemetry(), "files", pipe)
		violate := func(n int) {
			for range n {
				c.Violation(instrument.Violation{Reason: "invalid_json", Size: 10, Direction: telemetry.DirectionReceived})
			}
		}
		violate(100)
		time.Sleep(time.Second) // virtual
		violate(10)
		c.Violation(instrument.Violation{Direction: telemetry.DirectionReceived, Reason: "no such rule", Size: 10})
		c.Close()

		if n := rec.Value("mcp_client.protocol.violations", "mcp_client.violation.reason", "invalid_json"); n != 110 {
			t.Errorf("violations: got %d, want 110", n)
		}
		if n := rec.Value("mcp_client.protocol.violations", "mcp_client.violation.reason", "_OTHER"); n != 1 {
			t.Errorf("violations of an unknown rule: got %d, want 1", n)
		}
		records, suppressed := rec.Logs("mcp_client.protocol.violation"), int64(0)
		if len(records) != 5+1+1+1 { // five at once, one after a second, one for an unknown rule, one at the end
			t.Errorf("records: got %d, want 8", len(records))
		}
		for _, r := range records {
			if v, ok := r.Attrs["mcp_client.suppressed"]; ok {
				suppressed += v.Int64()
			}
		}
		if want := int64(110 - 6); suppressed != want {
			t.Errorf("suppressed records: got %d, want %d", suppressed, want)
		}
	})
}

func TestCloseSubtractsTombstonesFromMetric(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	c.Tombstones(5)
	c.Tombstones(0)
	c.Tombstones(-2)
	if n := rec.Value("mcp_client.tombstone.kept"); n != 3 {
		t.Errorf("tombstones: got %d, want 3", n)
	}
	c.Tombstones(-10)
	c.Tombstones(1)
	c.Close()
	if n := rec.Value("mcp_client.tombstone.kept"); n != 0 {
		t.Errorf("tombstones of a closed client: got %d, want 0", n)
	}
}

func TestFailedProcessExitIsLoggedAsWarning(t *testing.T) {
	for _, tt := range []struct {
		exit instrument.ProcessExit
		want slog.Level
	}{
		{instrument.ProcessExit{PID: 7}, slog.LevelInfo},
		{instrument.ProcessExit{PID: 7, Code: 2}, slog.LevelWarn},
		{instrument.ProcessExit{PID: 7, Code: -1, Signal: "SIGKILL"}, slog.LevelWarn},
		{instrument.ProcessExit{PID: 7, Signal: "SIGKILL"}, slog.LevelWarn},
		{instrument.ProcessExit{PID: 7, Code: 2, InAttempt: true}, slog.LevelInfo},
	} {
		rec := telemetrytest.Recorder(t)
		c := instrument.NewClient(rec.Telemetry(), "files", pipe)
		c.ProcessExit(tt.exit)
		c.Close()
		r := rec.Log("mcp_client.process.exit")
		if r.Level != tt.want || r.Text("mcp_client.process.signal") != tt.exit.Signal {
			t.Errorf("exit %+v: got %v %v, want %v", tt.exit, r.Level, r.Attrs, tt.want)
		}
	}
}

func TestSessionDurationIsRecorded(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c, s := instrument.NewClient(rec.Telemetry(), "files", pipe), instrument.NewServer(rec.Telemetry(), "demo", pipe)
	defer c.Close()
	defer s.Close()
	old := instrument.Facts{Network: pipe, MCPVersion: "2025-06-18"}
	c.Peer(old, "").SessionEnd(90*time.Second, names.ErrorConnectionLost)
	s.Peer(old, "").SessionEnd(90*time.Second, "")
	for metric, want := range map[string]map[string]string{
		"mcp.client.session.duration": {"mcp_client.name": "files", "mcp.protocol.version": "2025-06-18",
			"network.transport": "pipe", "error.type": "connection_lost"},
		"mcp.server.session.duration": {"mcp_server.name": "demo", "mcp.protocol.version": "2025-06-18",
			"network.transport": "pipe"},
	} {
		p := rec.Points(metric)
		if len(p) != 1 || p[0].Sum != 90 {
			t.Fatalf("%s: got %+v, want one sample of 90", metric, p)
		}
		same(t, metric, texts(p[0].Attrs.ToSlice()), want)
	}
}
