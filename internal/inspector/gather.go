package inspector

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// patience is the time limit for the request to one source.
const patience = 5 * time.Second

// peers returns the clients and servers of all sources, except this server. missing lists the sources that did not
// answer.
func (in *inspector) peers(ctx context.Context) (all []explain.Peer, missing []string) {
	for _, s := range in.sources.Peers {
		seen, err := within(ctx, s.Look)
		if err != nil {
			missing = append(missing, s.Name()+": "+line(err.Error()))
		}
		for i := range seen.Servers {
			if s.Name() == "" && seen.Servers[i].InstanceID == in.instance {
				seen.Servers = slices.Delete(seen.Servers, i, i+1)
				break
			}
		}
		all = append(all, explain.PeersOf(s.Name(), seen.Clients, seen.Servers)...)
	}
	return all, missing
}

// within calls f with the time limit of a source.
func within[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return f(ctx)
}

// facts returns the facts of all sources about a trace.
func (in *inspector) facts(ctx context.Context, id string) explain.Facts {
	all, missing := in.peers(ctx)
	f := in.sources.Facts(ctx, id, all)
	f.Missing = append(missing, f.Missing...)
	return f
}

// happening is an entry of a flight recorder with its owner.
type happening struct {
	peer  *explain.Peer
	entry *telemetry.FlightEntry
}

// id returns the trace id, or the correlation id of a call without a trace.
func (h *happening) id() string { return cmp.Or(h.entry.TraceID, h.entry.CorrID) }

// operation reports whether the entry is a request, of a client or a server, or an attempt to connect.
func (h *happening) operation() bool {
	return h.entry.Kind == "request" || h.entry.Kind == "handler" || h.entry.Kind == "attempt"
}

// filter selects entries. Empty fields select all.
type filter struct {
	peer, tool, id string
	failed         bool
}

func (f *filter) wants(h *happening) bool {
	e := h.entry
	return (f.peer == "" || strings.EqualFold(line(f.peer), line(h.peer.Name))) &&
		(f.tool == "" || line(f.tool) == line(e.Target)) &&
		(f.id == "" || f.id == e.TraceID || f.id == e.CorrID) && (!f.failed || e.Failed)
}

// own reports whether the entry is a call of this server's own tools, which are of no interest to an agent. A server
// that uses this server's name can hide only calls of tools with these names.
func (h *happening) own() bool {
	c := h.peer.Client
	return c != nil && c.Server == Name && slices.Contains(toolNames, h.entry.Target)
}

// happenings returns the matching entries, the newest first.
func happenings(peers []explain.Peer, f filter) (all []happening) {
	for i := range peers {
		for j := range peers[i].Recent {
			if h := (happening{&peers[i], &peers[i].Recent[j]}); f.wants(&h) && !h.own() {
				all = append(all, h)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b happening) int { return b.entry.Time.Compare(a.entry.Time) })
	return all
}
