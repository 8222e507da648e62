// Package fleet tests clients and servers of several SDKs with each other: it checks the same guarantees about the
// traces of their calls for each pair of a client library and a server library.
//
// Start at [Test]. A server of the fleet offers the tools in [Tools]; [Ours] and [Dial] provide this module's own
// server and client. [Served] runs the server in a child process.
package fleet
