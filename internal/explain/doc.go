// Package explain names the cause of a failed or slow operation of a trace.
//
// Start with [Explain], a pure function of [Facts]: the spans of one trace, and the flight recorders of the clients
// and servers that took part in it. Explain first selects the operation to explain and its counterpart on the other
// side (call.go). Then the rules of a table examine the facts, the most certain rule first (table.go). A rule only
// reads the facts.
//
// Three properties matter:
//
//   - Every cause has evidence. If the facts do not suffice, there is no cause, and the explanation lists the missing
//     sources.
//   - Error texts quote the peer between quotation marks. Rules ignore quoted text, so the wording of a server cannot
//     determine the cause (text.go).
//   - Texts of peers appear only in [Explanation.Quotes], unchanged except for characters that cannot be displayed.
package explain
