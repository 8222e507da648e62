// Package otlpsink receives OpenTelemetry's traces, metrics and logs over OTLP/gRPC and OTLP/HTTP in this process and
// keeps them, so that a program can draw them and a test can assert on the data on the wire.
//
// Start with [Listen], and with [Sink.ListenHTTP] for HTTP. Export to [Sink.Endpoint], and read with [Sink.Snapshot] or
// wait with [Sink.WaitFor].
//
// Details that may surprise:
//
//   - The sink listens only on the loopback, without TLS; it is not a replacement for a collector.
//   - It keeps the newest 100 000 spans, metric points and log records each, or fewer if their messages exceed 128 MiB.
//     [Snapshot.Dropped] counts the rest.
//   - Elements are flattened: each span, point and record has its resource and scope. Elements of one message share
//     their resource map; callers must not modify a Snapshot.
//   - Each export of a metric adds a point. The last point is the newest, and a cumulative point holds the sum.
package otlpsink
