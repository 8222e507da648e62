// Package workload is what the benchmarks have in common: who takes part, what moves between them, and how it is
// measured.
//
// A [Peer] is a client library, or a floor; [Roundtrips] runs every benchmark of whole calls for those it is given,
// each against a canned server that answers by id with bytes that are ready. A [Server] is a server library, or a
// floor; [Servers] runs a canned client against each. [Floor] and [FloorJSON] are the least that moves these bytes,
// [Ours] is this project's; others are in the nested module benchmarks/peers.
//
// What may surprise:
//
//   - A test binary that runs these benchmarks plays the canned server, too, as a child process: its TestMain must call
//     [Play] first.
//   - Sizes are those of a whole frame, the newline or other framing excluded, and they are exact: an id that has fewer
//     than eight digits is followed by spaces.
//   - The CPU time is that of this process. The server of stdio is another process and not in it; those of pipes and
//     HTTP, and the canned clients, are goroutines and are.
package workload
