// Package loops tells whether calls of tools go round in a loop: they are made again and again, and bring nothing new.
//
// It knows a call by hashes only, with a key of the process: of the tool, of the tool with its arguments, and of the
// result. A [Ring] has the last [Size] calls of one conversation, and finds the loop that the latest of them belongs
// to. It is pure: it reads no clock and takes no lock.
//
// A loop is one of three things:
//
//   - [SameCall]: one call with the same arguments has had the same result so many times, and nothing that may have
//     changed it was called in between;
//   - [SameResult]: one tool in a row, with so many different arguments, and always the same result;
//   - [Cycle]: two to [Periods] calls in turns, so many times, with the same results.
//
// What is no loop although it looks like one, a server says of its tools: see [Traits]. What it says nothing of is
// taken for a tool that reads.
package loops
