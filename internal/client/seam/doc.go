// Package seam is what the core asks of a connection beyond transport.Conn, and what only makes it faster or smaller: a
// connection without any of it works the same. Each file has one interface, which connections of package transport
// implement and package conn looks for, the reason for it, its states and its figure.
//
// A transport that is written elsewhere, or wraps one of ours, has none of these methods, and no promise to keep for
// them.
package seam
