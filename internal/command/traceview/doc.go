// Package traceview serves the telemetry that package otlpsink has received as pages: the traces, each as a waterfall
// with the details of its spans and the log records of the trace, the current metrics, and the logs. It also shows
// traces from a Jaeger.
//
// Start with [New], which returns an [http.Handler] for its own address: the pages link to each other by absolute
// paths. Each page is also available as JSON: at its path with .json appended, or at its own path if the client accepts
// only JSON.
//
// Properties:
//
//   - The pages are available only at a loopback address and under a name of the loopback. See package loopback.
//   - Package waterfall computes the tree and the clock skew, so the terminal and the page show the same.
//   - The size of a page is bounded (limits.go), and the page shows the number of omitted elements. The page omits
//     spans without an error first. The JSON contains everything in memory.
//   - Metrics are merged over the processes of a service: two servers with the same name share a row with their sum.
package traceview
