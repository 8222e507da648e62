// Package web serves MCP over HTTP: clients of every revision under one URL, and each transport over HTTP that the
// specification has ever had.
//
// A [Handler] takes an HTTP request from its arrival to its response: origin and host, places and memory, headers and
// body, the session that it belongs to, and the stream on which a client can resume. A message of a modern client
// stands alone and is a [Stateless] request; a legacy client gets a session. With a store, processes share sessions and
// streams. What a message is about is the business of the core, package rpc, and of the [Server]; a session is a [Conn]
// to the server.
//
// The package names no method of a feature and no task. Package mcpserver is its user.
package web
