// Package inflight tracks which calls await an answer and which no longer do.
//
// Start at [Table]. A call is added under its id and leaves in exactly one way: settled by its answer, abandoned
// by its caller, expired by its deadline, or failed together with all others. Every way except the first leaves a
// tombstone, which distinguishes a late answer from an unknown one.
//
// Possible surprises:
//   - The package has no lock, clock, timer or random number. The owner passes in times and random numbers, and guards
//     the table.
//   - Memory is bounded by the calls in flight and Config.MaxTombstones. A table that has grown in a storm of calls
//     shrinks afterwards; otherwise nothing allocates.
package inflight
