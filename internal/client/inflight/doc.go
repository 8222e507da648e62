// Package inflight tracks which calls wait for an answer, and which calls have stopped waiting.
//
// Start with [Table]. A call is added under its ID and leaves in exactly one way: it is settled by its answer,
// abandoned by its caller, expired by its deadline, or failed together with all others. Every way except the first
// leaves a tombstone, which distinguishes a late answer from an unknown one.
//
// Possible surprises:
//
//   - The package has no lock, clock, timer or random number. The owner passes in times and random numbers, and guards
//     the table.
//   - The calls in flight and Config.MaxTombstones bound the memory. The table grows in a storm of calls and shrinks
//     after it. Nothing else allocates.
package inflight
