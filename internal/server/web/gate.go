package web

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/broadcast"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// gate counts the HTTP requests in progress. It limits how many POSTs are processed at once; a POST counts as soon as
// its body has arrived.
type gate struct {
	room *quota.Memory // memory for bodies

	inside atomic.Int64 // HTTP requests and background work that Shutdown waits for
	closed atomic.Bool

	mu     sync.Mutex
	places quota.Shares     // guarded by mu; places of POSTs that do not linger
	waits  quota.Shares     // guarded by mu; handlers that wait for their clients
	moved  broadcast.Signal // guarded by mu; sent when a request ends or frees its place
}

// visit holds the resources of one HTTP request: its place and the memory of its body. The calls that the request has
// started keep both until they are answered, even if the HTTP request has ended.
type visit struct {
	gate *gate
	who  quota.Account
	refs atomic.Int32 // the request and its unanswered calls

	bytes     int  // memory of the body; owned by the request's goroutine until the first call, then constant
	placed    bool // guarded by gate.mu
	lingering int  // guarded by gate.mu; number of linger calls in effect
	gone      bool // guarded by gate.mu; the place was released for good
}

// enter starts the visit of a request, or returns the error that refuses the request.
func (g *gate) enter(v *visit) *mcp.Error {
	g.inside.Add(1)
	if g.closed.Load() {
		g.release()
		return errStopping
	}
	v.gate = g
	v.refs.Store(1)
	return nil
}

// place reserves a place for a POST whose body has been read, or returns the error that refuses the POST.
func (v *visit) place() *mcp.Error {
	g := v.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed.Load():
		return errStopping
	case !g.places.Affords(v.who, 1):
		return rpc.ErrBusy
	}
	g.places.Reserve(v.who, 1)
	v.placed = true
	return nil
}

// Retain keeps the resources of the visit for one more call. The call releases them when it is answered. Retain
// implements rpc.Place.
func (v *visit) Retain() { v.refs.Add(1) }

// Release undoes one Retain.
func (v *visit) Release() {
	if v.refs.Add(-1) > 0 {
		return
	}
	v.gate.mu.Lock()
	v.vacate()
	v.gate.mu.Unlock()
	v.gate.room.Change(v.who, -v.bytes)
}

// leave ends the HTTP request of the visit.
func (v *visit) leave() {
	g := v.gate
	last := v.refs.Add(-1) == 0
	g.inside.Add(-1)
	g.mu.Lock()
	if last {
		v.vacate()
	}
	g.moved.Send()
	g.mu.Unlock()
	if last {
		g.room.Change(v.who, -v.bytes)
	}
}

// vacate releases the place. gate.mu is held.
func (v *visit) vacate() {
	if v.placed && v.lingering == 0 {
		v.gate.places.Release(v.who, 1)
	}
	v.gone = true
	v.gate.moved.Send()
}

// linger releases the place of a POST that takes long. retake reserves the place again unless the visit has ended.
func (v *visit) linger() (retake func()) {
	g := v.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if v.lingering++; v.lingering == 1 && v.placed && !v.gone {
		g.places.Release(v.who, 1)
		g.moved.Send()
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if v.lingering--; v.lingering == 0 && v.placed && !v.gone {
			g.places.Reserve(v.who, 1)
		}
	}
}

// Wait calls linger for a handler that waits for its client. It reports false if too many handlers wait.
func (v *visit) Wait() (retake func(), ok bool) {
	g := v.gate
	g.mu.Lock()
	if ok = g.waits.Affords(v.who, 1); ok {
		g.waits.Reserve(v.who, 1)
	}
	g.mu.Unlock()
	if !ok {
		return nil, false
	}
	stay := v.linger()
	return func() {
		stay()
		g.mu.Lock()
		defer g.mu.Unlock()
		g.waits.Release(v.who, 1)
	}, true
}

// detain makes Shutdown wait until release is called.
func (g *gate) detain() { g.inside.Add(1) }

// release undoes one detain.
func (g *gate) release() {
	g.inside.Add(-1)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.moved.Send()
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed.Store(true)
}

// waitPosts waits until all places are free or ctx ends.
func (g *gate) waitPosts(ctx context.Context) {
	g.wait(ctx, func() bool { return g.places.Used == 0 })
}

// waitAll waits until no request or background work is left. It reports false if ctx ends first.
func (g *gate) waitAll(ctx context.Context) bool {
	return g.wait(ctx, func() bool { return g.inside.Load() == 0 })
}

// wait waits until done returns true. It reports false if ctx ends first. It calls done with mu held.
func (g *gate) wait(ctx context.Context, done func() bool) bool {
	return g.moved.Await(ctx, &g.mu, done) == nil
}
