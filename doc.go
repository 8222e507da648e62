// Package mcpotel is an observability-first client and server for the Model Context Protocol.
//
// This package contains no code. Use package mcpclient to call the tools of a server, and package mcpserver to offer
// tools. Package mcp contains the vocabulary of the protocol, package mcpclient/telemetry describes the emitted
// telemetry, and cmd/mcpotel is the command.
package mcpotel
