package inspector

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/internal/running"
)

// Source provides clients and servers with their flight recorders.
type Source interface {
	Name() string // name for messages; empty for this process
	Look(ctx context.Context) (Seen, error)
}

// Seen is the answer of a source.
type Seen struct {
	Clients []inspect.Client
	Servers []inspect.Server
}

// Spans provides traces.
type Spans interface {
	Name() string
	// Trace returns the spans of a trace, or none if the source does not have it.
	Trace(ctx context.Context, id string) ([]explain.Span, error)
	// Recent returns the ids of traces that match q. The newest come first if the source supports this order. The result
	// may contain other traces as well.
	Recent(ctx context.Context, q Query) ([]string, error)
}

// Query selects traces. Empty fields select all.
type Query struct {
	Failed bool   // only traces with a span in error
	Tool   string // only traces with a call of this tool
	Since  time.Time

	Service    string            // only traces with a span of this service
	Attributes map[string]string // only traces in which one span has all these attributes
	AtLeast    time.Duration     // only traces with a span of at least this duration
}

// Sources are the sources of the inspector's answers.
type Sources struct {
	Peers []Source
	Spans []Spans
}

// Process is the source for this process. A nil function means all running clients or servers.
type Process struct {
	Clients func() []running.Client
	Servers func() []running.Server
}

// Name returns the empty string.
func (p Process) Name() string { return "" }

// Look returns the clients and servers of this process. It never fails.
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

// Look returns the clients and servers of all sources. missing lists the sources that did not answer.
func (s Sources) Look(ctx context.Context) (all []explain.Peer, missing []string) {
	return (&inspector{sources: s}).peers(ctx)
}

// Facts returns the facts about a trace. peers are the clients and servers that Look has returned.
func (s Sources) Facts(ctx context.Context, id string, peers []explain.Peer) explain.Facts {
	f := explain.Facts{TraceID: id, Peers: having(peers, id)}
	for _, source := range s.Spans {
		spans, err := within(ctx, func(ctx context.Context) ([]explain.Span, error) { return source.Trace(ctx, id) })
		switch {
		case err != nil:
			f.Missing = append(f.Missing, source.Name()+": "+line(err.Error()))
		case len(spans) == 0:
			f.Missing = append(f.Missing, source.Name()+" does not have the trace (yet: exports take a few seconds)")
		}
		f.Spans = append(f.Spans, spans...)
	}
	return f
}
