// Package conn is the core of the client: it keeps a server connected, and makes requests to it.
//
// [Conn] owns the state machine (package machine), the one connection that is open, its [Session], and the table of the
// requests in flight (package inflight). One mutex guards all of it, so an event, what it does to the state and what it
// does to the requests are one moment; see step. [Link] is one connection and the goroutine that opens it, agrees on a
// revision by the handshake of its [Era], reads, and closes it. A [Reader] makes messages of frames.
//
// # What a feature does
//
// All that is sent passes one function, send, which has the rules of sending. A request is made by [Request.Do], which
// waits for the answer, by [Request.Start], which does not, or by [Request.OpenIn], which opens what lasts until its
// answer. All of them begin by start, and finish gives each request its outcome, once. [Conn.Notify] sends a
// notification. A request says what it is about by its [Content].
// What comes without being asked for is given to [Features]: notifications, requests of the server, and the moments of
// a session. A [LateAnswer] hears of the answer to a request that has been given up. The core names no method but those
// of the handshake, ping, and cancellation; it imports nothing of package mcpclient, and the compiler sees to that.
//
// # What it relies on
//
// A [transport.Conn] may be slow, broken or hostile, but returns when its context ends or it is closed. Code of the
// user's (transports, encoders, decoders, callbacks) may panic: it is called through package usercode, and its failure
// ends one request, or one connection. The methods of Features that are called in the goroutine that reads do not wait.
package conn
