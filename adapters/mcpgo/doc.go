// Package mcpgo instruments programs on mcp-go (github.com/mark3labs/mcp-go) with the telemetry of this module: the
// same spans, metrics, log records and trace context, so that a mixed fleet has one set of dashboards.
//
// Start with [WrapTransport], for clients, and [InstrumentServer]: one line each. The Schema of package telemetry lists
// everything that is emitted, and the options are those of telemetry.New.
//
// Details that may surprise:
//
//   - A client is observed at its transport. Instead of a constructor that creates the transport, such as
//     NewStdioMCPClient, use NewClient with a wrapped transport of package transport.
//   - A server is observed through mcp-go's tracer, propagators and hooks. InstrumentServer replaces a tracer and
//     propagators that were set before; hooks stay.
//   - mcp-go exposes neither the notifications that a server receives or sends nor, at either end, the sizes of
//     messages. README.md in the parent directory lists what is therefore not emitted.
package mcpgo
