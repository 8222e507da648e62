// Package otlpsink receives OpenTelemetry's traces, metrics and logs over OTLP/gRPC and OTLP/HTTP in this process and
// keeps them, so that a demonstration can draw them and a test can assert on what really went over the wire.
//
// Start with [Listen], and [Sink.ListenHTTP] if HTTP is wanted too, point an exporter at [Sink.Endpoint], and look with
// [Sink.Snapshot] or wait with [Sink.WaitFor].
//
// What may surprise:
//
//   - It listens on the loopback only and in plain text; it is no collector.
//   - It keeps the newest 100 000 of each of spans, metric points and log records, fewer if they came in more than 128
//     MiB. [Snapshot.Dropped] counts the others.
//   - Things are flattened: each span, point and record carries its resource and scope. Resource maps are shared among
//     what came in one message; nothing in a Snapshot may be modified.
//   - A metric point is kept each time it is exported. The newest is the last, and a cumulative one holds the sum.
package otlpsink
