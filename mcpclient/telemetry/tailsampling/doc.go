// Package tailsampling exports every call that failed or was slow, whole, and of the others a part.
//
// A sampler decides when a span starts, and does not know yet what becomes of it. So [Sampling] is two things that work
// together in one SDK: a sampler that chooses a part of the traces by their ids and has the spans of all others
// recorded, and a span processor that holds those until the outcome is known.
//
//	s, err := tailsampling.New(tailsampling.Options{Ratio: 0.02})
//	...
//	sdktrace.NewTracerProvider(
//		sdktrace.WithSampler(s.Sampler()),
//		sdktrace.WithSpanProcessor(s.Processor(sdktrace.NewBatchSpanProcessor(exporter))))
//
// With [go.opentelemetry.io/otel/sdk/trace] set up by package otlp, the option otlp.WithTailSampling does this.
//
// # What is exported
//
// Spans of a trace that the ratio chose are passed on as they end, as if there were nothing in between. Of the others,
// a span is kept if
//
//   - its status is Error: so are the calls that failed, were cancelled, timed out (also those whose answer came late)
//     or lost their connection;
//   - it has mcp.method.name and lasted [Options.Slow] or longer, unless it waits for a person, a task, or news
//     (elicitation/create, tasks/result, subscriptions/listen);
//   - it has mcp.method.name, and error.type (as the caller's own span of a call has that failed), or was sent again
//     (mcp_client.send.retries), or on the server's side was answered with an error for which the client is to blame
//     (rpc.response.status_code), which is one on the client's side; or
//   - it follows one of this process that was kept: it repeats it (has a link to it), or is its child and starts after
//     its end.
//
// With a span that is kept all spans below it in this process are exported, as far as they are still held, and those
// above it: at once if they have ended, as the request has of a task, else when they end. A span is held while a span
// above it, or below it, goes on. When none does, it is dropped.
//
// # What is held
//
// What is held has a bound in bytes, [Options.MaxBytes]. Beyond it the span that ended first is let go of, and
// [Stats.Evicted] counts it. A call that has ended without fault inside a long span, as that of an agent's session, is
// held until the session ends or room is needed, so a session of many calls evicts some and nothing is wrong.
//
// # Both ends
//
// Each process decides for itself, by the rules of consistent probability sampling. The threshold is in tracestate
// (ot=th), so a server exports its part of just those traces of which the client exports the calls, whatever ratio it
// has itself. An error is seen on both ends. A request that repeats one that failed is sampled from its start, so the
// server keeps its part. What only the client can know, a network that was slow, is kept by the client alone.
//
// A peer that causes errors has them exported, as with all sampling by outcome: the queue of the exporter is the bound.
//
// # Counting spans
//
// A span that is kept for what it is has the threshold zero: it stands for itself. Others in a trace that the ratio
// chose have that of the ratio. One that is exported for company has none, since others stand for it: leave those out
// when you count by thresholds. What does not know of it, as the Collector's span_metrics, counts it as one.
//
// Spans that are dropped were recorded, so they cost what sampled ones cost but for the export.
package tailsampling
