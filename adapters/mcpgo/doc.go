// Package mcpgo gives programs on mcp-go (github.com/mark3labs/mcp-go) the telemetry of this module: the same spans,
// metrics, log records and trace context, so that a fleet of both shows one picture.
//
// Start at [WrapTransport], for clients, and [InstrumentServer]: one line each. Everything emitted is in package
// telemetry's Schema, and the options are those of telemetry.New.
//
// What may surprise:
//
//   - A client is observed at its transport. The constructors that make one themselves, such as NewStdioMCPClient,
//     become NewClient with the transport of package transport that they would make.
//   - A server is observed through mcp-go's own tracer, propagators and hooks. InstrumentServer takes the place of a
//     tracer and of propagators that were set before; hooks stay.
//   - mcp-go shows a server neither the notifications that it receives nor those that it sends, and shows neither end
//     the sizes of messages. README.md beside this package lists what is not emitted for such reasons.
package mcpgo
