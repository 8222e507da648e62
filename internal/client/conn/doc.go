// Package conn is the core of the client: it keeps a server connected, and sends requests to it.
//
// [Conn] owns the state machine (package machine), the open connection with its [Session], and the table of the
// requests in flight (package inflight). One mutex guards all of these, so an event, the change of state and the
// end of requests are atomic; see step. [Link] is one connection with the goroutine that opens it, negotiates a
// revision by the handshake of its [Era], reads, and closes it. A [Reader] parses frames into messages.
//
// # Features
//
// Every message passes one function, send, which has the rules of sending. [Request.Do] makes a request and waits
// for the answer; [Request.Start] does not wait; [Request.OpenIn] opens a subscription that lasts until its
// answer. All of them begin with start, and finish gives each request its outcome, once. [Conn.Notify] sends a
// notification. The [Content] of a request defines its subject.
//
// [Features] handles unsolicited messages and the life of a session. A [LateAnswer] handles the answer to a
// request that was given up. The core names no method except those of the handshake, ping, and cancellation. It
// imports nothing of package mcpclient.
//
// # Assumptions
//
// A [transport.Conn] may be slow, broken or hostile, but returns when its context ends or it is closed. User code
// (transports, encoders, decoders, callbacks) may panic: package usercode calls it, and a panic ends one request,
// or one connection. Methods of Features that are called in the goroutine that reads must not wait.
package conn
