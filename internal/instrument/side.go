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

// SideOption is an option of one client or server: see [NewClient] and [NewServer].
type SideOption func(*side)

// WithInstanceID sets what tells clients of one name apart, and servers: the value of mcp_client.instance.id or
// mcp_server.instance.id, which spans and log records have beside the name. Metrics do not have it, whose series it
// would multiply. Empty, the default, means a [NewInstanceID].
func WithInstanceID(id string) SideOption { return func(s *side) { s.instance = id } }

// WithGroup sets the group that a client is in: see [names.KeyMCPClientGroup]. Empty, the default, means none; a server
// has none.
func WithGroup(group string) SideOption { return func(s *side) { s.group = group } }

// NewInstanceID returns an id that no other client or server has: 16 random hexadecimal digits. It tells them apart and
// protects nothing.
func NewInstanceID() string {
	var id [8]byte
	binary.BigEndian.PutUint64(id[:], rand.Uint64())
	return hex.EncodeToString(id[:])
}

// identify appends what says whose span it is; the logger says it of every record.
func (s *side) identify(attrs []attribute.KeyValue) []attribute.KeyValue {
	attrs = append(attrs, optional(s.keys.name, s.name), attribute.String(s.keys.instance, s.instance))
	if s.group != "" {
		attrs = append(attrs, attribute.String(s.keys.group, s.group))
	}
	return attrs
}
