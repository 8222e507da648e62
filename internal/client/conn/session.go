package conn

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/inflight"
	"github.com/mcpotel/mcpotel/internal/client/seam"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Session is the result of a negotiation over one connection. Nearly all of it is immutable once the client is ready. A
// call keeps a pointer to its session. So the call belongs to that session even if the client reconnects meanwhile.
type Session struct {
	*Link
	Era     Era
	Version mcp.Version
	*Said
	meta  *jsonrpc.Constant // part of the _meta of every request
	Peer  *instrument.Peer
	since time.Time

	// Small fields are adjacent, to avoid padding.
	First      bool // this is the first session of the client
	guessed    bool // the era is a guess, because a modern server may have failed temporarily
	OwnStreams bool // each message has its own stream, as in modern versions over HTTP
	OverHTTP   bool // over HTTP, where the client can close the stream of an answer, except with HTTP+SSE

	held chan struct{} // closed when requests of the user are admitted; nil if they always are

	in     *Reader
	sender sender                     // the connection; nil if it has only Send
	direct func(transport.Frame) bool // handles answers instead of the reader; nil if sender is nil
}

// Said is a server's description of itself. It is immutable, and many sessions may share it.
type Said struct {
	Server       mcp.Implementation
	Capabilities mcp.ServerCapabilities
	Instructions string
}

// usuallySaid shares equal values of Said, because a program may have a thousand sessions with one server, and a value
// takes more memory than the rest of a session.
var usuallySaid Usual[Said]

// Optional interfaces of a transport.Conn, see package seam.
type (
	sender = seam.Sender[transport.Message, transport.Frame]
	rester = seam.Rester[transport.Frame]
)

// Has reports whether the session's version defines a method.
func (s *Session) Has(method string) bool {
	_, ok := mcp.Lookup(method, s.Version)
	return ok
}

// Link is one open connection.
type Link struct {
	Epoch uint64
	Conn  transport.Conn
	Ctx   context.Context         // ends when the client hangs up; carries no span
	end   context.CancelCauseFunc // ends Ctx with a reason
	line  line
}

// Era defines the differences between the two eras of the protocol after the handshake. The handshakes are in
// era_modern.go and era_legacy.go.
type Era interface {
	// requestMeta returns the members that the _meta of every request contains; nil for none.
	requestMeta(*Settings, mcp.Version) (*jsonrpc.Constant, error)
	// ResultType returns the type of a result that has not been decoded yet.
	ResultType(result []byte) (mcp.ResultType, error)
	// Serves reports whether the server may send requests.
	Serves() bool
	// Asks reports whether the server may request input in a result.
	Asks() bool
	// Subscribes reports whether the server reports changes to subscribers only.
	Subscribes() bool
}

// newSession adds the values that depend on the negotiated version of s.
func (c *Conn) newSession(s Session) (*Session, error) {
	s.Era = LegacyEra{}
	if s.Version.Era() == mcp.Modern {
		s.Era = ModernEra{}
	}
	meta, err := s.Era.requestMeta(c.Settings, s.Version)
	if err != nil {
		return nil, err
	}
	s.meta = meta
	return c.completed(s), nil
}

// peerAt returns the description of the server at the other end of the link, with version v, for the telemetry.
func (c *Conn) peerAt(l *Link, v mcp.Version) *instrument.Peer {
	network, info := instrument.Network(c.Transport.Network()), l.Conn.Info()
	network.ProtocolVersion = cmp.Or(info.HTTPVersion, network.ProtocolVersion)
	return c.Telemetry.Peer(instrument.Facts{Network: network, MCPVersion: string(v)}, info.SessionID)
}

// completed adds the values that depend on the version and the connection of s.
func (c *Conn) completed(s Session) *Session {
	s.OverHTTP = c.Transport.Network().Protocol == "http"
	s.OwnStreams = s.OverHTTP && s.Era.Subscribes()
	s.Peer = c.peerAt(s.Link, s.Version)
	s.since = time.Now()
	s.Said = usuallySaid.Of(s.Said, func(a, b *Said) bool { return reflect.DeepEqual(a, b) })
	return &s
}

// noticeMeta returns the members that the _meta of every notification contains. A notification with its own stream must
// identify its sender.
func (s *Session) noticeMeta() *jsonrpc.Constant {
	if s.OwnStreams {
		return s.meta
	}
	return nil
}

// cancelNotice returns the notification that cancels request id at the server.
// (specification 2026-07-28, basic/patterns/cancellation)
func (s *Session) cancelNotice(id int64, reason string, trace jsonrpc.Meta) transport.Message {
	frame, err := encodeNotification(mcp.NotificationCancelled,
		&mcp.CancelledParams{RequestID: mcp.IntID(id), Reason: reason}, trace)
	if err != nil {
		panic("mcpclient: cannot encode notifications/cancelled: " + err.Error())
	}
	return transport.Message{
		Data: frame, Kind: transport.KindNotification, Method: mcp.NotificationCancelled, ProtocolVersion: string(s.Version),
	}
}

// Over returns the fault of an operation that waited for an event in the session until the session ended.
func (s *Session) Over(op string) *Fault {
	o := Outcome{Cause: inflight.Lost, err: context.Cause(s.Ctx)}
	if errors.Is(o.err, ErrShutdown) {
		o.Cause = inflight.Shutdown
	}
	return (&Request{Method: op, Accepted: true}).Failed(o)
}
