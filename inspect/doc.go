// Package inspect describes what clients and servers are doing at one moment, as plain data, for people who look into a
// process that does not do what it should.
//
// Start with Inspect of package mcpclient's Client or package mcpserver's Server, which return a [Client] and a
// [Server], or mount package inspect/debugpage, which shows them all. Everything encodes as JSON; durations are in
// nanoseconds, as the names say.
//
// What may surprise:
//
//   - Its size is bounded: lists have up to [MaxListed] elements, and say how many there are in all. What a peer chose,
//     such as a name, is cut to 128 bytes.
//   - It has no contents of messages and no secrets: only the beginning of a session's id, and no id of a task. Error
//     texts, names and URIs are there.
//   - The package has no code, so a program that shows what it does links neither a client nor a server that it does
//     not use.
package inspect

// MaxListed bounds the lists.
const MaxListed = 100
