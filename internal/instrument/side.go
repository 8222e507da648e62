package instrument

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/internal/instrument/flight"
	"github.com/mcpotel/mcpotel/internal/instrument/series"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// role is what differs between a client and a server: what their metrics, events and attributes are called.
type role struct {
	which  telemetry.Side
	ins    *sideInstruments
	places *places
	keys   *keys
	events *events
}

// side is what a client and a server have in common: everything but the connection's own life. It is safe for
// concurrent use.
type side struct {
	*role
	tel      *hub
	name     string
	instance string
	group    string      // of clients that have one
	base     *knownFacts // what is known without a peer

	facts   interned
	targets series.NameSet // tools and prompts
	ops     series.Memo[opKey, *opInfo]
	endings sync.Mutex // held while an ending is added to an opInfo
	traces  traces
	metrics metrics
	logs    logs
	flight  flight.Recorder

	foreign atomic.Pointer[foreign] // nil before the first
}

func (s *side) init(t *hub, name string, n Network, r *role, opts []SideOption) {
	s.role, s.tel, s.name = r, t, name
	for _, o := range opts {
		o(s)
	}
	if r.keys.group == "" {
		s.group = ""
	}
	s.instance = cmp.Or(s.instance, NewInstanceID())
	s.base = s.facts.intern(Facts{Network: n})
	s.traces.side, s.metrics.side, s.logs.side = s, s, s
	s.flight.Start(time.Now())
	s.metrics.join()
}

func (s *side) transport() attribute.KeyValue {
	return optional(names.KeyNetworkTransport, s.base.Transport)
}

// foreign are words beyond those of the protocol, which few peers use.
type foreign struct{ methods, outcomes series.NameSet }

// beyond returns those of the side.
func (s *side) beyond() *foreign {
	if f := s.foreign.Load(); f != nil {
		return f
	}
	s.foreign.CompareAndSwap(nil, new(foreign))
	return s.foreign.Load()
}

// methodLabel returns the method as metrics have it.
func (s *side) methodLabel(method string, known bool) string {
	if own, ok := words.KnownMethods[method]; ok {
		return own
	}
	if known {
		if own, ok := s.beyond().methods.Intern(method, words.MaxMethods); ok {
			return own
		}
	}
	return names.Other
}
