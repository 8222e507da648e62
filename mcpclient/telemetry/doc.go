// Package telemetry configures the telemetry of the client and the server of this module: spans, metrics and log
// records through the OpenTelemetry API, or log records through slog, all under one published schema.
//
// This is the package for users of a client or a server. Pass the result of [New] to the options of the client or
// server; by default they use the global OpenTelemetry providers. [WithContentCapture] records arguments and results
// of tools on spans, [WithSpanAttributesFn] adds attributes of the program, [WithFilter] omits spans, and
// [WithProfileLabels] names tools in profiles. Package inspect shows the latest requests as [Operation] and
// [FlightEntry].
//
// The other packages:
//
//   - Package telemetry/names has a constant for each name. The contract as data is schema.json, with the type, unit,
//     values and stability of each name: see docs/telemetry.md.
//   - Package telemetry/otlp sets up the OpenTelemetry SDK; package telemetry/telemetrytest records and checks the
//     telemetry of a test.
//
// Surprises:
//
//   - The package imports the OpenTelemetry API and never the SDK. Package telemetry/otlp sets up the SDK.
//   - mcp.client.* and mcp.server.* describe the sender and the receiver of a message, as in the semantic conventions.
//     A client that answers a request of its server records mcp.server.operation.duration. mcp_client.* and
//     mcp_server.* are names of this module and describe the process: those of a client start with mcp_client.
//   - If a client sends a faulty request (unknown method, invalid params), the error is on the client's span and not on
//     the server's span.
//   - No span lives as long as a connection or a session. Attempts, transitions and the state gauge show a connection.
//   - If a tool reports an error in its result, the span has the status ERROR and error.type tool_error.
//   - If a caller's span is not sampled, the SDK's default sampler does not sample the server's span either, even if
//     the HTTP request around it has a sampled span. For an untrusted caller, the server makes its own sampling
//     decision, and the server's span has a link to the caller's span. A caller is untrusted if it comes over HTTP
//     without a principal (see HTTPOptions of package mcpserver), or if the function of [WithPublicEndpointFn] returns
//     true.
//   - Only baggage with the keys of [WithBaggageKeys] crosses a network. [ContextWithConversation] adds the
//     conversation, agent and user to the baggage; package telemetry/otlp copies chosen members to spans and log
//     records.
//   - Names on metrics are limited: tools beyond [WithToolNameLimit], unknown methods and rare error codes are _OTHER
//     on metrics, while spans have the real name.
package telemetry
