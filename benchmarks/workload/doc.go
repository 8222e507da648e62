// Package workload has the shared parts of the benchmarks: the peers, the messages, and the measurements.
//
// A [Peer] is a client library or a floor. [Roundtrips] runs every benchmark of whole calls for the given peers, each
// against a canned server that answers with prepared bytes. A [Server] is a server library or a floor. [Servers] runs a
// canned client against each. [Floor] and [FloorJSON] are the least work that moves these bytes, and [Ours] is this
// project; other libraries are in the nested module benchmarks/peers.
//
// Possible surprises:
//
//   - A test binary with these benchmarks is also the canned server, as a child process: its TestMain must call [Play]
//     first.
//   - Sizes are exact sizes of whole frames, without the newline or other framing: an id of fewer than eight digits is
//     padded with spaces.
//   - The CPU time covers this process. It excludes the server of stdio, which is another process, and includes the
//     servers of pipes and HTTP and the canned clients, which are goroutines.
package workload
