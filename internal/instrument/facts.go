package instrument

import (
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/internal/instrument/series"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Network describes a connection before it is open. It has the same fields as Network of package transport, so that one
// type converts to the other. Fields that do not apply are empty, and their attributes are absent: a child process has
// only Transport, an in-memory connection has no fields.
type Network struct {
	Transport       string // network.transport: pipe, tcp, quic, unix
	Protocol        string // network.protocol.name: http
	ProtocolVersion string // network.protocol.version: 1.1, 2
	Address         string // server.address: the dialled name
	Port            int    // server.port
}

// Facts describes a negotiated connection. Its Network equals the Network of the Client or Server, except that it may
// also contain the version of the network protocol.
type Facts struct {
	Network
	MCPVersion string // mcp.protocol.version
}

// knownFacts holds Facts with their attributes, by the direction of the message. The attributes do not include the
// network transport, which spans have from the start.
type knownFacts struct {
	Facts
	attrs [2][]attribute.KeyValue
}

// commonFacts shares equal knownFacts among all clients and servers of the process.
var commonFacts series.Commons[Facts, knownFacts]

func newKnownFacts(f Facts) *knownFacts {
	k := &knownFacts{Facts: f}
	attrs := present(
		optional(names.KeyMCPProtocolVersion, f.MCPVersion),
		optional(names.KeyNetworkProtocolName, f.Protocol),
		optional(names.KeyNetworkProtocolVersion, f.ProtocolVersion),
		optional(names.KeyServerAddress, f.Address))
	received := len(attrs)
	if f.Address != "" {
		received--
	}
	if f.Port != 0 {
		attrs = append(attrs, attribute.Int(names.KeyServerPort, f.Port))
	}
	k.attrs[telemetry.DirectionSent] = slices.Clone(attrs) // without spare capacity: the connection keeps the slice
	k.attrs[telemetry.DirectionReceived] = k.attrs[telemetry.DirectionSent][:received:received]
	return k
}

// optional returns an attribute, or an invalid one if value is empty.
func optional(key, value string) (kv attribute.KeyValue) {
	if value != "" {
		kv = attribute.String(key, value)
	}
	return kv
}

// present returns the attributes that are valid.
func present(attrs ...attribute.KeyValue) []attribute.KeyValue {
	return slices.DeleteFunc(attrs, func(a attribute.KeyValue) bool { return !a.Valid() })
}

// interned holds one knownFacts for each value, so that pointers can be compared.
type interned struct {
	mu  sync.Mutex
	all []*knownFacts // the first element describes the network before a peer is known
}

// intern returns the only knownFacts with the value f. Beyond MaxFacts values, it replaces data of the peer with
// _OTHER.
func (in *interned) intern(f Facts) *knownFacts {
	in.mu.Lock()
	defer in.mu.Unlock()
	if k := in.find(f); k != nil {
		return k
	}
	if len(in.all) >= words.MaxFacts {
		network := in.all[0].Network
		if f.ProtocolVersion != network.ProtocolVersion {
			network.ProtocolVersion = names.Other
		}
		f = Facts{Network: network, MCPVersion: names.Other}
		if k := in.find(f); k != nil {
			return k
		}
	}
	f.MCPVersion, f.ProtocolVersion = strings.Clone(f.MCPVersion), strings.Clone(f.ProtocolVersion)
	k := commonFacts.Get(f, newKnownFacts)
	in.all = append(in.all, k)
	return k
}

func (in *interned) find(f Facts) *knownFacts {
	for _, k := range in.all {
		if k.Facts == f {
			return k
		}
	}
	return nil
}
