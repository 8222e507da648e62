// Package mcpotel is an observability-first client and server for the Model Context Protocol.
//
// There is no code here. Start at package mcpclient to call the tools of a server and at package mcpserver to offer
// some; package mcp has the protocol's vocabulary, package mcpclient/telemetry what is emitted, and cmd/mcpotel the
// command.
package mcpotel
