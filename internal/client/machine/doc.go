// Package machine decides what a client does with its connection. It is pure: no goroutine, clock, random number, log
// line or I/O. Its owner passes in what happened, the time and a random number, and carries out the effects that
// come back.
//
// Start at the table in table.go: it is the whole behaviour, and the picture and tables of docs/state-machine.md are
// generated from it. [Policy.Step] looks one cell of the table up and applies what entering the next state means.
//
// What may surprise:
//   - Deadlines are part of the state. There is one timer; it is set from Machine.Deadline after every step, and when
//     it fires that is the event [Elapsed].
//   - Every answer from a connection carries the epoch it belongs to. An answer from an older epoch is stale, and Step
//     reports ok=false without looking at the table.
//   - Calls are not states. The table says what to do with one event of a call; which calls are in flight is known by
//     package inflight.
package machine

//go:generate go test -run TestDocumentIsGenerated -update
