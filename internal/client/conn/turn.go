package conn

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/seam"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// turn says whose turn it is to read a session's frames. It is that of the connection's goroutine, for nothing that the
// server says may be missed. But an answer has to be handed from there to its caller's goroutine, which costs more than
// all else that a small call does. So while a user makes one call after the other, that goroutine lends the turn, and
// the caller reads the answer. All else that comes instead, the end of the wait included, the caller hands over, and
// the connection's goroutine reads again.
//
// Between two such calls no goroutine reads. That lasts for two ticks of the pace at most.
//
// A caller whose call is in flight and who does not read calls attend, which wakes a reader. A goroutine that stops
// reading looks behind that whether a call is in flight; so one of the two sees the other.
//
// A nil turn is that of the connection's goroutine for good.
type turn struct {
	*pace
	interrupt func() // ends a Receive that waits

	state  atomic.Int32
	own    atomic.Uint32 // answers that their callers have read
	handed chan received // of one element; made before the turn is lent

	mu     sync.Mutex
	caller context.Context // guarded by mu; of the call whose caller has the turn, nil if none has

	// Of the one whose turn it is.
	// answers in a row, each to the only call in flight and soon after the one before; less while loans do not pay
	lonely int32
	wait   int32     // so many more answers there must be before the next loan
	latest time.Time // answer
}

// The states of a turn.
const (
	TurnAttended int32 = iota // it is that of the connection's goroutine
	TurnLent                  // the next caller's
	TurnTaken                 // a caller's
	TurnKept                  // a caller's for a while now; the connection's goroutine has it next
)

// pace says when the turn is lent, and for how long.
type pace struct {
	Tick   time.Duration // between looks at whether the loan pays
	few    uint32        // answers within one are too few
	soon   time.Duration // a call that is answered within that of another follows it
	Enough int32         // so many in a row say that there will be more
}

var UsualPace = pace{Tick: time.Millisecond, few: 3, soon: 200 * time.Microsecond, Enough: 8}

// mostWait bounds the wait behind loans that did not pay.
const mostWait = 1024

// received is what a Receive has returned. An error that is [seam.ErrInterrupted] says to go on reading.
type received struct {
	frame transport.Frame
	err   error
}

var goOn = received{err: seam.ErrInterrupted}

// answered notes that a call got its answer now. alone says that no other is in flight.
func (t *turn) answered(now time.Time, alone bool) {
	if alone && now.Sub(t.latest) < t.soon {
		t.lonely++
	} else {
		t.lonely = min(t.lonely, 0)
	}
	t.latest = now
}

// due reports whether the connection's goroutine should lend the turn.
func (t *turn) due() bool { return t != nil && t.lonely >= t.Enough }

// lend lends the turn until a caller hands over, or few read, or the session is over. It returns what the caller has
// handed over. busy reports whether a call is in flight.
func (t *turn) lend(over <-chan struct{}, busy func() bool) received {
	if t.handed == nil {
		t.handed = make(chan received, 1)
	}
	before, r := t.own.Load(), goOn
	t.state.Store(TurnLent)
	if !busy() || !t.state.CompareAndSwap(TurnLent, TurnAttended) {
		r = t.watch(over)
	}
	t.settle(int32(t.own.Load() - before))
	return r
}

// watch waits until the turn is back, and takes it back if it is of little use.
func (t *turn) watch(over <-chan struct{}) received {
	ticker := time.NewTicker(t.Tick)
	defer ticker.Stop()
	for own, ended := t.own.Load(), false; ; {
		select {
		case r := <-t.handed:
			return r
		case <-over:
			ended = true
		case <-ticker.C:
		}
		before := own
		own = t.own.Load()
		switch {
		case own-before > t.few && !ended:
			if ctx := t.reader(); ctx.Err() != nil {
				t.interrupt()
			}
		case t.state.CompareAndSwap(TurnLent, TurnAttended):
			return goOn
		case t.state.CompareAndSwap(TurnTaken, TurnKept):
			return t.await()
		}
	}
}

// await waits for a caller that keeps the turn, and ends its wait with its context. No caller watches its context
// itself: [context.AfterFunc] for each call would take two or three allocations, and a tenth of a tiny call.
func (t *turn) await() received {
	select {
	case r := <-t.handed:
		return r
	case <-t.reader().Done():
		t.interrupt()
		return <-t.handed
	}
}

// reader returns the context of the call whose caller has the turn, one without end if none has.
func (t *turn) reader() context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	return cmp.Or(t.caller, context.Background())
}

// settle says how long to wait for the next loan, behind one in which callers have read so many answers.
func (t *turn) settle(own int32) {
	if own >= t.Enough {
		t.wait = 0
	} else {
		t.wait = min(max(2*t.wait, t.Enough), mostWait)
	}
	t.lonely = -t.wait
}

// take takes the turn, if it is lent, for a call with this context.
func (t *turn) take(ctx context.Context) bool {
	if t == nil || t.state.Load() != TurnLent {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.state.CompareAndSwap(TurnLent, TurnTaken) {
		return false
	}
	t.caller = ctx
	return true
}

// done forgets the context of the call. It is called before the turn goes on.
func (t *turn) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.caller = nil
}

// leave leaves the turn to the next caller, or the connection's goroutine.
func (t *turn) leave(busy func() bool) {
	t.done()
	t.own.Add(1)
	if !t.state.CompareAndSwap(TurnTaken, TurnLent) {
		t.handOver(goOn)
	} else if busy() {
		t.attend()
	}
}

// handOver gives the turn, and what the caller has received, to the connection's goroutine.
func (t *turn) handOver(r received) {
	t.done()
	t.state.Store(TurnAttended)
	t.handed <- r
}

// attend gives the turn to the connection's goroutine if it is lent.
func (t *turn) attend() {
	if t != nil && t.state.Load() == TurnLent && t.state.CompareAndSwap(TurnLent, TurnAttended) {
		t.handed <- goOn
	}
}

// readAnswer reads the answer to the call in the caller's goroutine, if that may. Otherwise the connection's goroutine
// reads. In both cases the outcome comes to where it always does.
func (r *Request) readAnswer(ctx context.Context) {
	s := r.Session
	t := s.in.turn
	switch {
	case len(r.Outcome) > 0: // the answer was there sooner
		return
	case r.Progressed != nil || !t.take(ctx):
		t.attend()
		return
	}
	got, own := goOn, false
	defer func() {
		if own {
			t.leave(r.core.anyInFlight)
			return
		}
		r.waitsNoMore() // the next to wait may be another caller
		t.handOver(got)
	}()
	r.waitsIn(t.interrupt)
	got.frame, got.err = s.Conn.Receive(context.Background())
	own = got.err == nil && s.in.own(got.frame, r.ID)
}
