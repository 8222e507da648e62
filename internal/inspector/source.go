package inspector

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/internal/running"
)

// Source shows clients and servers with their flight recorders.
type Source interface {
	Name() string // for people; empty for this process
	Look(ctx context.Context) (Seen, error)
}

// Seen is what a source shows.
type Seen struct {
	Clients []inspect.Client
	Servers []inspect.Server
}

// Spans has traces.
type Spans interface {
	Name() string
	// Trace returns the spans of a trace, none if it is not there.
	Trace(ctx context.Context, id string) ([]explain.Span, error)
	// Recent returns the ids of the traces that q wants, the newest first as far as the source knows. It may return others
	// besides.
	Recent(ctx context.Context, q Query) ([]string, error)
}

// Query says which traces are wanted. Empty fields mean all.
type Query struct {
	Failed bool   // only traces with a span in error
	Tool   string // only traces with a call of this tool
	Since  time.Time
}

// Sources are where to look.
type Sources struct {
	Peers []Source
	Spans []Spans
}

// Process is the clients and servers of this process. Nil functions mean all that run.
type Process struct {
	Clients func() []running.Client
	Servers func() []running.Server
}

// Name returns nothing.
func (p Process) Name() string { return "" }

// Look never fails.
func (p Process) Look(context.Context) (seen Seen, _ error) {
	clients, servers := running.Clients.All, running.Servers.All
	if p.Clients != nil {
		clients = p.Clients
	}
	if p.Servers != nil {
		servers = p.Servers
	}
	for _, c := range clients() {
		seen.Clients = append(seen.Clients, c.Inspect())
	}
	for _, s := range servers() {
		seen.Servers = append(seen.Servers, s.Inspect())
	}
	return seen, nil
}
