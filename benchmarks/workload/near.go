package workload

import (
	"context"
	"fmt"
	"io"
	"sync"
)

// near is both streams between a client and a canned server without goroutines and buffers: a write calls the server,
// and a read waits for its answer. It needs almost no memory while it is idle.
type near struct {
	answer func(line []byte) []byte // called with mu held

	mu     sync.Mutex // guards the fields below
	more   sync.Cond
	in     []byte // the beginning of a line
	out    []byte // answers that have not been read
	closed bool
}

func newNear(c Canned) *near {
	k := sharedKitchen(c)
	n := &near{answer: func(line []byte) []byte {
		k.Lock()
		defer k.Unlock()
		return append([]byte(nil), k.answer(line)...)
	}}
	n.more.L = &n.mu
	return n
}

type lockedResponder struct {
	sync.Mutex
	*responder
}

var sharedResponders sync.Map

func sharedKitchen(c Canned) *lockedResponder {
	if k, ok := sharedResponders.Load(c); ok {
		return k.(*lockedResponder)
	}
	k, _ := sharedResponders.LoadOrStore(c, &lockedResponder{responder: newResponder(c)})
	return k.(*lockedResponder)
}

func (n *near) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return 0, io.ErrClosedPipe
	}
	for _, c := range b {
		n.in = append(n.in, c)
		if c == '\n' {
			n.out = append(n.out, n.answer(n.in)...)
			n.in = nil
		}
	}
	n.more.Signal()
	return len(b), nil
}

func (n *near) Read(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.out) == 0 {
		if n.closed {
			return 0, io.EOF
		}
		n.more.Wait()
	}
	read := copy(b, n.out)
	if n.out = n.out[read:]; len(n.out) == 0 {
		n.out = nil
	}
	return read, nil
}

func (n *near) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	n.more.Broadcast()
	return nil
}

// idleSession opens a session of a server and makes one call. The client consists only of the two streams.
func idleSession(s Server) (stop func() error, err error) {
	requests, answers := newMailbox(), newMailbox()
	done := make(chan error, 1)
	// ends when requests is closed
	go func() { done <- s.Pipe(WithEra(context.Background(), Legacy), requests, answers) }()
	ask := func(line []byte, answered bool) error {
		if _, err := requests.Write(line); err != nil || !answered {
			return err
		}
		return answers.dropLine()
	}
	lines, answered := hello(Legacy)
	for i, line := range lines {
		if err := ask(line, answered[i] || s.Name == FloorServer.Name); err != nil {
			return nil, err
		}
	}
	if err := ask(serving{era: Legacy, tool: TinyTool}.request(), true); err != nil {
		return nil, err
	}
	return func() error {
		_ = requests.Close()
		if err := <-done; err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		return nil
	}, nil
}

// mailbox is one stream: written bytes can be read.
type mailbox struct{ near }

func newMailbox() *mailbox {
	m := &mailbox{}
	m.more.L = &m.mu
	m.answer = func(line []byte) []byte { return line }
	return m
}

// dropLine reads to the end of a line. Nothing follows it.
func (m *mailbox) dropLine() error {
	var b [4 << 10]byte
	for {
		n, err := m.Read(b[:])
		if err != nil || b[n-1] == '\n' {
			return err
		}
	}
}
