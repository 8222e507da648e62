// Package inflight remembers which calls await an answer and which no longer do.
//
// Start at [Table]. A call is added under its id and leaves in exactly one way: it is settled by its answer, abandoned
// by its caller, expired by its deadline, or failed together with all others. All but the first leave a tombstone, so
// that an answer that comes late is told from one that was not asked for.
//
// What may surprise:
//   - The package has no lock, clock, timer or random number. Times and chance are passed in, and the owner of a table
//     guards it.
//   - Memory is bounded by the calls in flight and Config.MaxTombstones. What a storm of calls made the table grow by,
//     it gives back when the storm is over; in between nothing allocates.
package inflight
