// Package inspect describes the state of clients and servers at one moment, as plain data, for people who debug a
// process.
//
// Start with the Inspect method of package mcpclient's Client or package mcpserver's Server, which return a [Client]
// and a [Server], or mount package inspect/debugpage, which displays them. All types encode as JSON; durations are in
// nanoseconds, as the member names show.
//
// Three properties matter:
//
//   - The size is bounded: lists have at most [MaxListed] elements, and a separate field has the total number. Texts
//     that a peer chose, such as names, are truncated to 128 bytes.
//   - There are no message contents and no secrets: only the beginning of a session id, and no task ids. Error texts,
//     names and URIs are included.
//   - The package has no code, so a program that uses it links neither a client nor a server.
package inspect

// MaxListed bounds the lists of a Client and a Server.
const MaxListed = 100
