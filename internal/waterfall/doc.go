// Package waterfall draws the spans of one trace in a terminal: a tree with a bar for each span on the trace's time
// axis.
//
// Start with [Render], or with [Arrange] to draw the same elsewhere; the spans are plain values, so the package needs
// no OpenTelemetry and no gRPC. The command's demonstration gets them from package otlpsink.
//
// What may surprise:
//
//   - Everything in a span may come from a peer. Control and other unprintable characters become U+FFFD, so a name
//     cannot move the cursor, set a colour or start a line; text is cut to its column, counting wide characters as two.
//   - No line is wider than [Options.Width], but wrapping is a terminal's decision: a terminal that gives a character
//     another width than Unicode does may still wrap.
//   - Two processes have two clocks. A span of another service than its parent's that lies outside it by more than a
//     millisecond is drawn inside, moved or cut, and a line below says so. The duration is always the one measured.
//   - A span whose parent is not among the spans hangs below a line that stands for the parent. Spans whose parents
//     form a loop are drawn all the same, one of them as a root.
package waterfall
