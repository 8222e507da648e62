// Package traceview serves the telemetry that package otlpsink has received as pages: the traces, each as a waterfall
// with the details of its spans and the log records of the trace, the current metrics, and the logs. It also shows
// traces from a Jaeger.
//
// Start with [New], which returns an [http.Handler] for its own address: the pages link to each other by absolute
// paths. Each page is available as JSON, at its path with .json appended, or for clients that accept only JSON.
//
// What may surprise:
//
//   - The pages are served to the loopback only, under a name of the loopback. See package loopback.
//   - Package waterfall computes the tree and the clock skew, so terminal and page agree.
//   - The size of a page is bounded, see limits.go, and the page states how much it omits. It omits spans in error
//     last. The JSON has everything that is still kept.
//   - Metrics are merged over the processes of a service: two servers of one name share a row with their sum.
package traceview
