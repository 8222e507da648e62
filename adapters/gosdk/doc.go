// Package gosdk gives programs on the official Go SDK for MCP (github.com/modelcontextprotocol/go-sdk) the telemetry of
// this module: the same spans, metrics, log records and trace context, so that a fleet of both shows one picture.
//
// Start at [InstrumentClient] and [InstrumentServer]: one line each, right after the client or server is made.
// Everything emitted is in package telemetry's Schema, and the options are those of telemetry.New.
//
// What may surprise:
//
//   - Middleware added before this one is inside its spans, middleware added later around them. A middleware that sends
//     a request twice is two spans if it was added later, else one.
//   - The SDK repeats a call for a server that asks for input (multi round-trip requests) inside its own middleware.
//     The CLIENT span is one for all rounds; each round is a SERVER span under it.
//   - The SDK tells middleware neither the ids of requests nor the sizes of messages, and sends notifications/cancelled
//     past it. README.md beside this package lists what is not emitted for such reasons.
//   - The SDK hands the context that a connection was made with to the handlers of that connection, for its whole life.
//     Its span is not taken for the parent of anything a peer sends, see [InstrumentServer].
package gosdk
