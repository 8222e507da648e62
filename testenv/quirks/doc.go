// Package quirks provides MCP servers that reject server/discover in every way that older servers are known or expected
// to use, and then serve the protocol in their own way. A client that prefers the newest revision must work with all of
// them.
//
// [OverHTTP] and [OverStdio] list the servers. A server over HTTP is an [http.Handler]; [ServeStdio] runs a server over
// stdio in its own process. Each has one tool, echo, which returns its argument text. The servers share no code with
// the client.
package quirks
