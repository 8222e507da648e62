// Package seam defines optional interfaces of connections that the core uses beyond transport.Conn. They only make a
// connection faster or smaller: a connection without them works in the same way. Each file defines one interface, and
// describes its purpose, its states and its measured gain. Connections of package transport implement these interfaces,
// and package conn looks for them.
//
// A transport from another module, or a transport that wraps ours, has none of these methods, and need not follow the
// rules of these interfaces.
package seam
