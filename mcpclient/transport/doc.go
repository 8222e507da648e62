// Package transport carries frames between a client and a server. Each frame is one JSON-RPC message.
//
// [Stdio] starts a server as a child process and uses its standard streams; [HTTP] connects to a URL; [InMemory]
// connects to a function in the same process, for tests and embedding. Other transports implement [Transport] and
// [Conn]; package transporttest is the executable contract that they must pass.
//
// A transport knows nothing of JSON-RPC except the fields of a [Message]. It never repeats a request that the server
// may have acted on, and it never reconnects: it reports failures, and the client's state machine decides.
//
// Possible surprises:
//
//   - Only [Conn.Receive] delivers frames. If a client stops receiving, the peer stops too, because its pipe or window
//     fills.
//   - [Conn.Send] never waits for the peer. An accepted frame may leave later; a refused frame has not left and never
//     will.
//   - Over HTTP, each request has its own stream and can fail alone: [Frame.Err] reports the failure, and the
//     connection stays open.
//   - The context of [Transport.Dial] bounds only the dialling. If the context ends later, the connection stays open.
//   - [Conn.Close] gives the server time to end by itself, and then kills the server; if the context has ended, Close
//     kills it at once. No process of the server's process group outlives Close or the server process itself.
//   - On Unix, Close cannot end a server that leaves its process group, as a daemon does. On Windows a job object keeps
//     such a server in reach.
package transport
