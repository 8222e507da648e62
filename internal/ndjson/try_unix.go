//go:build unix

package ndjson

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// tryWriter writes as much to a descriptor in non-blocking mode as it accepts at once. Only one goroutine at a time may
// use it.
type tryWriter struct {
	conn syscall.RawConn
	f    func(fd uintptr) bool // method value of attempt, allocated once

	b   []byte
	n   int
	err error
}

// newTryWriter returns nil if w is not a descriptor in non-blocking mode.
func newTryWriter(w io.Writer) *tryWriter {
	c, ok := w.(syscall.Conn)
	if !ok {
		return nil
	}
	conn, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	nonblocking := false
	err = conn.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		nonblocking = err == nil && flags&unix.O_NONBLOCK != 0
	})
	if err != nil || !nonblocking {
		return nil
	}
	t := &tryWriter{conn: conn}
	t.f = t.attempt
	return t
}

// write writes as many bytes of b as the descriptor accepts at once, and returns their number. It never waits.
func (t *tryWriter) write(b []byte) (n int, err error) {
	t.b, t.n, t.err = b, 0, nil
	err = t.conn.Write(t.f)
	t.b = nil
	if err == nil {
		err = t.err
	}
	return t.n, err
}

// attempt makes one system call. It returns true, so that the RawConn does not wait and call it again.
func (t *tryWriter) attempt(fd uintptr) bool {
	for {
		n, err := unix.Write(int(fd), t.b)
		switch err {
		case nil:
			t.n = n
		case unix.EINTR:
			continue
		case unix.EAGAIN:
		default:
			t.err = err
		}
		return true
	}
}
