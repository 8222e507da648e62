package shop

import (
	"testing"
	"testing/synctest"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// TestProcessIsKilledAfterTheOtherCallsHaveEnded makes a call whose span ends later than the client's answer arrives.
func TestProcessIsKilledAfterTheOtherCallsHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls openCalls
		tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(&calls)).Tracer("")
		start := func(name string, kind trace.SpanKind) trace.Span {
			_, span := tracer.Start(t.Context(), name, trace.WithSpanKind(kind))
			return span
		}
		start("subscriptions/listen", trace.SpanKindServer)
		start("tools/call add", trace.SpanKindClient)
		before := start("tools/call add", trace.SpanKindServer)
		start("tools/call crash", trace.SpanKindServer)
		alone := make(chan error, 1)
		go func() { alone <- calls.awaitLast(t.Context()) }()
		synctest.Wait()
		if len(alone) != 0 {
			t.Fatal("the process would be killed while a span has not ended")
		}
		before.End()
		synctest.Wait()
		if len(alone) != 1 {
			t.Fatal("the process is not killed")
		}
		if err := <-alone; err != nil {
			t.Fatal(err)
		}
	})
}
