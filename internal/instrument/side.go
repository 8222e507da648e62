package instrument

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/internal/instrument/flight"
	"github.com/mcpotel/mcpotel/internal/instrument/series"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// side holds the common state of clients and servers: everything except the life of a client's connection. It is safe
// for concurrent use.
type side struct {
	*role
	tel      *hub
	name     string
	instance string
	group    string      // group of a client; empty for none
	base     *knownFacts // the facts before a peer is known

	facts   interned
	targets series.NameSet // tools and prompts
	ops     series.Memo[opKey, *opInfo]
	endings sync.Mutex // held while an opInfo gets a new ending
	traces  traces
	metrics metrics
	logs    logs
	flight  flight.Recorder

	foreign atomic.Pointer[foreign] // nil before the first foreign name
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

// foreign holds names outside of the protocol. Few peers use such names.
type foreign struct{ methods, outcomes series.NameSet }

// foreignNames returns the foreign names of the side.
func (s *side) foreignNames() *foreign {
	if f := s.foreign.Load(); f != nil {
		return f
	}
	s.foreign.CompareAndSwap(nil, new(foreign))
	return s.foreign.Load()
}

// methodLabel returns the method as a metric label.
func (s *side) methodLabel(method string, known bool) string {
	if own, ok := words.KnownMethods[method]; ok {
		return own
	}
	if known {
		if own, ok := s.foreignNames().methods.Intern(method, words.MaxMethods); ok {
			return own
		}
	}
	return names.Other
}

// SideOption is an option for one client or server: see [NewClient] and [NewServer].
type SideOption func(*side)

// WithInstanceID sets the id that distinguishes clients, or servers, with the same name. It is the value of
// mcp_client.instance.id or mcp_server.instance.id on spans and log records. Metrics do not have it, because it would
// multiply their series. Empty means a [NewInstanceID], which is the default.
func WithInstanceID(id string) SideOption { return func(s *side) { s.instance = id } }

// WithGroup sets the group of a client: see [names.KeyMCPClientGroup]. Empty means no group, which is the default.
// Servers ignore it.
func WithGroup(group string) SideOption { return func(s *side) { s.group = group } }

// NewInstanceID returns an id that no other client or server has: 16 random hexadecimal digits. The id is not a secret.
func NewInstanceID() string {
	var id [8]byte
	binary.BigEndian.PutUint64(id[:], rand.Uint64())
	return hex.EncodeToString(id[:])
}

// identify appends the attributes that identify the side on a span. The logger adds them to every record.
func (s *side) identify(attrs []attribute.KeyValue) []attribute.KeyValue {
	attrs = append(attrs, optional(s.keys.name, s.name), attribute.String(s.keys.instance, s.instance))
	if s.group != "" {
		attrs = append(attrs, attribute.String(s.keys.group, s.group))
	}
	return attrs
}
