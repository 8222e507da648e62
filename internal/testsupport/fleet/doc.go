// Package fleet tests clients and servers of several SDKs with each other: one table of promises about the traces of
// the calls between them, for each pair of a client library and a server library.
//
// Start at [Test]. A server of the fleet offers the tools of [Tools]; [Ours] and [Dial] are this module's own server
// and client. [Served] is the server as a child process.
package fleet
