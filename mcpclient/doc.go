// Package mcpclient is a client for the Model Context Protocol. Its connection is an explicit state machine, and
// every call appears in the telemetry.
//
// Start with [Connect] and a transport, call tools with [Client.CallTool] or [CallToolAs], and close the client at
// the end:
//
//	client, err := mcpclient.Connect(ctx, transport.Stdio{Command: "gopls", Args: []string{"mcp"}}, nil)
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	result, err := client.CallTool(ctx, "go_workspace", nil)
//
// [Client] has methods for all other features of a server: [Client.Resources] and [Client.ReadResource],
// [Client.SubscribeResource], [Client.Prompts] and [Client.GetPrompt], [Client.Complete], [Client.SetLogLevel].
// Notifications and requests of the server go to a [Feature] in the options; [Client.Handle] adds handlers of
// notifications later. A call of a feature that the server has not declared fails at once with [ErrUnsupported].
//
// A client keeps its connection until it is closed: when the server dies, each call in flight fails once, and the
// client reconnects after a delay. [Client.Status] and [Client.WaitForState] report the state;
// docs/state-machine.md describes the states and transitions. The client supports every revision from 2024-11-05
// to 2026-07-28, and detects the revision of the server.
//
// Spans, metrics and log records go to [Options.Telemetry], by default to the global OpenTelemetry providers. A
// call is a CLIENT span below the span of its context, and the request carries its trace context.
//
// A [Group] is a set of clients for several servers. Package config reads the usual file of servers, package auth
// authorizes, and [telemetry.Telemetry] configures the telemetry. Each part of the protocol has a runnable
// example, with a server of package mcpserver at the other end.
//
// Possible surprises:
//
//   - Handlers are set in [Options.Features], because a server learns the client's capabilities once, when it connects.
//     Handlers of notifications need no capability, and [Client.Handle] can add them later.
//   - A modern server (2026-07-28) sends no log messages before [Client.SetLogLevel], even if the client has a handler.
//   - The context of [Connect] bounds only Connect.
//   - Calls time out after 30 seconds by default.
//   - A tool that reports an error is a result, not a Go error; [CallToolAs] makes it an error.
//   - Lists and resources that the server declares fresh are cached; see [Options.CacheSize].
//   - A call is not retried when the connection is lost, because the server may have acted. [SafeToRetry] reports
//     whether a retry cannot make the server act twice. A busy server over HTTP is asked up to three times if it states
//     that it did nothing. Otherwise only idempotent methods are retried, and tools that the server lists with
//     readOnlyHint or idempotentHint.
//   - Strings and raw JSON in a large result share its memory: clone values that are kept for long.
//   - Handlers of notifications run one at a time, in order, and may call the client; handlers of requests run
//     concurrently.
//   - Handlers of changes are also called after a lost connection was restored, because they may have missed a change.
//   - Names in JSON match exactly: a field Value is not filled from "value" without a tag.
package mcpclient
