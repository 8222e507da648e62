package instrument_test

import (
	"fmt"
	"strconv"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// values returns the number of samples of a metric for each value of an attribute.
func values(rec *telemetrytest.Recording, metric, key string) map[string]uint64 {
	m := map[string]uint64{}
	for _, p := range rec.Points(metric) {
		if v, ok := texts(p.Attrs.ToSlice())[key]; ok {
			m[v] += p.Count
		}
	}
	return m
}

func TestErrorTypesOnMetricsAreLimited(t *testing.T) {
	const strange = 100
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	end := func(r instrument.Result) {
		_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
		op.End(r)
	}
	for range 2 {
		for code := range int64(strange) {
			end(instrument.Result{Code: code, HasCode: true})
		}
	}
	end(instrument.Result{Code: -32601, HasCode: true})
	end(instrument.Result{ErrorType: names.ErrorTimeout})
	end(instrument.Result{ErrorType: "another.strange/error"})
	end(instrument.Result{})

	got := values(rec, "mcp.client.operation.duration", "error.type")
	if want := 16 + 3; len(got) != want { // 16 unknown types, and -32601, timeout and _OTHER
		t.Errorf("error types: got %d, want %d: %v", len(got), want, got)
	}
	if want := uint64(2*(strange-16) + 1); got["_OTHER"] != want {
		t.Errorf("error types beyond the limit: got %d samples with _OTHER, want %d", got["_OTHER"], want)
	}
	if got["-32601"] != 1 || got["timeout"] != 1 {
		t.Errorf("error types of the protocol: got %v, want them by name", got)
	}
	codes := values(rec, "mcp.client.operation.duration", "rpc.response.status_code")
	if want := 16 + 2; len(codes) != want || codes["_OTHER"] != 2*(strange-16) {
		t.Errorf("codes: got %v, want %d values with _OTHER", codes, want)
	}
	for i, span := range rec.Spans()[:strange] {
		if got, want := texts(span.Attributes())["error.type"], strconv.Itoa(i); got != want {
			t.Errorf("code on the span: got %q, want %q", got, want)
		}
	}
}

func TestToolNamesOnMetricsAreLimited(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts []telemetry.Option
		want int
	}{
		{"by default", nil, telemetry.DefaultToolNameLimit},
		{"zero", []telemetry.Option{telemetry.WithToolNameLimit(0)}, telemetry.DefaultToolNameLimit},
		{"three", []telemetry.Option{telemetry.WithToolNameLimit(3)}, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := telemetrytest.Recorder(t, tt.opts...)
			c := instrument.NewClient(rec.Telemetry(), "files", pipe)
			defer c.Close()
			const tools = telemetry.DefaultToolNameLimit + 10
			for i := range 2 * tools {
				_, op := c.StartRequest(t.Context(), instrument.Request{
					Method: "tools/call", TargetKind: instrument.Tool, Target: fmt.Sprint("tool", i%tools),
				})
				op.End(instrument.Result{})
			}
			got := values(rec, "mcp.client.operation.duration", "gen_ai.tool.name")
			if len(got) != tt.want+1 || got["_OTHER"] != uint64(2*(tools-tt.want)) {
				t.Errorf("tools on the metric: got %d with %d others, want %d and %d", len(got), got["_OTHER"], tt.want+1,
					2*(tools-tt.want))
			}
			last := rec.Spans()[2*tools-1]
			if want := fmt.Sprint("tool", tools-1); texts(last.Attributes())["gen_ai.tool.name"] != want ||
				last.Name() != "tools/call "+want {
				t.Errorf("name of the span: got %s %v, want %s", last.Name(), last.Attributes(), want)
			}
		})
	}
}

func TestUnknownMethodsOnMetricsAreLimited(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	for i := range 200 {
		_, op := c.StartRequest(t.Context(), instrument.Request{Method: fmt.Sprint("acme/", i)})
		op.End(instrument.Result{})
	}
	_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
	op.End(instrument.Result{})
	got := values(rec, "mcp.client.operation.duration", "mcp.method.name")
	if len(got) != 64+2 || got["_OTHER"] != 200-64 || got["ping"] != 1 {
		t.Errorf("methods on the metric: got %d with %d others, want 66 and 136", len(got), got["_OTHER"])
	}
}

func TestVersionsOnMetricsAreLimited(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
	defer s.Close()
	for i := range 100 {
		p := s.Peer(instrument.Facts{Network: pipe, MCPVersion: fmt.Sprint("v", i)}, "")
		_, op := s.StartHandler(t.Context(), instrument.Incoming{Method: "ping", ID: "1", Peer: p})
		op.End(instrument.Result{})
	}
	got := values(rec, "mcp.server.operation.duration", "mcp.protocol.version")
	if len(got) != 16 || got["_OTHER"] != 100-15 { // the sixteenth is for a connection without known facts
		t.Errorf("versions on the metric: got %d with %d others, want 16 and 85", len(got), got["_OTHER"])
	}
}

// TestTelemetryRetainsNoFrameMemory passes strings that share a buffer, like the strings of a frame, and then
// overwrites the buffer. If the code retained such a string, the string would keep many MiB alive. Here it would show a
// different text.
func TestTelemetryRetainsNoFrameMemory(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	defer s.Close()
	var frames [][]byte
	inFrame := func(text string) string {
		b := []byte(text)
		frames = append(frames, b)
		return unsafe.String(&b[0], len(b))
	}

	known := instrument.Incoming{
		Method: inFrame("acme/do"), TargetKind: instrument.Tool, Target: inFrame("add"), Known: true, TargetKnown: true,
		ID: inFrame(`id-1`), URI: inFrame("file:///x"),
		TraceContext: instrument.TraceContext{Traceparent: inFrame(remoteParent),
			Tracestate: inFrame("vendor=value"), Baggage: inFrame("tenant=acme")},
		Peer: s.Peer(instrument.Facts{Network: pipe, MCPVersion: inFrame("2025-06-18")}, inFrame("session-1")),
	}
	unknown := known
	unknown.Method, unknown.Target, unknown.Known, unknown.TargetKnown = inFrame("acme/no"), inFrame("sub"), false, false
	for _, in := range []instrument.Incoming{known, unknown} {
		_, op := s.StartHandler(t.Context(), in)
		op.End(instrument.Result{Code: 7, HasCode: true, Message: inFrame("no such thing"), ResultType: inFrame("odd")})
	}
	limited := instrument.Request{Method: "tools/call", TargetKind: instrument.Tool, Target: inFrame("read"),
		URI: inFrame("file:///y")}
	_, op := c.StartRequest(t.Context(), limited)
	op.End(instrument.Result{ErrorType: inFrame("strange"), ResultType: inFrame("odd")})
	c.Notification(telemetry.DirectionReceived, inFrame("acme/news"))
	c.NotificationDropped(inFrame("acme/news"), names.DropQueueFull)
	c.Dropped(instrument.Drop{Reason: inFrame(names.DropUnknownID), ID: inFrame("id-9")})
	c.Violation(instrument.Violation{Direction: telemetry.DirectionReceived, Reason: inFrame("too_deep")})

	before := everything(rec)
	for _, b := range frames {
		clear(b)
		for i := range b {
			b[i] = '#'
		}
	}
	if diff := cmp.Diff(before, everything(rec)); diff != "" {
		t.Errorf("emitted telemetry after a change of the frame (-want +got):\n%s", diff)
	}
	_, op = s.StartHandler(t.Context(), instrument.Incoming{
		Method: "acme/do", TargetKind: instrument.Tool, Target: "add", Known: true, TargetKnown: true, ID: "2",
	})
	op.End(instrument.Result{})
	if spans := rec.Spans(); spans[len(spans)-1].Name() != "acme/do add" {
		t.Errorf("known names: got the span %q", spans[len(spans)-1].Name())
	}
}

// everything returns all emitted telemetry as lines.
func everything(rec *telemetrytest.Recording) (lines []string) {
	for _, s := range rec.Spans() {
		lines = append(lines, fmt.Sprintln(s.Name(), s.Status(), texts(s.Attributes()), s.SpanContext().TraceState()))
	}
	for _, m := range rec.Metrics() {
		for _, p := range rec.Points(m.Name) {
			lines = append(lines, fmt.Sprintln(m.Name, p.Value, p.Count, texts(p.Attrs.ToSlice())))
		}
	}
	for _, r := range rec.Logs("") {
		lines = append(lines, fmt.Sprintln(r.Message, fieldsOf(r)))
	}
	return lines
}
