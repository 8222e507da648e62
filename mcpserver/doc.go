// Package mcpserver is a server for the Model Context Protocol. It offers tools, resources and prompts, written as Go
// functions, to clients of every revision of the protocol, over standard input and output, HTTP or any other
// connection.
//
// Start with [New], add tools with [AddTool], and call [Server.ServeStdio], or mount a [Server.HTTPHandler]:
//
//	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
//	err := mcpserver.AddTool(s, &mcp.Tool{Name: "forecast"}, forecast)
//	…
//	err = s.ServeStdio(ctx)
//
// The function [AddTool] derives the JSON Schemas of a tool from the types of its function, validates the arguments
// before each call and the output after it. The method [Server.AddTool] passes the arguments on as the client sent
// them. With the option [TaskTool], both add tools that run longer than a client wants to wait. [Server.HandleRequest]
// handles custom methods.
//
// JSON Schemas of tools, derived or your own, are in one of two dialects: 2020-12, which is the default without
// $schema, and draft-07. Adding a tool fails if its schema has another dialect or refers to another document, because
// the server fetches no documents. Forms of [RequestInfo.Elicit] support only the few keywords that the specification
// allows in forms.
//
// [Server.AddResource] and [Server.AddResourceTemplate] add resources, and [Server.ResourceUpdated] notifies the
// clients that watch a resource. [Server.AddPrompt] adds prompts, and [Server.AddCompletion] completes their arguments.
// The server declares the capabilities of the features that have been added. To declare a feature before it is added,
// set it in the Capabilities of [Options]. The server adapts each message to the client's revision: it omits members
// that the revision does not have, and replaces content of unknown kinds by text.
//
// With [Server.Implement], the methods of one value provide some or all of these features; the value may keep data for
// each session. [RequestFrom] returns the request that a handler is handling, with its client and session; through it
// the handler reports progress and sends log messages. [RequestInfo.Elicit], [RequestInfo.CreateMessage] and
// [RequestInfo.ListRoots] ask the client, its user or its model for input while a request is handled.
//
// [HTTPOptions.Principal] identifies the user of a request; package bearer does so from access tokens. A test of a
// server can connect a client of package mcpclient in the same process:
//
//	client, err := mcpclient.Connect(ctx, transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
//		_ = s.Serve(ctx, peer)
//	}), nil)
//
// One connection may carry both eras of the protocol. If a request has a protocol version in its _meta, the server
// handles the request under that revision alone. initialize opens a legacy session, once for each connection. After
// that, requests without a version belong to the session. Before initialize, the server refuses requests without a
// version, except ping, because it would have to guess the revision.
//
// Possible surprises:
//
//   - Handlers run concurrently, up to [Limits.Concurrent] for a connection. Further requests wait in a queue, and the
//     server refuses requests when the queue is full. So the server never stops reading the connection, and
//     cancellations always arrive. There is one exception: if all calls of a tool have been fast so far, the server may
//     run the tool before it reads the next message. This delays the next message by about a millisecond at most.
//   - The context of a handler ends when the client cancels the request. The server then discards the handler's result.
//   - The client gets an error of a tool with its full text, as a result with isError, for the model to read. Return an
//     [*mcp.Error] to reject the request itself. After any other failure (an error of another handler, a panic, output
//     that violates its schema), telemetry records the failure, and the client gets a neutral message.
//   - Without [Options.Logging], the server discards log messages. It discards progress unless the client has requested
//     progress. Neither is an error.
//   - Over HTTP, every client that knows the id of a session or task may use it, unless bearer.Require or
//     [HTTPOptions.Principal] identifies the users.
//   - Requests to one server and rounds of one call may reach different processes, or this process after a restart. The
//     processes must then share [Options.StateKeys] and the stores.
//   - A handler that asks a modern client runs again from its beginning when the answer has arrived: see
//     [RequestInfo.AskAll] and [Once].
//   - While [Server.ServeStdio] runs, the standard output of the rest of the program is redirected to standard error.
//   - A client cannot end a connection by sending invalid data: the server answers an invalid line with an error,
//     counts it and reads on.
//   - Over HTTP, a modern client cancels a request by closing the response. When a legacy client closes the response,
//     the handler keeps running, and the client may reconnect to get the messages that it missed. The server refuses
//     web pages of other origins, and requests to a loopback address with a foreign host name; see [HTTPOptions].
package mcpserver
