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

// gate counts the HTTP requests that are inside, and has places for POSTs whose body is there.
type gate struct {
	room *quota.Memory // for bodies

	inside atomic.Int64 // HTTP requests, and what else keeps the gate from being empty
	closed atomic.Bool

	mu     sync.Mutex
	places quota.Shares     // guarded by mu; those that are taken belong to POSTs that do not linger
	waits  quota.Shares     // guarded by mu; handlers that wait for their clients
	moved  broadcast.Signal // guarded by mu; sent when something leaves
}

// visit is the stay of one HTTP request inside, and what it takes. Calls that it has led to keep its place and its
// bytes until they are concluded, though the request may be gone: they are what takes time and memory.
type visit struct {
	gate *gate
	who  quota.Account
	refs atomic.Int32 // the request, and the calls that it has led to

	bytes     int  // of room; owned by the request's goroutine until there is a call, then constant
	placed    bool // guarded by gate.mu
	lingering int  // guarded by gate.mu; how often it is said to linger
	gone      bool // guarded by gate.mu; it has given its place back
}

// enter lets a request in, whose visit begins, or returns what refuses it.
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

// place takes a place for a POST whose body is there, or returns what refuses it.
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

// Retain says that the request has led to a call, which drops it when it is concluded. It implements rpcPlace.
func (v *visit) Retain() { v.refs.Add(1) }

// Release says that such a call is concluded.
func (v *visit) Release() {
	if v.refs.Add(-1) > 0 {
		return
	}
	v.gate.mu.Lock()
	v.vacate()
	v.gate.mu.Unlock()
	v.gate.room.Change(v.who, -v.bytes)
}

// leave lets the request out.
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

// vacate gives the place back. gate.mu is held.
func (v *visit) vacate() {
	if v.placed && v.lingering == 0 {
		v.gate.places.Release(v.who, 1)
	}
	v.gone = true
	v.gate.moved.Send()
}

// linger makes room for another POST while this one stays inside for long; back takes it again, unless it has left.
func (v *visit) linger() (back func()) {
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

// Wait is linger for a handler that waits for its client. It reports false if too many do.
func (v *visit) Wait() (back func(), ok bool) {
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

// detain keeps the gate from being empty until something else is released.
func (g *gate) detain() { g.inside.Add(1) }

// release lets go of what was detained.
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

// waitPosts waits until no place is taken, or ctx ends.
func (g *gate) waitPosts(ctx context.Context) {
	g.wait(ctx, func() bool { return g.places.Used == 0 })
}

// waitAll waits until nothing is inside or ctx ends, and reports whether nothing is.
func (g *gate) waitAll(ctx context.Context) bool {
	return g.wait(ctx, func() bool { return g.inside.Load() == 0 })
}

// wait waits until done says so, which is called with mu held, or ctx ends, and reports which.
func (g *gate) wait(ctx context.Context, done func() bool) bool {
	return g.moved.Await(ctx, &g.mu, done) == nil
}
