// Package loops detects loops of tool calls: repeated calls that bring nothing new.
//
// The package stores calls only as hashes with a key of the process: a hash of the tool, of the tool with its
// arguments, and of the result. A [Ring] holds the last [Size] calls of one conversation and finds the loop that the
// latest call belongs to. It reads no clock and takes no lock.
//
// There are three kinds of loops. The number of repetitions is in [Limits].
//
//   - [SameCall]: a call with the same arguments keeps returning the same result, and no call in between may have
//     changed that result.
//   - [SameResult]: consecutive calls of one tool, with different arguments, return the same result.
//   - [Cycle]: two to [Periods] calls repeat in turn, with the same results.
//
// [Traits], which come from the server's description of a tool, exclude repetition that only looks like a loop. A tool
// without annotations counts as a tool that reads.
package loops
