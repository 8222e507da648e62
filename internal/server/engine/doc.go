// Package engine serves the clients of a server, from the opening of a connection to its end. It contains connections,
// HTTP handlers and sessions, their limits, pings and shutdown, the observers for telemetry, and the inspection of
// their state.
//
// A [Server] has a [Role], which defines how messages are handled: a feature answers them, or a relay forwards them.
// The role has a [Client] for each connection and a [Handler] for each HTTP handler. The role embeds an [Exchange] in a
// struct of its own, which implements the rest of [rpc.Server]. So a message reaches its role without another
// allocation.
//
// The package names no feature. From package relay it uses only the errors that end requests. Its users are packages
// mcpserver and internal/relay/downstream.
package engine
