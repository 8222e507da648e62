package explain

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Facts are the telemetry of one trace.
type Facts struct {
	TraceID string   // trace id, or the correlation id of a call if the program records no traces
	Spans   []Span   // empty if no source of spans has the trace
	Peers   []Peer   // clients and servers with entries of the trace, with their whole flight recorders
	Missing []string // sources that could not be read

	// Alone replaces TraceID for an entry without a trace id and without a correlation id: a request at a server that
	// records no traces.
	Alone *telemetry.FlightEntry
}

// of reports whether an entry belongs to the trace.
func (f *Facts) of(e *telemetry.FlightEntry) bool { return isOf(e, f.TraceID) || e == f.Alone }

// Span is a span of the trace.
type Span struct {
	ID, Parent string
	Service    string
	Process    string // identity of the exporting process; see [ProcessOf]
	Name       string
	Kind       string // CLIENT, SERVER or INTERNAL
	Start, End time.Time
	Failed     bool
	Message    string // description of the span's status, which may quote the peer
	Attributes map[string]string
}

// ProcessOf returns the identity of the process with these resource attributes. A peer may export spans under any
// resource, but it can only imitate another process by guessing every attribute, including the random
// service.instance.id.
func ProcessOf(resource map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(resource)) {
		fmt.Fprintf(&b, "%q=%q,", key, resource[key])
	}
	hash := sha256.Sum256([]byte(b.String()))
	return string(hash[:])
}

// Peer is a client or a server, with the entries of its flight recorder.
type Peer struct {
	Source string // address of the debug page that described the peer; empty for this process
	Name   string
	Client *inspect.Client // nil for a server
	Recent []telemetry.FlightEntry

	RequestTimeout time.Duration // limit of a server; zero for no limit, and for clients
}

// Side returns clientSide or serverSide.
func (p *Peer) Side() string {
	if p.Client == nil {
		return serverSide
	}
	return clientSide
}

// Values of [Peer.Side].
const (
	clientSide = "client"
	serverSide = "server"
)

// PeersOf converts clients and servers to peers.
func PeersOf(source string, clients []inspect.Client, servers []inspect.Server) (all []Peer) {
	for i := range clients {
		all = append(all, Peer{Source: source, Name: clients[i].Name, Client: &clients[i], Recent: clients[i].Recent})
	}
	for _, s := range servers {
		for _, n := range s.Networks {
			all = append(all, Peer{Source: source, Name: s.Name, Recent: n.Recent, RequestTimeout: s.Limits.RequestTimeout})
		}
	}
	return all
}

// Has reports whether the flight recorder has an entry with this trace id or correlation id.
func (p *Peer) Has(id string) bool {
	return slices.ContainsFunc(p.Recent, func(e telemetry.FlightEntry) bool { return isOf(&e, id) })
}

func isOf(e *telemetry.FlightEntry, id string) bool {
	return id != "" && (e.TraceID == id || e.CorrID == id)
}
