// Package mcpserver serves the Model Context Protocol: tools, resources and prompts written as Go functions, offered to
// clients of every revision of the protocol, over standard input and output, HTTP or any other connection.
//
// Start with [New], add tools with [AddTool], and call [Server.ServeStdio], or mount a [Server.HTTPHandler]:
//
//	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
//	err := mcpserver.AddTool(s, &mcp.Tool{Name: "forecast"}, forecast)
//	…
//	err = s.ServeStdio(ctx)
//
// [AddTool] takes the JSON Schemas of a tool from the types of its function, checks arguments before and output after
// the call. [Server.AddRawTool] hands the arguments over as they came. [Server.HandleRequest] answers methods of one's
// own.
//
// JSON Schemas of tools, your own ones too, are of the dialects 2020-12, which holds without $schema, and draft-07. A
// tool with a schema of another dialect is refused when it is added, and so is one whose schema refers to another
// document: nothing is fetched. A form of [Elicit] has the few keywords that the specification gives to forms.
//
// [Server.AddResource] and [Server.AddResourceTemplate] offer what can be read, [Server.ResourceUpdated] tells clients
// that watch it; [Server.AddPrompt] offers prompts, and [Server.AddCompletion] completes their arguments. What is added
// is declared; to declare what comes later, set it in the Capabilities of [Options]. Each client is sent what its
// revision has: members that it does not know are left out, and content of a kind that it does not know is sent to it
// as text.
//
// [Server.Implement] takes all that, or a part of it, from the methods of one value, which may keep data for each
// session. [RequestFrom] tells a handler which request it answers, from whom and in which session; by it the handler
// reports progress and sends log messages. [Elicit], [CreateMessage] and [ListRoots] ask the client, its user or its
// model for something on the way.
//
// [AddTaskTool] is for what takes longer than a client likes to wait. [HTTPOptions.Principal] says who is asking;
// package bearer finds that out from access tokens. To test a server, let package mcpclient talk to it without a
// process between:
//
//	client, err := mcpclient.Connect(ctx, transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
//		_ = s.Serve(ctx, peer)
//	}), nil)
//
// One connection may carry both eras of the protocol. A request that brings its version in _meta is answered by that
// revision alone; initialize opens a legacy session, once, in which requests are answered from then on. What comes
// before or without either is refused, but for ping: its revision would have to be guessed.
//
// What may surprise:
//
//   - Handlers run at the same time, up to [Options.MaxConcurrent] for a connection. More requests wait in a queue, and
//     when that is full they are refused. So the connection is always read, and a cancellation always arrives. A tool
//     that has been quick is run before the next message is read, which waits about a millisecond for it at most.
//   - The context of a handler ends when the client cancels the request, and then nothing that the handler returns is
//     sent.
//   - An error that a tool returns is sent, text and all, as a result with isError, for the model to read. Return an
//     [*mcp.Error] to refuse the request itself. What else goes wrong (an error of any other handler, a panic, output
//     that does not fit its schema) the telemetry reports; the client learns only that something did.
//   - Log messages go nowhere without [Options.Logging], progress goes nowhere unless the client has asked for it, and
//     neither is an error.
//   - Over HTTP, sessions and tasks belong to every client that knows their ids unless it is known who is asking: by
//     bearer.Require, or what [HTTPOptions.Principal] says.
//   - Requests of one server and rounds of one call may come to another process, or to this one after a restart: then
//     [Options.StateKeys] and stores have to be shared.
//   - A handler that asks a modern client runs anew, from its beginning, when the answer is there: see [AskAll] and
//     [Once].
//   - While [Server.ServeStdio] runs, whatever else the program prints to standard output goes to standard error.
//   - Nothing that a client sends ends a connection: a line that is no message is answered, counted and left behind.
//   - Over HTTP, a modern client cancels a request by closing the response, and a legacy one does not: its handlers go
//     on without a connection, and it may come back for what it missed. Pages of other origins are refused, and so is a
//     server on a loopback address that is called by another name; see [HTTPOptions].
package mcpserver
