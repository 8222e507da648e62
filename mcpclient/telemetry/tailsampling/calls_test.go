package tailsampling_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/tailsampling"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

func (s *sdk) telemetry() *telemetry.Telemetry {
	return telemetry.New(telemetry.WithTracerProvider(s.provider), telemetry.WithPropagators(propagation.TraceContext{}))
}

// ofKind returns the exported spans of tool calls, by trace.
func (s *sdk) ofKind(kind trace.SpanKind) map[trace.TraceID][]tracetest.SpanStub {
	all := map[trace.TraceID][]tracetest.SpanStub{}
	for _, span := range s.exported.GetSpans() {
		if span.SpanKind == kind && len(span.Name) > 10 && span.Name[:10] == mcp.MethodCallTool {
			id := span.SpanContext.TraceID()
			all[id] = append(all[id], span)
		}
	}
	return all
}

// A client and a server have their own SDKs. With a ratio of 2 %, both export all failed and slow calls, and both
// export the same 2 % of the other calls.
func TestBothEndsExportFailedAndSlowCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls, ratio = 4_000, .02
		client, server := newSDK(t, tailsampling.Options{Ratio: ratio}), newSDK(t, tailsampling.Options{Ratio: ratio})
		peer := mcptest.NewServer(t, &mcpserver.Options{Telemetry: server.telemetry()})
		type input struct {
			Do string `json:"do"`
		}
		work := func(ctx context.Context, in input) (string, error) {
			switch in.Do {
			case "fail":
				return "", errors.New("broken")
			case "sleep":
				time.Sleep(tailsampling.DefaultSlow)
			case "hang":
				<-ctx.Done()
				return "", context.Cause(ctx)
			}
			return "done", nil
		}
		if err := mcpserver.AddTool(peer.Server, &mcp.Tool{Name: "work"}, work); err != nil {
			t.Fatal(err)
		}
		c, err := mcpclient.Connect(t.Context(), peer, &mcpclient.Options{Telemetry: client.telemetry()})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()

		want := map[trace.TraceID]string{}
		for i := range calls {
			do := "nothing"
			switch i % 200 {
			case 50:
				do = "fail"
			case 100:
				do = "sleep"
			case 150:
				do = "hang"
			}
			ctx, around := client.Start(t.Context(), "turn of the agent")
			_, _ = c.CallTool(ctx, "work", input{do}, mcpclient.WithTimeout(2*tailsampling.DefaultSlow))
			if do != "nothing" {
				want[around.SpanContext().TraceID()] = do
			}
			around.End()
		}
		synctest.Wait() // handlers of timed-out calls have ended too

		sent, handled := client.ofKind(trace.SpanKindClient), server.ofKind(trace.SpanKindServer)
		for id, do := range want {
			if len(sent[id]) != 1 || len(handled[id]) != 1 {
				t.Errorf("a call with outcome %s has %d client spans and %d server spans, want 1 of each",
					do, len(sent[id]), len(handled[id]))
			}
		}
		if a, b := slices.Collect(maps.Keys(sent)), slices.Collect(maps.Keys(handled)); len(a) != len(b) {
			t.Errorf("want the same calls from both ends, got %d and %d", len(a), len(b))
		}
		for id := range sent {
			if len(handled[id]) == 0 {
				t.Errorf("the client's part of trace %s is exported, but the server's part is not", id)
			}
		}
		others := float64(len(sent)-len(want)) / float64(calls-len(want))
		if others < ratio/2 || others > ratio*2 {
			t.Errorf("want the ratio %v of the other calls, got %v", ratio, others)
		}
		for name, s := range map[string]*sdk{"client": client, "server": server} {
			if st := s.Stats(); st.Evicted != 0 {
				t.Errorf("want no eviction by the %s, got %+v", name, st)
			}
			t.Logf("%s: %+v", name, s.Stats())
		}
	})
}

// After a connection was lost, both ends export the lost calls, the failed attempts to connect and the repeated
// requests.
func TestCallsOfLostConnectionAreExported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := newSDK(t, tailsampling.Options{}), newSDK(t, tailsampling.Options{})
		peer := mcptest.NewServer(t, &mcpserver.Options{Telemetry: server.telemetry()})
		began := make(chan struct{}, 1)
		first := true
		work := func(ctx context.Context, _ struct{}) (string, error) {
			if first {
				first = false
				began <- struct{}{}
				<-ctx.Done()
				return "", context.Cause(ctx)
			}
			return "done", nil
		}
		tool := &mcp.Tool{Name: "work", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: new(true)}}
		if err := mcpserver.AddTool(peer.Server, tool, work); err != nil {
			t.Fatal(err)
		}
		c, err := mcpclient.Connect(t.Context(), peer, &mcpclient.Options{Telemetry: client.telemetry()})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.ListTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		ctx, around := client.Start(t.Context(), "turn of the agent")
		go func() {
			<-began
			peer.Refuse(errors.New("away"))
			peer.Kill()
			time.Sleep(5 * time.Second)
			peer.Refuse(nil)
		}()
		if _, err := c.CallTool(ctx, "work", struct{}{}, mcpclient.Retry(5)); err != nil {
			t.Fatal(err)
		}
		around.End()
		synctest.Wait()

		id := around.SpanContext().TraceID()
		if n := len(client.ofKind(trace.SpanKindClient)[id]); n < 2 {
			t.Errorf("want the lost call and its repetition from the client, got %d spans", n)
		}
		if n := len(server.ofKind(trace.SpanKindServer)[id]); n != 2 {
			t.Errorf("want both calls from the server, got %d spans", n)
		}
		attempts := 0
		for _, span := range client.exported.GetSpans() {
			if span.Name == "mcp_client.connect" {
				attempts++
			}
		}
		if attempts < 2 {
			t.Errorf("want the failed attempts and the successful one, got %d", attempts)
		}
	})
}
