package rpc

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

// ErrClosed ends what waits for an answer of a client that will not send any more.
var ErrClosed = errors.New("the connection is over")

// Asks are the requests that the server has sent to one client, on a connection or in a session, and that wait for
// their answers.
type Asks struct {
	Process string // the ids tell which one it is, where several ask the client; empty where none else does

	mu     sync.Mutex
	last   int64            // guarded by mu; id, none of which is used twice
	open   map[int64]Waiter // guarded by mu
	closed bool             // guarded by mu
	buried tombstones       // guarded by mu; that were given up
	idle   int              // guarded by mu; handlers that do nothing but wait for answers
}

// Waiter waits for an answer. give is called once, without a lock: with the answer, or with nil if none will come.
type Waiter interface{ Give(m *jsonrpc.Message) }

// awaited is the channel on which an answer comes, for which it has room; closed if none will.
type awaited chan *jsonrpc.Message

func (w awaited) Give(m *jsonrpc.Message) {
	if m == nil {
		close(w)
		return
	}
	w <- m
}

func NewAsks() *Asks { return &Asks{open: map[int64]Waiter{}} }

// Pause says that a handler waits for answers until it resumes.
func (t *Asks) Pause(c *Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.asking++; c.asking == 1 {
		t.idle++
	}
}

func (t *Asks) Resume(c *Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.asking--; c.asking == 0 {
		t.idle--
	}
}

// Paused returns how many handlers wait for nothing but the client.
func (t *Asks) Paused() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.idle
}

// Open gives out an id and the channel on which the answer comes, which is closed if none will. It reports false if
// the client has left.
func (t *Asks) Open() (id int64, answer <-chan *jsonrpc.Message, ok bool) {
	wait := make(awaited, 1)
	id, err := t.Enter(wait, math.MaxInt)
	return id, wait, err == nil
}

// Enter gives out an id for w to wait for the answer to, or says why there is none: the client has left, or so many
// wait already.
func (t *Asks) Enter(w Waiter, limit int) (id int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return 0, ErrClosed
	case len(t.open) >= limit:
		return 0, ErrBusy
	}
	t.last++
	t.open[t.last] = w
	return t.last, nil
}

// End says that the asker does not wait for the answer any more. It reports false if the answer is there.
func (t *Asks) End(id int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, waits := t.open[id]
	delete(t.open, id)
	return waits
}

// deliver gives an answer to the question that waits for it, once, and reports false if none does.
func (t *Asks) deliver(id jsonrpc.ID, m *jsonrpc.Message) bool {
	n, ok := t.number(id)
	if !ok {
		return false
	}
	t.mu.Lock()
	wait, ok := t.open[n]
	delete(t.open, n)
	t.mu.Unlock()
	if ok {
		wait.Give(m)
	}
	return ok
}

// WireID returns the id of a request on the wire.
func (t *Asks) WireID(n int64) jsonrpc.ID {
	if t.Process == "" {
		return jsonrpc.IntID(n)
	}
	return jsonrpc.StringID(t.Process + "-" + strconv.FormatInt(n, 10))
}

// number returns what id was made of, false if it is of no request of this process.
func (t *Asks) number(id jsonrpc.ID) (n int64, ok bool) {
	if t.Process == "" {
		return id.Int()
	}
	text, _ := id.Text()
	digits, ok := strings.CutPrefix(text, t.Process+"-")
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, ok && err == nil
}

// maxProcess is how long the name of a process may be.
const maxProcess = 64

// ProcessOf returns the process that has sent a request with this id, false if it is none of those that have names.
func ProcessOf(id jsonrpc.ID) (process string, ok bool) {
	text, _ := id.Text()
	process, _, ok = strings.Cut(text, "-")
	return process, ok && process != "" && len(process) <= maxProcess
}

// Len returns how many requests the client has yet to answer; nil has none.
func (a *Asks) Len() int {
	if a == nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.open)
}

// Close says that no more answers will come.
func (t *Asks) Close() {
	t.mu.Lock()
	left := t.open
	t.open, t.closed = nil, true
	t.mu.Unlock()
	for _, wait := range left {
		wait.Give(nil)
	}
}

// deliver gives a response of the client to the handler that waits for it, and reports false if there is none: its id
// was never given out, or is that of a request that has been answered or given up. m may be one whose middle is broken.
// The error is from a store that all processes share.
func (x *Exchange) deliver(id jsonrpc.ID, m *jsonrpc.Message) (bool, error) {
	if x.Asks == nil {
		return false, nil
	}
	if x.Asks.deliver(id, m) {
		return true, nil
	}
	others := x.Server.Elsewhere()
	if others == nil {
		return false, nil
	}
	return others.Deliver(x.Work, m)
}
