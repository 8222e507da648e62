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

// enter lets a request in, or returns what refuses it.
func (g *gate) enter(post bool) *mcp.Error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return errShuttingDown
	case post && g.posts >= g.limit:
		return errBusy
	}
	g.inside++
	if post {
		g.posts++
	}
	return nil
}

// detain keeps the gate from being empty until somebody leaves in addition.
func (g *gate) detain() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside++
}

// leave lets a request out.
func (g *gate) leave(post bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if post {
		g.posts--
	}
	g.move()
}

// linger makes room for another POST while one stays inside for long; back takes it again.
func (g *gate) linger() (back func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.posts--
	g.move()
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.posts++
	}
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
		if count() <= 0 { // whoever lingers may have left
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
