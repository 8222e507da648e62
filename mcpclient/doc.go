// Package mcpclient is a client for the Model Context Protocol. Its connection is an explicit state machine, and every
// call appears in the telemetry.
//
// Start with [Connect] and a transport, call tools with [Client.CallTool] or [CallToolAs], and close the client at the
// end:
//
//	client, err := mcpclient.Connect(ctx, transport.Stdio{Command: "gopls", Args: []string{"mcp"}}, nil)
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	result, err := client.CallTool(ctx, "go_workspace", nil)
//
// [Client] has methods for all other features of a server: [Client.Resources] and [Client.ReadResource],
// [Client.SubscribeResource], [Client.Prompts] and [Client.GetPrompt], [Client.Complete], [Client.SetLogLevel]. A
// [Feature] in the options handles notifications and requests of the server; [Client.Handle] adds handlers of
// notifications later. If the server has not declared a feature, calls of that feature fail at once with
// [ErrUnsupported].
//
// A client keeps its connection until the client is closed. When the server dies, each call in flight fails once, and
// the client reconnects after a delay. [Client.Status] and [Client.WaitForState] report the state;
// docs/state-machine.md describes the states and transitions. The client supports every revision from 2024-11-05 to
// 2026-07-28, and detects the revision of the server.
//
// Spans, metrics and log records go to [Options.Telemetry], by default to the global OpenTelemetry providers. Each call
// is a CLIENT span, a child of the span in its context, and the request carries the span's trace context.
//
// A [Group] is a set of clients for several servers. Package config reads the common JSON file of servers, package auth
// obtains authorization for a client, and [telemetry.Telemetry] configures the telemetry. Each part of the protocol has
// a runnable example with a server of package mcpserver.
//
// Possible surprises:
//
//   - Handlers are set in [Options.Features], because the client declares its capabilities once, when it connects.
//     Handlers of notifications need no capability, and [Client.Handle] can add them later.
//   - A modern server (2026-07-28) sends no log messages before [Client.SetLogLevel], even if the client has a
//     handler.
//   - The context of [Connect] bounds only Connect.
//   - Calls time out after 30 seconds by default.
//   - A tool that reports an error returns a result, not a Go error; [CallToolAs] turns it into an error.
//   - The client caches lists and resources that the server declares fresh; see [Options.CacheSize].
//   - The client does not retry a call when the connection is lost, because the server may have acted. [SafeToRetry]
//     reports whether the server certainly did not act, so that the caller can retry safely. Over HTTP, the client asks
//     a busy server up to three times if the server states that it did nothing. If a busy server does not state that,
//     the client retries only idempotent methods, and tools that the server lists with readOnlyHint or idempotentHint.
//   - Strings and raw JSON in a large result share its memory: clone values that you keep for long.
//   - Handlers of notifications run one at a time, in order, and may call the client; handlers of requests run
//     concurrently.
//   - Handlers of changes are also called after a lost connection was restored, because they may have missed a
//     change.
//   - JSON names must match exactly: "value" does not fill a field Value that has no tag.
package mcpclient
