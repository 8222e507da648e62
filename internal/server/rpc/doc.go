// Package rpc is the core of the server: it processes a client's messages from the frame to the answer.
//
// An [Exchange] carries the messages of one client. The goroutine that reads a frame calls [Exchange.Receive]. A
// request becomes a [Call]. Every call is admitted, handled and answered on the same path, which applies limits,
// refuses duplicate ids, recovers panics of handlers, handles cancellation and ends the operation in telemetry. A
// [Handler] handles a request according to its method, the [Server] handles all other messages of a client, and a
// [Sink] sends the answers.
//
// The package knows no method of a feature, no HTTP, no task and no relay. Its users are packages engine, web and
// tasks.
package rpc
