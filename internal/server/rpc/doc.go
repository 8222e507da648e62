// Package rpc is the core of the server: it takes a client's messages from their frames to their answers.
//
// An [Exchange] carries the messages of one client. The goroutine that brings a frame calls [Exchange.Receive]. A
// request becomes a [Call], which is admitted, handled and answered on one path: bounds, duplicate ids, panics of
// handlers, cancellation and the end of the operation in telemetry are rules of this path. A [Handler] defines the
// subject of a request, the [Server] handles all other messages of a client, and a [Sink] carries the answers.
//
// The package names no method of a feature, no HTTP, no task and no relay. Its users are packages engine, web
// and tasks.
package rpc
