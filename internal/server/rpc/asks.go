package rpc

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

// ErrClosed is the error of a request to a client that has disconnected.
var ErrClosed = errors.New("the connection has ended")

// Asks holds the server's requests that one client has not answered, for a connection or a session.
type Asks struct {
	Process string // prefix of the ids if several processes send requests to the client; empty for one process

	mu         sync.Mutex
	last       int64            // guarded by mu; the latest id
	open       map[int64]Waiter // guarded by mu
	closed     bool             // guarded by mu
	tombstones tombstones       // guarded by mu; for requests that were given up
	idle       int              // guarded by mu; number of handlers that do nothing but wait for answers
}

// Waiter waits for an answer. Give is called once; its caller holds no lock. m is the answer, or nil if there will be
// none.
type Waiter interface{ Give(m *jsonrpc.Message) }

// answerChannel receives one answer. It has room for the answer, and is closed if there will be none.
type answerChannel chan *jsonrpc.Message

func (w answerChannel) Give(m *jsonrpc.Message) {
	if m == nil {
		close(w)
		return
	}
	w <- m
}

// NewAsks returns an empty table.
func NewAsks() *Asks { return &Asks{open: map[int64]Waiter{}} }

// Pause marks the handler of c as waiting for the client, until Resume.
func (t *Asks) Pause(c *Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.asking++; c.asking == 1 {
		t.idle++
	}
}

// Resume ends Pause.
func (t *Asks) Resume(c *Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.asking--; c.asking == 0 {
		t.idle--
	}
}

// Paused returns how many handlers do nothing but wait for the client.
func (t *Asks) Paused() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.idle
}

// Open returns an id for a request, and the channel for the answer. The channel is closed if there will be no answer.
// Open reports false if the client has left.
func (t *Asks) Open() (id int64, answer <-chan *jsonrpc.Message, ok bool) {
	wait := make(answerChannel, 1)
	id, err := t.Enter(wait, math.MaxInt)
	return id, wait, err == nil
}

// Enter returns an id for a request. w gets the answer. The error is ErrClosed if the client has left, or ErrBusy if
// limit requests are already open.
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

// End removes a request that no longer waits for its answer. It reports false if the answer has arrived.
func (t *Asks) End(id int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, waits := t.open[id]
	delete(t.open, id)
	return waits
}

// deliver gives an answer to the request that waits for it, and reports false if there is no such request.
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

// WireID returns the id that a request has in its frame.
func (t *Asks) WireID(n int64) jsonrpc.ID {
	if t.Process == "" {
		return jsonrpc.IntID(n)
	}
	return jsonrpc.StringID(t.Process + "-" + strconv.FormatInt(n, 10))
}

// number returns the number from which WireID made the id. It reports false for the id of another process.
func (t *Asks) number(id jsonrpc.ID) (n int64, ok bool) {
	if t.Process == "" {
		return id.Int()
	}
	text, _ := id.Text()
	digits, ok := strings.CutPrefix(text, t.Process+"-")
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, ok && err == nil
}

// maxProcess limits the length of a process name, in bytes.
const maxProcess = 64

// ProcessOf returns the name of the process in the id of a request. It reports false for an id without a process.
func ProcessOf(id jsonrpc.ID) (process string, ok bool) {
	text, _ := id.Text()
	process, _, ok = strings.Cut(text, "-")
	return process, ok && process != "" && len(process) <= maxProcess
}

// Len returns the number of unanswered requests. A nil Asks has none.
func (t *Asks) Len() int {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open)
}

// Close ends all requests without an answer, and makes Enter refuse new requests.
func (t *Asks) Close() {
	t.mu.Lock()
	left := t.open
	t.open, t.closed = nil, true
	t.mu.Unlock()
	for _, wait := range left {
		wait.Give(nil)
	}
}

// deliver delivers a client's response to the request that waits for it, in this process or in another one. It reports
// false if no request waits for the response. The result or error in m may be invalid or missing.
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
