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

// Session is what was agreed on with the server over one connection. Nearly all of it is immutable once the client is
// ready; a call takes the pointer once and keeps to it, so that a call belongs to one session, even if the client
// reconnects meanwhile.
type Session struct {
	*Link
	Era     Era
	Version mcp.Version
	*Said
	meta  *jsonrpc.Constant // goes into the _meta of every request
	Peer  *instrument.Peer
	since time.Time

	// What is small lies together, without gaps.
	First      bool // of the client
	guessed    bool // the era is: a modern server may have had an accident
	OwnStreams bool // each message is on its own: modern versions over HTTP
	OverHTTP   bool // an answer has a stream that can be closed, if the transport is not HTTP+SSE

	held chan struct{} // closed when others than the client's own requests may be made; nil for from the start

	in     *Reader
	sender sender                     // the connection, nil if it has no more than Send
	direct func(transport.Frame) bool // takes answers past the reader; nil as sender
}

// Said is what a server has said of itself. It does not change, and many sessions may share it.
type Said struct {
	Server       mcp.Implementation
	Capabilities mcp.ServerCapabilities
	Instructions string
}

// usuallySaid is what many sessions have in common: a program may well have a thousand with one server, and what it
// says takes more memory than the rest of them.
var usuallySaid Usual[Said]

// What some connections have beyond transport.Conn, see package seam.
type (
	sender = seam.Sender[transport.Message, transport.Frame]
	rester = seam.Rester[transport.Frame]
)

// Has reports whether the session's version has a method.
func (s *Session) Has(method string) bool {
	_, ok := mcp.Lookup(method, s.Version)
	return ok
}

// Link is one open connection and the time it is used in.
type Link struct {
	Epoch uint64
	Conn  transport.Conn
	Ctx   context.Context         // ends when the client hangs up; carries no span
	end   context.CancelCauseFunc // ends ctx, with why
	line  line
}

// Era is what differs between the two eras of the protocol after the handshake. The handshakes themselves are in
// era_modern.go and era_legacy.go.
type Era interface {
	// requestMeta returns the members that every request's _meta has, nil for none.
	requestMeta(*Settings, mcp.Version) (*jsonrpc.Constant, error)
	// ResultType returns the type of a result, of which nothing has been decoded yet.
	ResultType(result []byte) (mcp.ResultType, error)
	// Serves reports whether the server may send requests.
	Serves() bool
	// Asks reports whether the server may ask for input by a result.
	Asks() bool
	// Subscribes reports whether the server tells of changes only to those who subscribe.
	Subscribes() bool
}

// newSession completes s with what follows from the agreed version.
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

// peerAt returns what telemetry says of the server at the other end of the link, which speaks the version.
func (c *Conn) peerAt(l *Link, v mcp.Version) *instrument.Peer {
	network, info := instrument.Network(c.Transport.Network()), l.Conn.Info()
	network.ProtocolVersion = cmp.Or(info.HTTPVersion, network.ProtocolVersion)
	return c.Telemetry.Peer(instrument.Facts{Network: network, MCPVersion: string(v)}, info.SessionID)
}

// completed completes s with what follows from its version and its connection.
func (c *Conn) completed(s Session) *Session {
	s.OverHTTP = c.Transport.Network().Protocol == "http"
	s.OwnStreams = s.OverHTTP && s.Era.Subscribes()
	s.Peer = c.peerAt(s.Link, s.Version)
	s.since = time.Now()
	s.Said = usuallySaid.Of(s.Said, func(a, b *Said) bool { return reflect.DeepEqual(a, b) })
	return &s
}

// noticeMeta returns the members that every notification's _meta has. Where it is on its own, it has to say whose it
// is.
func (s *Session) noticeMeta() *jsonrpc.Constant {
	if s.OwnStreams {
		return s.meta
	}
	return nil
}

// cancelNotice returns the notification that tells the server to stop working on request id.
// (specification 2026-07-28, basic/patterns/cancellation)
func (s *Session) cancelNotice(id int64, reason string, trace jsonrpc.Meta) transport.Message {
	frame, err := encodeNotification(mcp.NotificationCancelled,
		&mcp.CancelledParams{RequestID: mcp.IntID(id), Reason: reason}, trace)
	if err != nil {
		panic("mcpclient: a cancelled notification cannot be encoded: " + err.Error())
	}
	return transport.Message{
		Data: frame, Kind: transport.Notification, Method: mcp.NotificationCancelled, ProtocolVersion: string(s.Version),
	}
}

// Over is the fault of an operation that was waiting for something in the session when that ended.
func (s *Session) Over(op string) *Fault {
	o := Outcome{Cause: inflight.Lost, err: context.Cause(s.Ctx)}
	if errors.Is(o.err, ErrShutdown) {
		o.Cause = inflight.Shutdown
	}
	return (&Request{Method: op, Accepted: true}).Failed(o)
}
