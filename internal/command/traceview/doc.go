// Package traceview serves what package otlpsink has received as pages: the traces, each as a waterfall with all that
// is known of its spans and with the log records written meanwhile, the metrics as they stand, and the logs. It also
// shows a trace that a Jaeger has.
//
// Start with [New], which makes an [http.Handler] for an address of its own: the pages link to each other by absolute
// paths. Each page is JSON too, at its path with .json behind it, or for who accepts nothing else.
//
// What may surprise:
//
//   - Who is served: the loopback, under a name of the loopback. See package loopback.
//   - The tree and the clock skew are those of package waterfall, so terminal and page agree.
//   - A page has a bound whatever it is given, see limits.go, and says what it leaves out. Spans in error are the last
//     to be left out. The JSON has everything that is still kept.
//   - Metrics are merged over the processes of a service: two servers of one name have one row, with the sum of both.
package traceview
