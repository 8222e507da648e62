// Package telemetry is what the client and the server of this module emit: spans, metrics and log records through
// the OpenTelemetry API, log records through slog if the user wants that, all under one published schema.
//
// This is the package for users of a client or a server. Start at [New] and give the result to the client's or the
// server's options; without it they use the global OpenTelemetry providers. [WithContentCapture] puts
// what tools are given and return onto spans, [WithSpanAttributesFn] what the program knows, [WithFilter] leaves spans
// out, [WithProfileLabels] names tools in profiles; [Operation] and [FlightEntry]
// are what package inspect shows of the latest requests.
//
// The other packages:
//
//   - Package telemetry/schema is the contract as data: every event, span, metric and attribute with its type, unit,
//     values and stability. Package telemetry/names has a constant for each of their names.
//   - Package telemetry/otlp sets up the SDK of OpenTelemetry; package telemetry/telemetrytest records what a test
//     emits.
//
// What may surprise:
//
//   - The package imports the API of OpenTelemetry and never its SDK. Package telemetry/otlp sets up the SDK.
//   - mcp.client.* and mcp.server.* are about the sender and the receiver of a message, as the conventions have it. A
//     client that answers a request of its server records mcp.server.operation.duration. mcp_client.* and mcp_server.*
//     are ours and are about the process: all that a client emits of its own begins with mcp_client.
//   - An error that a server answers with because of what the client sent (unknown method, invalid params and the like)
//     is an error on the client's span and not on the server's.
//   - No span lives as long as a connection or a session. A connection is seen through its attempts, its transitions
//     and the state gauge.
//   - A result in which the tool reports an error ends its span with status ERROR and error.type tool_error.
//   - If a caller's span is not sampled, the SDK's default sampler does not sample the server's span either, even if
//     the HTTP request around it has a sampled span. For callers that are not trusted the server decides by itself, and
//     links their span: those over HTTP that have no principal (see HTTPOptions of package mcpserver), and those of
//     whom [WithPublicEndpointFn] says so.
//   - Baggage goes over a network only by the keys of [WithBaggageKeys]. [ContextWithConversation] writes into it whose
//     calls a program makes; package telemetry/otlp copies chosen members of it to spans and log records.
//   - Metrics carry no names without a limit: a tool beyond [WithToolNameLimit], an unknown method and a rare error
//     code are _OTHER there, and themselves on the span.
package telemetry
