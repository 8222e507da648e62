// Package conn is the core of the client: it keeps a server connected, and sends requests to it.
//
// [Conn] owns the state machine (package machine), the open connection with its [Session], and the table of the
// requests in flight (package inflight). One mutex guards all of these, so an event, the change of state and the end of
// requests are atomic; see step. [Link] is one connection. The connection's own goroutine opens the connection,
// negotiates a session as an [Introduction] defines, reads, and closes the connection. A [Reader] parses frames into
// messages.
//
// # Features
//
// Every message passes through one function, send, which contains the rules of sending. [Request.Do] sends a request
// and waits for the answer; [Request.Start] does not wait; [Request.OpenIn] opens a subscription that lasts until its
// answer. All three begin with start, and finish gives each request exactly one outcome. [Conn.Notify] sends a
// notification. The [Content] of a request defines its subject.
//
// [Features] handles unsolicited messages and the beginning and end of a session. A [LateAnswer] handles the answer to
// a request that was given up. The core names no method except those of the handshake, ping, and cancellation. It
// imports nothing from package mcpclient.
//
// # Assumptions
//
// A [transport.Conn] may be slow, broken or hostile, but it returns when its context ends or it is closed. User code
// (transports, encoders, decoders, callbacks) may panic. Package usercode calls such code, and a panic ends one request
// or one connection. Methods of Features that are called in the goroutine that reads must not block.
package conn
