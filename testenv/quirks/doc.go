// Package quirks has MCP servers that refuse server/discover in every way that has been seen or must be expected of
// servers older than it, and then serve the protocol in their own way. A client that prefers the newest revision has to
// get along with each of them.
//
// [OverHTTP] and [OverStdio] list them. A server over HTTP is an [http.Handler]; one over stdio is run in a process of
// its own by [ServeStdio]. All offer one tool, echo, which returns its argument text. They share no code with the
// client.
package quirks
