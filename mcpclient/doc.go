// Package mcpclient is a client for the Model Context Protocol. Its connection is an explicit state machine, and every
// call can be seen in the telemetry.
//
// Start with [Connect] and a transport, call tools with [Client.CallTool] or [CallToolAs], and stop the client when it
// is no longer needed:
//
//	client, err := mcpclient.Connect(ctx, transport.Stdio{Command: "gopls", Args: []string{"mcp"}}, nil)
//	if err != nil {
//		return err
//	}
//	defer client.Stop(context.WithoutCancel(ctx))
//	result, err := client.CallTool(ctx, "go_workspace", nil)
//
// What else a server offers has its methods on [Client] too: [Client.Resources] and [Client.ReadResource],
// [Client.SubscribeResource], [Client.Prompts] and [Client.GetPrompt], [Client.Complete], [Client.SetLogLevel]. What
// the server sends and asks by itself goes to a [Feature] in the options, or to the methods whose names begin with On.
// A call of what the server has not declared fails at once with [ErrUnsupported].
//
// A client keeps its connection up until it is stopped: when the server dies, calls in flight fail, each once, and
// after a delay the next attempt begins. [Client.Status] and [Client.WaitForState] tell where it is; the states and
// what moves between them are in docs/state-machine.md. It speaks every revision from 2024-11-05 to 2026-07-28, and
// finds out by itself which one the server speaks.
//
// Spans, metrics and log records go where [Options.Telemetry] says, without it to the global OpenTelemetry providers. A
// call is a CLIENT span below the span of its context, and its trace context travels in the request.
//
// Many servers at once are a [Group]; package config reads the usual file of them, package auth authorizes, and a
// [telemetry.Telemetry] says where telemetry goes. Each part of the protocol has a runnable example, with a server of
// package mcpserver at the other end.
//
// What may surprise:
//
//   - Handlers are given in [Options.Features], because a server learns once, when it connects, which capabilities the
//     client has. Handlers that need no capability can also be added later: [Client.OnResourceUpdated] and the others
//     that begin with On.
//   - A modern server (2026-07-28) sends no log message before [Client.SetLogLevel], even if a handler waits for one.
//   - The context of [Connect] bounds Connect and nothing else.
//   - Calls time out after 30 seconds unless told otherwise.
//   - A tool that reports an error is a result, not a Go error; [CallToolAs] makes it one.
//   - Lists and resources that the server says are fresh are not asked for again; see [Options.NoCache].
//   - A call is not repeated when the connection is lost, for the server may have acted. [SafeToRetry] says when
//     repeating it cannot make it act twice. A server over HTTP that is busy is asked three times in all if it says
//     that it did nothing. If it does not say so, only methods that change nothing are repeated, and tools that the
//     server lists with readOnlyHint or idempotentHint.
//   - Strings and raw JSON in a large result share its memory: clone what is kept for long.
//   - Handlers of notifications run one at a time, in order, and may call the client; those of requests run at once.
//   - Handlers of changes are also called after a connection was lost, when the next is ready: they may have missed
//     something.
//   - Names in JSON match exactly: a field Value is not filled from "value" without a tag.
package mcpclient
