package instrument_test

import (
	"errors"
	"log/slog"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// texts returns attributes as text.
func texts(attrs []attribute.KeyValue) map[string]string {
	m := map[string]string{}
	for _, a := range attrs {
		m[string(a.Key)] = a.Value.String()
	}
	return m
}

// fieldsOf returns the fields of a record as text.
func fieldsOf(r telemetrytest.Record) map[string]string {
	m := map[string]string{}
	for k := range r.Attrs {
		m[k] = r.Text(k)
	}
	return m
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// first sets a known instance id.
var first = instrument.WithInstanceID("1")

var stdio = instrument.Facts{Network: pipe, MCPVersion: "2026-07-28"}

func TestCallEmitsOneSpanOneSampleAndTwoRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		c := instrument.NewClient(rec.Telemetry(), "files", pipe, first)
		defer c.Close()
		_, op := c.StartRequest(t.Context(), instrument.Request{Method: "tools/call", TargetKind: instrument.Tool,
			Target: "read"})
		op.Admit(c.Peer(stdio, "s-1"), 42)
		if got := rec.Value("mcp_client.active_requests", "mcp.method.name", "tools/call"); got != 1 {
			t.Errorf("active requests: got %d, want 1", got)
		}
		op.Sent(100)
		time.Sleep(30 * time.Millisecond) // virtual
		op.Received(2000)
		op.End(instrument.Result{ResultType: "complete"})

		corr := op.Corr().String()
		span := rec.Span("tools/call read")
		same(t, "attributes of the span", texts(span.Attributes()), map[string]string{
			"mcp.method.name": "tools/call", "gen_ai.tool.name": "read", "gen_ai.operation.name": "execute_tool",
			"gen_ai.tool.type":  "extension",
			"network.transport": "pipe", "mcp_client.name": "files", "mcp_client.instance.id": "1",
			"mcp_client.corr_id": corr, "jsonrpc.request.id": "42",
			"mcp_client.request.size": "100", "mcp_client.response.size": "2000", "mcp.session.id": "s-1",
			"mcp.protocol.version": "2026-07-28",
		})
		if span.SpanKind() != trace.SpanKindClient || span.Status().Code != codes.Unset {
			t.Errorf("kind and status of the span: got %v and %v, want CLIENT and no status", span.SpanKind(), span.Status())
		}

		sample := rec.Points("mcp.client.operation.duration")
		if len(sample) != 1 || sample[0].Count != 1 || sample[0].Sum != 0.03 {
			t.Fatalf("duration from sending to the end: got %+v, want one sample of 0.03", sample)
		}
		same(t, "attributes of the duration", texts(sample[0].Attrs.ToSlice()), map[string]string{
			"mcp.method.name": "tools/call", "gen_ai.tool.name": "read", "gen_ai.operation.name": "execute_tool",
			"network.transport": "pipe", "mcp_client.name": "files", "mcp.protocol.version": "2026-07-28",
		})
		for _, size := range []struct {
			direction, kind string
			bytes           float64
		}{{"sent", "request", 100}, {"received", "response", 2000}} {
			p := rec.Points("mcp_client.message.size", "mcp_client.direction", size.direction, "mcp_client.message.kind",
				size.kind)
			if len(p) != 1 || p[0].Count != 1 || p[0].Sum != size.bytes {
				t.Errorf("size of the %s: got %+v, want one sample of %v", size.kind, p, size.bytes)
			}
		}

		identity := map[string]string{
			"mcp_client.name": "files", "mcp_client.instance.id": "1",
			"mcp.method.name": "tools/call", "gen_ai.tool.name": "read",
			"jsonrpc.request.id": "42", "mcp_client.corr_id": corr,
		}
		start, stop := rec.Log("mcp_client.request.start"), rec.Log("mcp_client.request.stop")
		want := maps.Clone(identity)
		want["event.name"] = "mcp_client.request.start"
		same(t, "fields of the start", fieldsOf(start), want)
		want = maps.Clone(identity)
		want["event.name"], want["mcp_client.duration"] = "mcp_client.request.stop", "0.03"
		same(t, "fields of the stop", fieldsOf(stop), want)
		for _, r := range []telemetrytest.Record{start, stop} {
			if !r.Span.Equal(span.SpanContext()) || r.Level != slog.LevelDebug {
				t.Errorf("level and span of %s: got %v in %v, want debug in the span", r.Message, r.Level, r.Span)
			}
		}
	})
}

func TestOperationRecordsOnlyFirstEnd(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
	op.End(instrument.Result{})
	op.End(instrument.Result{ErrorType: names.ErrorTimeout})
	if n := rec.Count("mcp.client.operation.duration"); n != 1 {
		t.Errorf("samples of an operation: got %d, want 1", n)
	}
	if n := len(rec.Logs("")); n != 2 {
		t.Errorf("records of an operation: got %d, want a start and a stop", n)
	}
}

func TestUnadmittedRequestLogsStartAndFailure(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	_, op := c.StartRequest(t.Context(), instrument.Request{Method: "tools/list"})
	op.End(instrument.Result{ErrorType: names.ErrorNotReady})
	if _, ok := rec.Log("mcp_client.request.start").Attrs["jsonrpc.request.id"]; ok {
		t.Error("a request that was not admitted has an id, want none")
	}
	if got := rec.Log("mcp_client.request.exception").Text("error.type"); got != "not_ready" {
		t.Errorf("error.type of a request without a connection: got %q, want not_ready", got)
	}
}

func TestDurationExcludesWaitForConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		c := instrument.NewClient(rec.Telemetry(), "files", pipe)
		defer c.Close()
		_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
		time.Sleep(time.Hour) // virtual
		op.Admit(nil, 1)
		op.Sending()
		time.Sleep(time.Second / 2) // virtual; the queue is full
		op.Retry(names.RetryBusy)
		op.Sending()
		time.Sleep(time.Second / 2) // virtual
		op.Sent(10)
		op.End(instrument.Result{})
		if sum := rec.Points("mcp.client.operation.duration")[0].Sum; sum != 1 {
			t.Errorf("duration since sending: got %v s, want 1", sum)
		}
		span := rec.Span("ping")
		if d := span.EndTime().Sub(span.StartTime()); d != time.Hour+time.Second {
			t.Errorf("length of the span since the call: got %v, want 1h0m1s", d)
		}
	})
}

func TestSlowRequestIsLoggedAtInfo(t *testing.T) {
	for _, tt := range []struct {
		threshold, took time.Duration
		want            slog.Level
	}{
		{telemetry.DefaultSlowThreshold, telemetry.DefaultSlowThreshold, slog.LevelInfo},
		{telemetry.DefaultSlowThreshold, telemetry.DefaultSlowThreshold - 1, slog.LevelDebug},
		{0, time.Hour, slog.LevelDebug},
		{time.Millisecond, 2 * time.Millisecond, slog.LevelInfo},
	} {
		synctest.Test(t, func(t *testing.T) {
			rec := telemetrytest.Recorder(t, telemetry.WithSlowThreshold(tt.threshold))
			c := instrument.NewClient(rec.Telemetry(), "files", pipe)
			defer c.Close()
			_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
			time.Sleep(tt.took) // virtual
			op.End(instrument.Result{})
			if got := rec.Log("mcp_client.request.stop").Level; got != tt.want {
				t.Errorf("a stop after %v with threshold %v: got %v, want %v", tt.took, tt.threshold, got, tt.want)
			}
		})
	}
}

func TestRequestsOfOneCallShareCorrelationIDAndLinks(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	_, first := c.StartRequest(t.Context(), instrument.Request{Method: "tools/list"})
	first.End(instrument.Result{Err: lost{}})
	_, second := c.StartRequest(t.Context(), instrument.Request{Method: "tools/list", Corr: first.Corr(),
		Link: first.Ref()})
	second.End(instrument.Result{})
	_, third := c.StartRequest(t.Context(), instrument.Request{Method: "tools/list"})
	third.End(instrument.Result{})

	spans := rec.Spans()
	corr := func(i int) string { return texts(spans[i].Attributes())["mcp_client.corr_id"] }
	if corr(0) != corr(1) || corr(0) == corr(2) || len(corr(0)) != 32 {
		t.Errorf("correlation ids of two calls: got %s, %s, %s", corr(0), corr(1), corr(2))
	}
	links := spans[1].Links()
	if len(links) != 1 || !links[0].SpanContext.Equal(spans[0].SpanContext()) {
		t.Errorf("links of a re-issued request: got %v, want %v", links, spans[0].SpanContext())
	}
}

func TestDurationExemplarRefersToSpan(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
	op.Sent(10)
	op.End(instrument.Result{})
	span := rec.Span("ping").SpanContext()
	m, _ := rec.Metric("mcp.client.operation.duration")
	exemplars := m.Data.(metricdata.Histogram[float64]).DataPoints[0].Exemplars
	id := span.SpanID()
	if len(exemplars) != 1 || string(exemplars[0].SpanID) != string(id[:]) {
		t.Errorf("exemplars: got %v, want one of span %v", exemplars, id)
	}
}

// startOnly records the parameters of a sampler.
type startOnly struct{ seen []map[string]string }

func (s *startOnly) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	m := texts(p.Attributes)
	m["name"], m["kind"] = p.Name, p.Kind.String()
	s.seen = append(s.seen, m)
	return sdktrace.SamplingResult{Decision: sdktrace.Drop}
}

func (*startOnly) Description() string { return "keeps what it sees" }

func TestSamplersSeeMethodAndTool(t *testing.T) {
	s := &startOnly{}
	tel := telemetry.New(telemetry.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(s))))
	c := instrument.NewClient(tel, "files", pipe)
	defer c.Close()
	_, op := c.StartRequest(t.Context(), instrument.Request{Method: "tools/call", TargetKind: instrument.Tool,
		Target: "read"})
	op.End(instrument.Result{})
	_, op = c.StartRequest(t.Context(), instrument.Request{Method: "prompts/get", TargetKind: instrument.Prompt,
		Target: "greet"})
	op.End(instrument.Result{})
	same(t, "a tool call", s.seen[0], map[string]string{
		"name": "tools/call read", "kind": "client", "mcp.method.name": "tools/call", "gen_ai.tool.name": "read",
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "extension", "network.transport": "pipe",
	})
	same(t, "a prompt", s.seen[1], map[string]string{
		"name": "prompts/get greet", "kind": "client", "mcp.method.name": "prompts/get", "gen_ai.prompt.name": "greet",
		"network.transport": "pipe",
	})
}

func TestRetryIsCountedLoggedAndSetOnSpan(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
	op.Admit(nil, 1)
	op.Retry(names.RetryBusy)
	op.Retry("the moon")
	op.End(instrument.Result{ErrorType: names.ErrorTransportBusy})
	for _, reason := range []string{"busy", "_OTHER"} {
		if n := rec.Value("mcp_client.transport.send.retries", "mcp_client.retry.reason", reason); n != 1 {
			t.Errorf("retries for %s: got %d, want 1", reason, n)
		}
	}
	if got := texts(rec.Span("ping").Attributes())["mcp_client.send.retries"]; got != "2" {
		t.Errorf("the span counts the retries: got %q, want 2", got)
	}
	if n := len(rec.Logs("mcp_client.send.retry")); n != 2 {
		t.Errorf("records: got %d, want 2", n)
	}
}

func TestDecodingRecordsDurationAndBoundedErrorType(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	_, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
	op.Decoded(time.Millisecond, nil)
	op.Decoded(time.Millisecond, lost{})
	op.Decoded(time.Millisecond, errors.New("odd"))
	op.End(instrument.Result{})
	got := values(rec, "mcp_client.message.decode.duration", "error.type")
	if len(got) != 2 || got["connection_lost"] != 1 || got["_OTHER"] != 1 {
		t.Errorf("error types: got %v, want connection_lost and _OTHER once each", got)
	}
	if n := rec.Count("mcp_client.message.decode.duration", "mcp_client.message.kind", "response"); n != 3 {
		t.Errorf("samples: got %d, want 3", n)
	}
}
