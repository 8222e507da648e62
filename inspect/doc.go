// Package inspect has what clients and servers are doing at one moment, as plain data: what people want to know who
// look into a process that does not do what it should.
//
// Start with Inspect of package mcpclient's Client or package mcpserver's Server, which return a [Client] and a
// [Server], or mount package inspect/debugpage, which shows them all. Everything encodes as JSON; durations are in
// nanoseconds, as the names say.
//
// What may surprise:
//
//   - It is bounded however much there is: lists have up to [MaxListed] elements, and say how many there are in all.
//     What a peer chose, names for example, is cut to 128 bytes.
//   - There are no contents, and no secrets: of the id of a session there is the beginning, of that of a task nothing.
//     Error texts, names and URIs are there.
//   - The package has no code, so that a program which shows what it does needs nothing of a client or server that it
//     does not have.
package inspect

// MaxListed bounds the lists.
const MaxListed = 100
