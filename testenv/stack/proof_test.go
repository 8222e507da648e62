package stack_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/testenv/stack/jaeger"
)

// pairs returns all tested pairs.
func pairs() []*pair {
	pipe := map[string]any{"network.transport": "pipe"}
	tcp := map[string]any{"network.transport": "tcp", "network.protocol.name": "http"}
	return slices.Concat(
		eras(pair{name: "in memory", connect: inMemory, connecting: connecting,
			clientAttributes: map[string]any{"network.transport": nil}}),
		eras(pair{name: "stdio", connect: overStdio, connecting: connecting, clientAttributes: pipe, serverAttributes: pipe}),
		eras(pair{name: "HTTP", connect: overHTTP(transport.ModeStreamable), connecting: connecting, closesToCancel: true,
			more: []calling{sentAgain}, clientAttributes: tcp, serverAttributes: tcp}),
		[]*pair{{name: "HTTP+SSE, 2025-11-25", connect: overHTTP(transport.ModeSSE), connecting: connecting,
			clientAttributes: tcp, serverAttributes: tcp}},
		[]*pair{
			{name: "stdio, B3, OTLP/HTTP", modern: true, connect: overStdio, connecting: connecting, propagator: "b3",
				clientAttributes: pipe, serverAttributes: pipe},
			{name: "HTTP, X-Ray, OTLP/HTTP", connect: overHTTP(transport.ModeStreamable), connecting: connecting,
				propagator: "xray", clientAttributes: tcp, serverAttributes: tcp},
		},
		eras(pair{name: "Go SDK, stdio", connect: theirsOverStdio, hidden: true, callings: theirCallings,
			clientAttributes: pipe, serverAttributes: pipe}),
		eras(pair{name: "Go SDK, HTTP", connect: theirsOverHTTP, hidden: true, callings: theirCallings, clientAttributes: tcp,
			serverAttributes: tcp}),
		eras(pair{name: "mcp-grafana, stdio", server: grafana, connect: grafanaOverStdio, callings: grafanaCallings,
			clientAttributes: pipe}),
		eras(pair{name: "mcp-grafana, HTTP", server: grafana, connect: grafanaOverHTTP, closesToCancel: true,
			callings: grafanaCallings, clientAttributes: tcp}),
		eras(pair{name: "node, stdio", connect: nodeOverStdio, callings: nodeCallings, clientAttributes: pipe}),
		eras(pair{name: "node, HTTP", connect: nodeOverHTTP, closesToCancel: true, callings: nodeCallings,
			clientAttributes: tcp}),
	)
}

// TestEveryCallIsOneTraceInJaeger makes calls of every kind, many at once, and then requests the trace of each from
// Jaeger.
func TestEveryCallIsOneTraceInJaeger(t *testing.T) {
	for _, p := range pairs() {
		t.Run(p.name, func(t *testing.T) { prove(t, p) })
	}
}

// placed is a call that was made.
type placed struct {
	calling calling
	trace   string
}

func prove(t *testing.T, p *pair) {
	ctx := limit(t, 2*time.Minute)
	always := map[string]any{
		"mcp.protocol.version": string(p.version()), "mcp_client.name": "proof",
		"mcp_client.instance.id": anyValue{}, "jsonrpc.request.id": anyValue{},
	}
	if p.hidden {
		always["jsonrpc.request.id"] = nil
	}
	p.clientAttributes = with(always, p.clientAttributes)
	if p.propagator != "" {
		t.Setenv("OTEL_PROPAGATORS", p.propagator)
		t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver(up))
	}
	providers := service(t, up, p.clientName())
	connectCtx, connect := providers.TracerProvider().Tracer("proof").Start(ctx, callerSpan, trace.WithNewRoot())
	c, err := p.connect(t, connectCtx, p, providers)
	connect.End()
	if err != nil {
		t.Fatal(err)
	}
	kinds := callings
	if p.callings != nil {
		kinds = p.callings
	}
	calls := makeAll(t, ctx, p, c, providers, append(kinds(p), p.more...))
	if p.hidden {
		awaitServed(t, ctx, calls)
	}
	if err := c.close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := providers.ForceFlush(ctx); err != nil {
		t.Fatal(err)
	}
	if len(calls) < 50 {
		t.Errorf("want 50 calls, got %d", len(calls))
	}
	settle(t, ctx, providers)
	if p.connecting != nil {
		check(t, ctx, p, placed{calling{name: "connect", below: p.connecting}, connect.SpanContext().TraceID().String()})
	}
	right := 0
	for i, m := range calls {
		if check(t, ctx, p, m) {
			right++
		}
		if i-right > 5 {
			t.Fatal("and so on")
		}
	}
	t.Logf("%d of %d calls are one trace each, as it should be", right, len(calls))
}

// makeAll makes the calls, eight at a time and in turns, each below a span of its caller.
func makeAll(t *testing.T, ctx context.Context, p *pair, c client, providers *otlp.Providers,
	kinds []calling) []placed {
	t.Helper()
	var turns []calling
	for round := 0; ; round++ {
		n := len(turns)
		for _, k := range kinds {
			if round < k.times*max(1, p.rounds) {
				turns = append(turns, k)
			}
		}
		if len(turns) == n {
			break
		}
	}
	calls := make([]placed, len(turns))
	places := make(chan struct{}, 8) // limits the number of concurrent calls
	var working sync.WaitGroup
	for i, k := range turns {
		places <- struct{}{}
		working.Go(func() {
			defer func() { <-places }()
			calls[i] = placed{k, makeOne(t, ctx, c, providers, &k)}
		})
	}
	working.Wait()
	return calls
}

// awaitServed waits until the server has finished the abandoned calls. The official SDK notifies the server in the
// background; closing the connection could come first.
func awaitServed(t *testing.T, ctx context.Context, calls []placed) {
	t.Helper()
	for _, m := range calls {
		if m.calling.timeout == 0 && m.calling.cancel == 0 {
			continue
		}
		if tr, err := up.Traces.Await(ctx, m.trace, func(tr *jaeger.Trace) bool {
			return len(tr.Find("SERVER", "")) > 0
		}); err != nil {
			t.Errorf("%s: %v\n%v", m.calling.name, err, tr)
		}
	}
}

const callerSpan = "caller"

// makeOne makes a call and returns its trace.
func makeOne(t *testing.T, ctx context.Context, c client, providers *otlp.Providers, k *calling) string {
	ctx, span := providers.TracerProvider().Tracer("proof").Start(ctx, callerSpan, trace.WithNewRoot())
	defer span.End()
	if k.cancel > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer time.AfterFunc(k.cancel, cancel).Stop()
	}
	if got, err := c.call(ctx, k); got != k.outcome {
		t.Errorf("%s: want the outcome %s, got %s: %v", k.name, k.outcome, got, err)
	}
	return span.SpanContext().TraceID().String()
}

// settle waits until all exported data have passed the Collectors: it exports one more span and waits until that span
// is in Jaeger.
func settle(t *testing.T, ctx context.Context, providers *otlp.Providers) {
	t.Helper()
	_, span := providers.TracerProvider().Tracer("proof").Start(ctx, "last", trace.WithNewRoot())
	span.End()
	if err := providers.ForceFlush(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := up.Traces.Await(ctx, span.SpanContext().TraceID().String(), func(*jaeger.Trace) bool {
		return true
	}); err != nil {
		t.Fatal(err)
	}
}

// check waits until a trace is as expected, and reports whether it is.
func check(t *testing.T, ctx context.Context, p *pair, m placed) bool {
	t.Helper()
	want := node{kind: "INTERNAL", name: callerSpan, service: p.clientName(), below: m.calling.below(p)}
	if p.proxy != "" {
		want = through(p, want)
	}
	waiting, cancel := context.WithTimeoutCause(ctx, 3*time.Second, errors.New("3 s have passed"))
	defer cancel()
	var wrong []string
	trace, err := up.Traces.Await(waiting, m.trace, func(tr *jaeger.Trace) bool {
		wrong = append(verify(tr, want), correlation(tr, p.clientName())...)
		return len(wrong) == 0
	})
	switch {
	case trace == nil:
		t.Errorf("%s: %v", m.calling.name, err)
	case err != nil:
		t.Errorf("%s: %s", m.calling.name, show(wrong, trace))
	}
	return err == nil
}

// correlation requires one correlation id on all requests of a client in a trace, and a different JSON-RPC id on each.
// A server's span has the JSON-RPC id of the request that it answers.
func correlation(tr *jaeger.Trace, client string) (wrong []string) {
	var corr any
	ids := map[any]bool{}
	for _, s := range tr.Find("CLIENT", "") {
		if !strings.HasPrefix(s.Name, "tools/call") || s.Service != client {
			continue
		}
		if corr == nil {
			corr = s.Attributes["mcp_client.corr_id"]
		}
		if got := s.Attributes["mcp_client.corr_id"]; got == nil || got != corr {
			wrong = append(wrong, fmt.Sprintf("%v: want the corr_id %v, got %v", s, corr, got))
		}
		id := s.Attributes["jsonrpc.request.id"]
		if id != nil && ids[id] {
			wrong = append(wrong, fmt.Sprintf("%v: the id %v again", s, id))
		}
		ids[id] = true
		for _, served := range tr.Children(s.ID) {
			if got := served.Attributes["jsonrpc.request.id"]; served.Kind == "SERVER" && got != nil && id != nil && got != id {
				wrong = append(wrong, fmt.Sprintf("%v: want the id %v, got %v", served, id, got))
			}
		}
	}
	return wrong
}
