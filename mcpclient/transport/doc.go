// Package transport carries frames, each one JSON-RPC message, between a client and a server it has opened a connection
// to.
//
// [Stdio] starts a server as a child process and talks to it over its standard streams; [HTTP] reaches one at a URL;
// [InMemory] talks to a function in the same process, for tests and embedding. Others implement [Transport] and [Conn]
// and prove it with package transporttest, which is the contract in executable form.
//
// A transport knows little of JSON-RPC beyond what a [Message] tells it, never repeats a message that the server may
// have acted on and never reconnects: it reports, and the client's state machine decides.
//
// What may surprise:
//
//   - A frame is delivered only to [Conn.Receive]. A client that does not receive stops the peer, whose pipe or window
//     fills.
//   - [Conn.Send] never waits for the peer. A frame it accepted may still be on its way; one it refused has not left
//     and never will.
//   - Over HTTP, each request has a stream of its own and can fail alone: [Frame.Err] says so and the connection goes
//     on.
//   - The context of [Transport.Dial] bounds the dialling. Nothing that happens to it later hurts the connection.
//   - [Conn.Close] lets the server end by itself as long as its context allows, and then kills it; if the context has
//     ended, at once. No process of the server's process group survives it, nor does any survive the server's own end.
//   - A server that leaves its process group, as a daemon does, is out of reach on Unix. On Windows a job object holds
//     it.
package transport
