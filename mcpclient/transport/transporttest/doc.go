// Package transporttest is the contract of package transport in executable form. The author of a
// [transport.Transport] calls [TestTransport] from a test, with a function that creates the transport and lets the
// test act as the server:
//
//	func TestContract(t *testing.T) {
//		transporttest.TestTransport(t, func(t *testing.T) transporttest.Subject {
//			server := startServer(t)
//			return transporttest.Subject{Transport: server.transport(), Accept: server.accept}
//		})
//	}
//
// A possible surprise: the peer must not act by itself. It reads a frame only when the test calls Receive, because
// half of the contract is about peers that do not read. There are two exceptions: it ends when the connection is
// closed, and the operating system may buffer a few bytes for it.
//
// A goroutine counts as the transport's if its stack contains the transport's package, or if that package started
// it. If such a goroutine remains, the test fails: so put the peer into another package, such as the external test
// package. The wire must buffer a few bytes, as every socket and pipe does; net.Pipe buffers nothing.
//
// Directory examples/transport has a complete transport with its test. The checks run in real time: a check that
// something does not happen takes a fraction of a second, and a check of a deadline has some slack.
package transporttest
