package mcpserver

import (
	"context"
	"sync"

	"github.com/mcpotel/mcpotel/mcp"
)

// gate counts the HTTP requests that are inside, and lets no POST in above a limit.
type gate struct {
	limit int

	mu     sync.Mutex
	inside int           // guarded by mu
	posts  int           // guarded by mu; how many of those are POSTs that do not linger
	closed bool          // guarded by mu
	moved  chan struct{} // guarded by mu; closed when somebody leaves, nil unless somebody waits
}

// visit is the stay of one HTTP request inside.
type visit struct {
	gate      *gate
	post      bool
	lingering int  // guarded by gate.mu; how often it is said to linger
	gone      bool // guarded by gate.mu
}

// enter lets a request in, or returns what refuses it.
func (g *gate) enter(post bool) (*visit, *mcp.Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return nil, errShuttingDown
	case post && g.posts >= g.limit:
		return nil, errBusy
	}
	g.inside++
	if post {
		g.posts++
	}
	return &visit{gate: g, post: post}, nil
}

// leave lets the request out.
func (v *visit) leave() {
	g := v.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if v.post && v.lingering == 0 {
		g.posts--
	}
	v.gone = true
	g.move()
}

// linger makes room for another POST while this one stays inside for long; back takes it again, unless it has left.
func (v *visit) linger() (back func()) {
	g := v.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if v.lingering++; v.lingering == 1 && !v.gone {
		g.posts--
		g.move()
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if v.lingering--; v.lingering == 0 && !v.gone {
			g.posts++
		}
	}
}

// detain keeps the gate from being empty until something else is released.
func (g *gate) detain() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside++
}

// release lets go of what was detained.
func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	g.move()
}

// move wakes those who wait. mu is held.
func (g *gate) move() {
	if g.moved != nil {
		close(g.moved)
		g.moved = nil
	}
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// waitPosts waits until no POST is inside that does not linger, or ctx ends.
func (g *gate) waitPosts(ctx context.Context) {
	g.wait(ctx, func() int { return g.posts })
}

// waitAll waits until nobody is inside or ctx ends, and reports whether nobody is.
func (g *gate) waitAll(ctx context.Context) bool {
	return g.wait(ctx, func() int { return g.inside })
}

// wait waits until there are none of what count counts, or ctx ends, and reports whether there are none.
func (g *gate) wait(ctx context.Context, count func() int) bool {
	for {
		g.mu.Lock()
		if count() == 0 {
			g.mu.Unlock()
			return true
		}
		if g.moved == nil {
			g.moved = make(chan struct{})
		}
		moved := g.moved
		g.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return false
		}
	}
}
