// Package tailsampling exports every failed or slow call completely, and a part of the other calls.
//
// A sampler decides when a span starts and does not know its outcome. So [Sampling] consists of two parts of one SDK:
// a sampler, which chooses a part of the traces by their ids and makes the SDK record the spans of all other traces,
// and a span processor, which holds these other spans until their outcome is known.
//
//	s, err := tailsampling.New(tailsampling.Options{Ratio: 0.02})
//	...
//	sdktrace.NewTracerProvider(
//		sdktrace.WithSampler(s.Sampler()),
//		sdktrace.WithSpanProcessor(s.Processor(sdktrace.NewBatchSpanProcessor(exporter))))
//
// With package otlp, the option otlp.WithTailSampling does this.
//
// # What is exported
//
// Spans of a trace that the ratio chose are passed on as they end. Of all other traces, a span is kept if
//
//   - its status is Error, as for calls that failed, were cancelled, timed out (even if their answer came late) or lost
//     their connection;
//   - it has mcp.method.name and lasted [Options.Slow] or longer, unless it waits for a person, a task, or news
//     (elicitation/create, tasks/result, subscriptions/listen);
//   - it has mcp.method.name, and error.type, as on the caller's own span of a failed call;
//   - it has mcp.method.name, and mcp_client.send.retries, because sending was retried;
//   - it has mcp.method.name and is the span of a server with rpc.response.status_code: the client caused the error,
//     so only the client's span has the status Error; or
//   - it follows a kept span of this process: either it has a link to the kept span, because its request repeats the
//     request of the kept span, or it is a child of the kept span and starts after the end of the kept span.
//
// With a kept span, the held spans below it in this process are exported, and all spans above it. A span above it that
// has already ended, like the request of a task, is exported at once, and any other span at its end. A span is held
// while a span above or below it is open. Afterwards it is dropped.
//
// # Memory
//
// [Options.MaxBytes] bounds the memory for held spans. Beyond the bound, the span that ended first is evicted, and
// [Stats.Evicted] counts it. A successful call inside a long span, such as an agent's session, is held until the
// session ends or memory runs short. So a long session evicts some calls, and that is normal.
//
// # Both ends
//
// Each process decides for itself, by the rules of consistent probability sampling. The threshold is in tracestate
// (ot=th), so a server exports its spans of exactly the traces that the client exports, whatever the server's own
// ratio. Both ends see an error. A request that repeats a failed request is sampled from its start, so the server
// exports its own spans of that request too. Only the client can know that the network was slow; then only the client
// exports its spans.
//
// A peer that causes errors causes exports, as with all sampling by outcome. The exporter's queue bounds them.
//
// # Counting spans
//
// A span that was kept for its outcome has the threshold zero: it counts as one span. Other spans of a trace that the
// ratio chose have the threshold of the ratio. A span that was exported only with a kept span has no threshold, since
// other spans represent it: ignore such spans when counting by thresholds. Tools that do not know this, like the
// Collector's span_metrics, count it as one.
//
// Dropped spans were recorded, so they cost as much as sampled spans except for the export.
package tailsampling
