// Package mock serves a recording: what a server once said to a host, to another host that says the same. It is behind
// "mcpotel mock" and mcptest.Replay.
//
// [New] makes a server of mcpserver of it, which reads and writes for all transports and revisions; package recording
// says what belongs to which message of the host.
package mock
