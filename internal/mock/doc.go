// Package mock serves a recording: it replays a recorded server to a host. It implements "mcpotel mock" and
// mcptest.Replay.
//
// [New] returns an mcpserver.Server, which supports all transports and revisions. Package recording assigns the
// recorded messages to the host's messages.
package mock
