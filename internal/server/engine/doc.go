// Package engine serves the clients of a server from the opening of a connection to its end: connections, HTTP handlers
// and sessions, their bounds, pings and shutdown, the observers of telemetry, and the state of all that for inspection.
//
// A [Server] has a [Role], which defines the use of the messages: features answer them, or a relay passes them on. The
// role has a [Client] for each connection and a [Handler] for each HTTP handler. It embeds an [Exchange] in a struct of
// its own, which implements the rest of [rpc.Server]. So a message leads to its role without a further allocation.
//
// The package names no feature. Of a relay, it knows the errors of package relay that end requests. Its users are
// packages mcpserver and internal/relay/downstream.
package engine
