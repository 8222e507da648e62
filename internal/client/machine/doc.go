// Package machine defines the behaviour of a client's connection as a pure state machine, without goroutines, a clock,
// random numbers, logging or I/O. Its owner passes in events, the time and a random number, and carries out the effects
// that a step returns.
//
// Start with the table in table.go. It defines the complete behaviour, and the picture and tables of
// docs/state-machine.md are generated from it. [Policy.Step] looks up one cell of the table and enters the next state.
//
// Possible surprises:
//
//   - Deadlines are part of the state. The owner has one timer and sets it to Machine.Deadline after every step. When
//     the timer fires, the event is [Elapsed].
//   - Every event of a connection carries the connection's epoch. For an event of an older epoch, Step returns ok=false
//     without looking at the table.
//   - Calls are not states. The table handles one event of a call at a time; package inflight knows which calls are in
//     flight.
package machine

//go:generate go test -run TestGeneratedDocumentIsUpToDate -update
