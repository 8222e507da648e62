package mcpserver

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

// errOver ends what waits for an answer of a client that will not send any more.
var errOver = errors.New("the connection is over")

// asks are the requests that the server has sent to one client, on a connection or in a session, and that wait for
// their answers.
type asks struct {
	process string // the ids tell which one it is, where several ask the client; empty where none else does

	mu     sync.Mutex
	last   int64             // guarded by mu; id, none of which is used twice
	open   map[int64]awaiter // guarded by mu
	closed bool              // guarded by mu
	buried stones            // guarded by mu; that were given up
	idle   int               // guarded by mu; handlers that do nothing but wait for answers
}

// awaiter waits for an answer. give is called once, without a lock: with the answer, or with nil if none will come.
type awaiter interface{ give(m *jsonrpc.Message) }

// awaited is the channel on which an answer comes, for which it has room; closed if none will.
type awaited chan *jsonrpc.Message

func (w awaited) give(m *jsonrpc.Message) {
	if m == nil {
		close(w)
		return
	}
	w <- m
}

func newAsks() *asks { return &asks{open: map[int64]awaiter{}} }

// wait says that a handler waits for answers until it resumes.
func (t *asks) wait(c *rpcCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.asking++; c.asking == 1 {
		t.idle++
	}
}

func (t *asks) resume(c *rpcCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.asking--; c.asking == 0 {
		t.idle--
	}
}

// waiting returns how many handlers wait for nothing but the client.
func (t *asks) waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.idle
}

// begin gives out an id and the channel on which the answer comes, which is closed if none will. It reports false if
// the client has left.
func (t *asks) begin() (id int64, answer <-chan *jsonrpc.Message, ok bool) {
	wait := make(awaited, 1)
	id, err := t.enter(wait, math.MaxInt)
	return id, wait, err == nil
}

// enter gives out an id for w to wait for the answer to, or says why there is none: the client has left, or so many
// wait already.
func (t *asks) enter(w awaiter, limit int) (id int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return 0, errOver
	case len(t.open) >= limit:
		return 0, errBusy
	}
	t.last++
	t.open[t.last] = w
	return t.last, nil
}

// end says that the asker does not wait for the answer any more. It reports false if the answer is there.
func (t *asks) end(id int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, waits := t.open[id]
	delete(t.open, id)
	return waits
}

// deliver gives an answer to the question that waits for it, once, and reports false if none does.
func (t *asks) deliver(id jsonrpc.ID, m *jsonrpc.Message) bool {
	n, ok := t.number(id)
	if !ok {
		return false
	}
	t.mu.Lock()
	wait, ok := t.open[n]
	delete(t.open, n)
	t.mu.Unlock()
	if ok {
		wait.give(m)
	}
	return ok
}

// id returns the id of a request on the wire.
func (t *asks) id(n int64) jsonrpc.ID {
	if t.process == "" {
		return jsonrpc.IntID(n)
	}
	return jsonrpc.StringID(t.process + "-" + strconv.FormatInt(n, 10))
}

// number returns what id was made of, false if it is of no request of this process.
func (t *asks) number(id jsonrpc.ID) (n int64, ok bool) {
	if t.process == "" {
		return id.Int()
	}
	text, _ := id.Text()
	digits, ok := strings.CutPrefix(text, t.process+"-")
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, ok && err == nil
}

// maxProcess is how long the name of a process may be.
const maxProcess = 64

// askedFrom returns the process that has sent a request with this id, false if it is none of those that have names.
func askedFrom(id jsonrpc.ID) (process string, ok bool) {
	text, _ := id.Text()
	process, _, ok = strings.Cut(text, "-")
	return process, ok && process != "" && len(process) <= maxProcess
}

// close says that no more answers will come.
func (t *asks) close() {
	t.mu.Lock()
	left := t.open
	t.open, t.closed = nil, true
	t.mu.Unlock()
	for _, wait := range left {
		wait.give(nil)
	}
}

// deliver gives a response of the client to the handler that waits for it, and reports false if there is none: its id
// was never given out, or is that of a request that has been answered or given up. m may be one whose middle is broken.
// The error is from a store that all processes share.
func (x *rpcExchange) deliver(id jsonrpc.ID, m *jsonrpc.Message) (bool, error) {
	if x.asks == nil {
		return false, nil
	}
	if x.asks.deliver(id, m) {
		return true, nil
	}
	others := x.server.elsewhere()
	if others == nil {
		return false, nil
	}
	return others.deliver(x.work, m)
}
