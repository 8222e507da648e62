// Package waterfall draws the spans of one trace in a terminal: a tree with a bar for each span on the trace's time
// axis.
//
// Start with [Render], or with [Arrange] to draw outside a terminal. Spans are plain values, so the package imports
// neither OpenTelemetry nor gRPC. The mcpotel command gets its spans from package otlpsink.
//
// Details that may surprise:
//
//   - Any text in a span may come from a peer. Control and other unprintable characters become U+FFFD, so a name cannot
//     move the cursor, set a colour or start a line. Text is cut to the width of its column; wide characters count as
//     two.
//   - No line is wider than [Options.Width]. A terminal whose character widths differ from Unicode may still wrap
//     lines.
//   - Two processes have two clocks. If a span of another service extends beyond its parent by more than a millisecond,
//     Render moves or cuts it to fit, and adds a note below. The printed duration is always the measured duration.
//   - A span with a missing parent is drawn below a line for the parent. If parents form a loop, one of its spans is
//     drawn as a root.
package waterfall
