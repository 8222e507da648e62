// Package web serves MCP over HTTP. Clients of every revision use the same URL, over any HTTP transport that the
// specification has defined.
//
// A [Handler] processes an HTTP request from its arrival to its response: it checks origin and host, limits concurrency
// and memory, reads headers and body, finds the session, and selects the stream on which a client can resume. A message
// of a modern client is independent of all others and becomes a [Stateless] request; a legacy client gets a session.
// With a store, several processes share sessions and streams. The core (package rpc) and the [Server] process the
// content of a message. A session holds a [Conn] to the server.
//
// The package knows no feature's methods and no tasks. Package mcpserver uses it.
package web
