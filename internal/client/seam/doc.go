// Package seam defines optional interfaces of connections that the core uses beyond transport.Conn. They only make a
// connection faster or smaller: a connection without them works the same. Each file has one interface, its purpose, its
// states and its measured gain. Connections of package transport implement them, and package conn looks for them.
//
// A transport from another module, or one that wraps ours, has none of these methods and need not follow their
// rules.
package seam
