// Package transporttest is the contract of package transport in executable form. The author of a [transport.Transport]
// calls [TestTransport] from a test, with a function that makes the transport and lets the test play the server:
//
//	func TestContract(t *testing.T) {
//		transporttest.TestTransport(t, func(t *testing.T) transporttest.Subject {
//			server := startServer(t)
//			return transporttest.Subject{Transport: server.transport(), Accept: server.accept}
//		})
//	}
//
// What may surprise: the peer must do nothing by itself. It reads a frame when the test calls Receive and never before,
// because half of the contract is about peers that do not read. The two things it does unasked: it ends when the
// connection is closed, and it holds what little its own system buffers for it.
//
// A goroutine counts as the transport's if its package is on the stack, or started it, and so keeps the test from
// passing: keep the peer in another package, such as the one of the test with _test in its name. The wire has to buffer
// a few bytes, as every socket and pipe does; net.Pipe takes nothing that is not read.
//
// Directory examples/transport has a whole transport with its test. The contract is checked with real time, so a check
// that something does not happen takes a fraction of a second, and a check of a deadline has some slack.
package transporttest
