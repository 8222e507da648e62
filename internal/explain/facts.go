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

// Facts are what is known of one trace.
type Facts struct {
	TraceID string // or the correlation id of a call that has no trace, because the program records none
	Spans   []Span // none if no source of spans has it
	Peers   []Peer // that have something of the trace, with all that is in their flight recorders
	Missing []string

	// Alone, in place of TraceID, is an entry of a Peer that has neither: a request at a server, if no trace is recorded.
	Alone *telemetry.FlightEntry
}

// of reports whether an entry is of the trace.
func (f *Facts) of(e *telemetry.FlightEntry) bool { return isOf(e, f.TraceID) || e == f.Alone }

// Span is a span of the trace.
type Span struct {
	ID, Parent string
	Service    string
	Process    string // what its resource says of where it was recorded, all of it: see [ProcessOf]
	Name       string
	Kind       string // CLIENT, SERVER or INTERNAL
	Start, End time.Time
	Failed     bool
	Message    string // description of its status, which may have words of the peer
	Attributes map[string]string
}

// ProcessOf returns the identity of the process whose resource has these attributes. A peer may export spans under any
// resource, but knows that of another process only by guessing all of it, such as the random service.instance.id.
func ProcessOf(resource map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(resource)) {
		fmt.Fprintf(&b, "%q=%q,", key, resource[key])
	}
	hash := sha256.Sum256([]byte(b.String()))
	return string(hash[:])
}

// Peer is a client or a server with its flight recorder.
type Peer struct {
	Source string // where it was seen: empty for this process
	Name   string
	Client *inspect.Client // nil for a server
	Recent []telemetry.FlightEntry

	RequestTimeout time.Duration // of a server; zero for none
}

// Side says which end it is.
func (p *Peer) Side() string {
	if p.Client == nil {
		return serverSide
	}
	return clientSide
}

// The two ends.
const (
	clientSide = "client"
	serverSide = "server"
)

// PeersOf are the clients and servers as peers.
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

// Has reports whether the flight recorder has something of a trace, or of the call of a correlation id.
func (p *Peer) Has(id string) bool {
	return slices.ContainsFunc(p.Recent, func(e telemetry.FlightEntry) bool { return isOf(&e, id) })
}

func isOf(e *telemetry.FlightEntry, id string) bool {
	return id != "" && (e.TraceID == id || e.CorrID == id)
}
