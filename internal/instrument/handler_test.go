package instrument_test

import (
	"context"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

const (
	remoteTrace  = "0102030405060708090a0b0c0d0e0f10"
	remoteSpan   = "1112131415161718"
	remoteParent = "00-" + remoteTrace + "-" + remoteSpan + "-01"
)

func toolRequest() instrument.Incoming {
	return instrument.Incoming{
		Method: "tools/call", TargetKind: instrument.Tool, Target: "add", Known: true, TargetKnown: true, ID: "1", Size: 80,
	}
}

func TestHandlerSpanIsChildOfSendersSpan(t *testing.T) {
	for _, tt := range []struct {
		name        string
		traceparent string
		ambient     bool
		parent      string // span id of the parent: remote, ambient or none
		link        bool
	}{
		{"sender only", remoteParent, false, "remote", false},
		{"sender and ambient", remoteParent, true, "remote", true},
		{"ambient only", "", true, "ambient", false},
		{"neither", "", false, "none", false},
		{"unusable", "00-zz-zz-01", true, "ambient", false},
		{"all zero", "00-00000000000000000000000000000000-0000000000000000-01", true, "ambient", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
			defer s.Close()
			ctx := t.Context()
			var ambient trace.Span = trace.SpanFromContext(ctx)
			if tt.ambient {
				ctx, ambient = rec.TracerProvider().Tracer("test").Start(ctx, "http")
			}
			in := toolRequest()
			in.Traceparent = tt.traceparent
			_, op := s.StartHandler(ctx, in)
			op.Sent(20)
			op.End(instrument.Result{})
			ambient.End()

			span := rec.Span("tools/call add")
			want := map[string]string{
				"remote": remoteSpan, "ambient": ambient.SpanContext().SpanID().String(), "none": "0000000000000000",
			}[tt.parent]
			if got := span.Parent().SpanID().String(); got != want {
				t.Errorf("parent: got %s, want %s", got, want)
			}
			linked := len(span.Links()) == 1 && span.Links()[0].SpanContext.Equal(ambient.SpanContext())
			if linked != tt.link || !tt.link && len(span.Links()) != 0 {
				t.Errorf("links: got %v, want a link to the ambient span: %v", span.Links(), tt.link)
			}
			if span.SpanKind() != trace.SpanKindServer {
				t.Errorf("kind: got %v, want SERVER", span.SpanKind())
			}
		})
	}
}

func TestHandlerFollowsSendersSamplingDecision(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
	defer s.Close()
	in := toolRequest()
	in.Traceparent = strings.TrimSuffix(remoteParent, "1") + "0"
	_, op := s.StartHandler(t.Context(), in)
	op.End(instrument.Result{})
	if n := len(rec.Spans()); n != 0 {
		t.Errorf("spans of an unsampled trace: got %d, want none", n)
	}
	if n := rec.Count("mcp.server.operation.duration"); n != 1 {
		t.Errorf("durations of an unsampled trace: got %d samples, want 1", n)
	}
}

func TestReceivedTracestateAndBaggageAreBounded(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
	defer s.Close()
	in := toolRequest()
	in.Traceparent, in.Baggage = remoteParent, "tenant=acme"
	in.Tracestate = "a=1,b=" + strings.Repeat("x", 200) + ",c=" + strings.Repeat("y", 200) + ",d=" + strings.Repeat("z",
		200)
	ctx, op := s.StartHandler(t.Context(), in)
	op.End(instrument.Result{})
	if got := baggage.FromContext(ctx).Member("tenant").Value(); got != "acme" {
		t.Errorf("baggage in the handler: got %q, want acme", got)
	}
	state := rec.Span("tools/call add").SpanContext().TraceState()
	if state.Get("a") != "1" || state.Get("c") == "" || state.Get("d") != "" {
		t.Errorf("tracestate: got %v, want whole members up to 512 bytes", state)
	}
}

func TestTraceContextReachesPeer(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c, s := instrument.NewClient(rec.Telemetry(), "files", pipe), instrument.NewServer(rec.Telemetry(), "demo", pipe)
	defer c.Close()
	defer s.Close()
	member, err := baggage.NewMember("tenant", "acme")
	if err != nil {
		t.Fatal(err)
	}
	bag, err := baggage.New(member)
	if err != nil {
		t.Fatal(err)
	}
	_, op := c.StartRequest(baggage.ContextWithBaggage(t.Context(), bag), instrument.Request{Method: "tools/list"})
	in := instrument.Incoming{Method: "tools/list", Known: true, ID: "1"}
	in.TraceContext = op.TraceContext()
	ctx, handling := s.StartHandler(t.Context(), in)
	handling.End(instrument.Result{})
	op.End(instrument.Result{})
	spans := rec.Spans()
	if !spans[0].Parent().TraceID().IsValid() || spans[0].Parent().SpanID() != spans[1].SpanContext().SpanID() {
		t.Errorf("parent of the server's span: got %v, want %v", spans[0].Parent(),
			spans[1].SpanContext())
	}
	if got := baggage.FromContext(ctx).Member("tenant").Value(); got != "acme" {
		t.Errorf("baggage: got %q, want acme", got)
	}
}

// Baggage that a program sets for itself must not reach strangers over a network.
func TestOnlyConfiguredBaggageKeysCrossNetworks(t *testing.T) {
	const all = "tenant=acme,user=alice;meta=1,price=9"
	bag, err := baggage.Parse(all)
	if err != nil {
		t.Fatal(err)
	}
	tcp := instrument.Network{Transport: "tcp", Protocol: "http", Address: "127.0.0.1", Port: 80}
	for _, tt := range []struct {
		name string
		n    instrument.Network
		keys []string
		want string // sorted members
	}{
		{"child process", pipe, nil, all},
		{"in the process", instrument.Network{}, nil, all},
		{"Unix socket", instrument.Network{Transport: "unix", Address: "/run/x"}, nil, all},
		{"network", tcp, nil, ""},
		{"QUIC", instrument.Network{Transport: "quic"}, nil, ""},
		{"with keys", tcp, []string{"user", "tenant"}, "tenant=acme,user=alice;meta=1"},
		{"with other keys", tcp, []string{"Tenant", "pric"}, ""},
		{"with all", tcp, []string{"*"}, all},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := telemetrytest.Recorder(t, telemetry.WithBaggageKeys(tt.keys...))
			c, s := instrument.NewClient(rec.Telemetry(), "files", tt.n), instrument.NewServer(rec.Telemetry(), "demo", tt.n)
			defer c.Close()
			defer s.Close()
			ctx := baggage.ContextWithBaggage(t.Context(), bag)
			_, attempt := c.StartAttempt(ctx, instrument.AttemptStart{Number: 1})
			_, request := c.StartRequest(ctx, instrument.Request{Method: "tools/list"})
			_, asking := s.StartRequest(ctx, instrument.Request{Method: "roots/list"})
			for what, callerCount := range map[string]func() instrument.TraceContext{
				"attempt": attempt.TraceContext, "request": request.TraceContext, "request of a server": asking.TraceContext,
			} {
				if c := callerCount(); sorted(c.Baggage) != sorted(tt.want) || c.Traceparent == "" {
					t.Errorf("%s: got the baggage %q, want %q and a trace", what, c.Baggage, tt.want)
				}
			}
			in := instrument.Incoming{Method: "roots/list", Known: true, ID: "1",
				TraceContext: instrument.TraceContext{Traceparent: remoteParent, Baggage: all}}
			inside, handling := c.StartHandler(t.Context(), in)
			if got := baggage.FromContext(inside).String(); sorted(got) != sorted(tt.want) {
				t.Errorf("the handler of a client has %q of a server's baggage, want %q", got, tt.want)
			}
			handling.End(instrument.Result{})
			inside, handling = s.StartHandler(t.Context(), in)
			if got := baggage.FromContext(inside).String(); sorted(got) != sorted(all) {
				t.Errorf("the handler of a server has %q of a trusted client's baggage, want %q", got, all)
			}
			handling.End(instrument.Result{})
			asking.End(instrument.Result{})
			request.End(instrument.Result{})
			attempt.End(nil)
		})
	}
}

func TestTransportWithAddressGetsNoBaggageByDefault(t *testing.T) {
	bag, err := baggage.Parse("tenant=acme")
	if err != nil {
		t.Fatal(err)
	}
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", instrument.Network{Address: "example.com"})
	defer c.Close()
	_, op := c.StartRequest(baggage.ContextWithBaggage(t.Context(), bag), instrument.Request{Method: "tools/list"})
	if got := op.TraceContext().Baggage; got != "" {
		t.Errorf("baggage is %q, want none", got)
	}
	op.End(instrument.Result{})
}

func sorted(members string) string {
	all := strings.Split(members, ",")
	slices.Sort(all)
	return strings.Join(all, ",")
}

func TestUnknownNamesBecomeOtherExceptOnSpans(t *testing.T) {
	long := strings.Repeat("n", 300)
	for _, tt := range []struct {
		name                 string
		in                   instrument.Incoming
		spanName             string
		metricMethod, metric string
		spanMethod, spanTool string
	}{
		{"unknown tool", instrument.Incoming{Method: "tools/call", TargetKind: instrument.Tool, Target: "rm", Known: true,
			ID: "1"},
			"tools/call _OTHER", "tools/call", "_OTHER", "tools/call", "rm"},
		{"unknown method", instrument.Incoming{Method: "acme/do", ID: "1"}, "_OTHER", "_OTHER", "", "acme/do", ""},
		{"long names", instrument.Incoming{Method: long, TargetKind: instrument.Tool, Target: long, ID: long},
			"_OTHER _OTHER", "_OTHER", "_OTHER", long[:128], long[:128]},
		{"method of the protocol that is not served", instrument.Incoming{Method: "sampling/createMessage", ID: "1"},
			"sampling/createMessage", "sampling/createMessage", "", "sampling/createMessage", ""},
		{"method of an extension", instrument.Incoming{Method: "acme/do", Known: true, ID: "1"}, "acme/do", "acme/do", "",
			"acme/do", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
			defer s.Close()
			_, op := s.StartHandler(t.Context(), tt.in)
			op.End(instrument.Result{Code: -32601, HasCode: true})
			span := texts(rec.Span(tt.spanName).Attributes())
			if span["mcp.method.name"] != tt.spanMethod || span["gen_ai.tool.name"] != tt.spanTool {
				t.Errorf("names on the span: got %v, want %q and %q", span, tt.spanMethod, tt.spanTool)
			}
			if len(span["jsonrpc.request.id"]) > 128 {
				t.Errorf("a long id: got %d bytes, want fewer", len(span["jsonrpc.request.id"]))
			}
			sample := texts(rec.Points("mcp.server.operation.duration")[0].Attrs.ToSlice())
			if sample["mcp.method.name"] != tt.metricMethod || sample["gen_ai.tool.name"] != tt.metric {
				t.Errorf("names on the metric: got %v, want %q and %q", sample, tt.metricMethod, tt.metric)
			}
		})
	}
}

func TestHandlerRecordsHaveExpectedLevels(t *testing.T) {
	for _, tt := range []struct {
		name   string
		result instrument.Result
		event  string
		want   slog.Level
	}{
		{"success", instrument.Result{}, "mcp_server.request.stop", slog.LevelDebug},
		{"client's fault", instrument.Result{Code: -32602, HasCode: true}, "mcp_server.request.stop", slog.LevelDebug},
		{"tool's error", instrument.Result{ToolError: true}, "mcp_server.request.tool_error", slog.LevelInfo},
		{"cancelled by the client", instrument.Result{ErrorType: names.ErrorCancelled}, "mcp_server.request.exception",
			slog.LevelDebug},
		{"timeout", instrument.Result{ErrorType: names.ErrorTimeout}, "mcp_server.request.exception", slog.LevelWarn},
		{"internal error", instrument.Result{Code: -32603, HasCode: true}, "mcp_server.request.exception", slog.LevelError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
			defer s.Close()
			_, op := s.StartHandler(t.Context(), toolRequest())
			if n := rec.Value("mcp_server.active_requests"); n != 1 {
				t.Errorf("active requests during the handling: got %d, want 1", n)
			}
			op.End(tt.result)
			if got := rec.Log(tt.event).Level; got != tt.want {
				t.Errorf("%s: got %v, want %v", tt.event, got, tt.want)
			}
		})
	}
}

func TestPanicValueAndStackAreInLogOnly(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
	defer s.Close()
	ctx, op := s.StartHandler(t.Context(), toolRequest())
	s.HandlerPanic(ctx, "tools/call", context.Canceled, debug.Stack())
	op.End(instrument.Result{Code: -32603, HasCode: true, Message: "internal error"})

	r := rec.Log("mcp_server.handler.panic")
	if r.Level != slog.LevelError || r.Text("exception.message") != "context canceled" ||
		!strings.Contains(r.Text("exception.stacktrace"), "TestPanicValueAndStackAreInLogOnly") {
		t.Errorf("the record: got %v %v, want the value and the stack", r.Level, r.Attrs)
	}
	span := rec.Span("tools/call add")
	if !r.Span.Equal(span.SpanContext()) {
		t.Errorf("span of the record: got %v, want %v", r.Span, span.SpanContext())
	}
	if s := span.Status(); s.Code != codes.Error || s.Description != "internal error" {
		t.Errorf("status: got %v, want it without the value", s)
	}
	if n := rec.Value("mcp_server.handler.panics", "mcp.method.name", "tools/call"); n != 1 {
		t.Errorf("panics: got %d, want 1", n)
	}
}

func TestServerRequestIsRecordedAsHandledByClient(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe, first)
	defer c.Close()
	_, op := c.StartHandler(t.Context(), instrument.Incoming{Method: "roots/list", Known: true, ID: "7", Size: 30})
	if n := rec.Value("mcp_client.active_handlers"); n != 1 {
		t.Errorf("active handlers: got %d, want 1", n)
	}
	op.Sent(60)
	op.End(instrument.Result{})
	if n := rec.Count("mcp.server.operation.duration", "mcp_client.name", "files"); n != 1 {
		t.Errorf("durations of a server: got %d samples, want 1", n)
	}
	span := rec.Span("roots/list")
	same(t, "the span", texts(span.Attributes()), map[string]string{
		"mcp.method.name": "roots/list", "network.transport": "pipe", "mcp_client.name": "files",
		"mcp_client.instance.id": "1",
		"jsonrpc.request.id":     "7", "mcp_client.request.size": "30", "mcp_client.response.size": "60",
	})
	for _, want := range [][2]string{{"received", "request"}, {"sent", "response"}} {
		n := rec.Count("mcp_client.message.size", "mcp_client.direction", want[0], "mcp_client.message.kind", want[1])
		if n != 1 {
			t.Errorf("sizes of a %s that was %s: got %d, want 1", want[1], want[0], n)
		}
	}
}

// A peer may send any number of requests that are refused. Each is counted and logged, but only few at level Warn.
func TestWarningsAboutRefusedRequestsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		tel := rec.Telemetry()
		s, c := instrument.NewServer(tel, "demo", pipe), instrument.NewClient(tel, "files", pipe)
		type starter = func(context.Context, instrument.Incoming) (context.Context, instrument.Op)
		refuse := func(n int) {
			for range n {
				for _, start := range []starter{s.StartHandler, c.StartHandler} {
					_, op := start(t.Context(), instrument.Incoming{Method: "roots/list", Known: true, ID: "1", Size: 30})
					op.End(instrument.Result{Code: -32021, HasCode: true, Message: "capability missing"})
				}
			}
		}
		refuse(100)
		time.Sleep(time.Second) // virtual
		refuse(1)
		s.Close()
		c.Close()
		for side, event := range map[string]string{
			"mcp_server": "mcp_server.request.exception", "mcp_client": "mcp_client.handler.exception",
		} {
			records, warnings, suppressed := rec.Logs(event), 0, int64(0)
			for _, r := range records {
				if r.Level == slog.LevelWarn {
					warnings++
				}
				if v, ok := r.Attrs[side+".suppressed"]; ok {
					suppressed += v.Int64()
				}
			}
			if len(records) != 101 || warnings != 5+1 || suppressed != 95 {
				t.Errorf("%s: got %d records, %d warnings and %d suppressed; want 101, 6 and 95", event, len(records), warnings,
					suppressed)
			}
		}
	})
}

// traceparent returns a trace context that has only a traceparent.
func traceparent(value string) instrument.TraceContext {
	return instrument.TraceContext{Traceparent: value}
}
