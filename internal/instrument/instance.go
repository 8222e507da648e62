package instrument

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"

	"go.opentelemetry.io/otel/attribute"
)

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
