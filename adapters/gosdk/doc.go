// Package gosdk instruments programs on the official Go SDK for MCP (github.com/modelcontextprotocol/go-sdk) with the
// telemetry of this module: the same spans, metrics, log records and trace context, so that a mixed fleet has one set
// of dashboards.
//
// Start with [InstrumentClient] and [InstrumentServer]: one line each, right after creating the client or server. The
// Schema of package telemetry lists everything that is emitted, and the options are those of telemetry.New.
//
// Details that may surprise:
//
//   - Middleware that was added before the instrumentation runs inside the spans. Middleware that is added later runs
//     around the spans. So a request that middleware sends twice has one span in the first case and two in the second.
//   - The SDK repeats a call for a server that asks for input (multi round-trip requests) inside its own middleware.
//     One CLIENT span covers all rounds; each round is a SERVER span under it.
//   - The SDK gives middleware neither the ids of requests nor the sizes of messages, and its middleware does not see
//     notifications/cancelled. README.md in the parent directory lists what is therefore not emitted.
//   - The SDK passes the context of a connection to the handlers of that connection, as long as it lives. The span in
//     this context does not become the parent of spans for the peer's messages, see [InstrumentServer].
package gosdk
