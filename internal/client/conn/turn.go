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

// turn determines which goroutine reads a session's frames. Normally the connection's goroutine reads, so that the
// client misses no message of the server. But passing an answer from there to the caller's goroutine costs more than
// the rest of a small call. So while a user makes one call after the other, the connection's goroutine lends the turn,
// and the caller reads its own answer. If the caller receives any other frame, or if its wait ends, the caller returns
// the turn to the connection's goroutine, together with the result of Receive.
//
// Between two such calls, no goroutine reads, for at most two ticks of the pace.
//
// A caller that does not read the answer to its call in flight must call attend, which wakes a reader. A goroutine that
// stops reading must check for calls in flight afterwards. So if a caller begins to wait while a reader stops, at least
// one of them notices the other.
//
// A nil turn always belongs to the connection's goroutine.
type turn struct {
	*pace
	interrupt func() // interrupts a waiting Receive

	state  atomic.Int32
	own    atomic.Uint32 // number of answers that callers have read themselves
	handed chan received // capacity 1; created before the turn is first lent

	mu     sync.Mutex
	caller context.Context // context of the call whose caller has the turn; nil for none; guarded by mu

	// Only the goroutine that has the turn uses the fields below.
	// lonely counts consecutive answers to a call that was alone in flight, each soon after the previous answer. It is
	// negative after useless loans.
	lonely int32
	wait   int32     // number of answers until the next loan
	latest time.Time // time of the latest answer
}

// States of a turn.
const (
	TurnAttended int32 = iota // the connection's goroutine has the turn
	TurnLent                  // the next caller may take the turn
	TurnTaken                 // a caller has the turn
	TurnKept                  // a caller still has the turn after a useless tick; the connection's goroutine gets it next
)

// pace configures when a session lends its turn, and for how long.
type pace struct {
	Tick   time.Duration // interval for checks whether the loan is useful
	few    uint32        // a loan with at most this number of answers in a tick is useless
	soon   time.Duration // maximum time between two consecutive answers
	Enough int32         // number of consecutive answers after which the turn is lent
}

var UsualPace = pace{Tick: time.Millisecond, few: 3, soon: 200 * time.Microsecond, Enough: 8}

// mostWait is the maximum wait after useless loans, as a number of answers.
const mostWait = 1024

// received is a result of Receive. The error [seam.ErrInterrupted] means that the reader continues.
type received struct {
	frame transport.Frame
	err   error
}

var goOn = received{err: seam.ErrInterrupted}

// answered records that a call got its answer at the time now. alone means that no other call is in flight.
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

// lend lends the turn until a caller returns it, callers read too few answers, or the session ends. It returns the
// frame that the caller returned with the turn. busy reports whether a call is in flight.
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

// watch waits until a caller returns the turn. If the loan is useless, watch takes the turn back.
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

// await waits for a caller that keeps the turn, and interrupts it when the caller's context ends. Callers do not watch
// their contexts themselves: [context.AfterFunc] for each call would take two or three allocations, and a tenth of the
// time of a tiny call.
func (t *turn) await() received {
	select {
	case r := <-t.handed:
		return r
	case <-t.reader().Done():
		t.interrupt()
		return <-t.handed
	}
}

// reader returns the context of the call whose caller has the turn. If no caller has it, reader returns
// context.Background().
func (t *turn) reader() context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	return cmp.Or(t.caller, context.Background())
}

// settle sets the wait until the next loan. own is the number of answers that callers read during the last loan.
func (t *turn) settle(own int32) {
	if own >= t.Enough {
		t.wait = 0
	} else {
		t.wait = min(max(2*t.wait, t.Enough), mostWait)
	}
	t.lonely = -t.wait
}

// take takes the turn for a call with this context. It returns false if the turn is not lent.
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

// done removes the context of the call. It is called before the turn changes hands.
func (t *turn) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.caller = nil
}

// leave passes the turn to the next caller, or back to the connection's goroutine.
func (t *turn) leave(busy func() bool) {
	t.done()
	t.own.Add(1)
	if !t.state.CompareAndSwap(TurnTaken, TurnLent) {
		t.handOver(goOn)
	} else if busy() {
		t.attend()
	}
}

// handOver gives the turn, and the frame that the caller received, to the connection's goroutine.
func (t *turn) handOver(r received) {
	t.done()
	t.state.Store(TurnAttended)
	t.handed <- r
}

// attend gives a lent turn back to the connection's goroutine.
func (t *turn) attend() {
	if t != nil && t.state.Load() == TurnLent && t.state.CompareAndSwap(TurnLent, TurnAttended) {
		t.handed <- goOn
	}
}

// readAnswer reads the answer to the call in the caller's goroutine, if that goroutine gets the turn. Otherwise the
// connection's goroutine reads the answer. Both deliver the outcome in the same way.
func (r *Request) readAnswer(ctx context.Context) {
	s := r.Session
	t := s.in.turn
	switch {
	case len(r.Outcome) > 0: // the answer has already arrived
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
		r.waitsNoMore() // the next goroutine that waits may be another caller
		t.handOver(got)
	}()
	r.waitsIn(t.interrupt)
	got.frame, got.err = s.Conn.Receive(context.Background())
	own = got.err == nil && s.in.own(got.frame, r.ID)
}
