// Package machine decides the behaviour of a client's connection. It is pure: no goroutine, clock, random number,
// log line or I/O. Its owner passes in events, the time and a random number, and carries out the effects that a
// step returns.
//
// Start at the table in table.go: it is the complete behaviour, and the picture and tables of
// docs/state-machine.md are generated from it. [Policy.Step] looks up one cell of the table and enters the next
// state.
//
// Possible surprises:
//   - Deadlines are part of the state. There is one timer; it is set from Machine.Deadline after every step, and when
//     it fires, the event is [Elapsed].
//   - Every event of a connection carries the connection's epoch. An event of an older epoch is stale, and Step reports
//     ok=false without looking at the table.
//   - Calls are not states. The table handles one event of a call; package inflight knows which calls are in flight.
package machine

//go:generate go test -run TestGeneratedDocumentIsUpToDate -update
