// Package explain names the cause of what went wrong in a trace, from what telemetry knows of it.
//
// Start with [Explain], a pure function of [Facts]: the spans of one trace, and what the clients and servers that are
// part of it have in their flight recorders. It first finds the operation that the question is about, and its other end
// (call.go). Then a table of causes judges the facts, the most certain first (table.go); a judge does nothing but read
// them.
//
// What may surprise:
//
//   - There is no cause without evidence. A trace of which too little is known has none, and says what is missing.
//   - Texts of errors repeat words of the peer between quotation marks. No judge reads what stands there, so a server
//     cannot choose its cause by what it says (text.go).
//   - Texts of peers are in [Explanation.Quotes] and nowhere else, as they came but for what could not be shown.
package explain
