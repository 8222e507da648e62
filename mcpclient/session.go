package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/inflight"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// session is what was agreed on with the server over one connection. Nearly all of it is immutable once the client is
// ready; calls take the pointer and keep to it, so that a call belongs to one session whatever happens meanwhile.
type session struct {
	*link
	era          era
	version      mcp.Version
	server       mcp.Implementation
	capabilities mcp.ServerCapabilities
	instructions string
	meta         *jsonrpc.Constant // goes into the _meta of every request
	peer         *instrument.Peer
	since        time.Time

	// What is small lies together, without gaps.
	first      bool // of the client
	guessed    bool // the era is: a modern server may have had an accident
	ownStreams bool // each message is on its own: modern versions over HTTP
	overHTTP   bool // an answer has a stream that can be closed, if the transport is not HTTP+SSE

	in     *reader
	direct func(transport.Frame) bool // takes answers past the reader
}

// has reports whether the session's version has a method.
func (s *session) has(method string) bool {
	_, ok := mcp.Lookup(method, s.version)
	return ok
}

// link is one open connection and the time it is used in.
type link struct {
	epoch uint64
	conn  transport.Conn
	ctx   context.Context         // ends when the client hangs up; carries no span
	end   context.CancelCauseFunc // ends ctx, with why
}

// era is what differs between the two eras of the protocol after the handshake. The handshakes themselves are in
// era_modern.go and era_legacy.go.
type era interface {
	// requestMeta returns the members that every request's _meta has, nil for none.
	requestMeta(*settings, mcp.Version) (*jsonrpc.Constant, error)
	// resultType returns the type of a result, of which nothing has been decoded yet.
	resultType(result []byte) (mcp.ResultType, error)
	// serves reports whether the server may send requests.
	serves() bool
	// asks reports whether the server may ask for input by a result.
	asks() bool
	// subscribes reports whether the server tells of changes only to those who subscribe.
	subscribes() bool
}

// newSession completes s with what follows from the agreed version.
func (c *core) newSession(s session) (*session, error) {
	s.era = legacyEra{}
	if s.version.Era() == mcp.Modern {
		s.era = modernEra{}
	}
	meta, err := s.era.requestMeta(c.cfg, s.version)
	if err != nil {
		return nil, err
	}
	s.meta = meta
	network := instrument.Network(c.transport.Network())
	s.overHTTP = network.Protocol == "http"
	s.ownStreams = s.overHTTP && s.version.Era() == mcp.Modern
	info := s.conn.Info()
	network.ProtocolVersion = cmp.Or(info.HTTPVersion, network.ProtocolVersion)
	s.peer = c.tel.Peer(instrument.Facts{Network: network, MCPVersion: string(s.version)}, info.SessionID)
	s.since = time.Now()
	return &s, nil
}

// noticeMeta returns the members that every notification's _meta has. Where it is on its own, it has to say whose it
// is.
func (s *session) noticeMeta() *jsonrpc.Constant {
	if s.ownStreams {
		return s.meta
	}
	return nil
}

// cancelNotice returns the notification that tells the server to stop working on request id.
// (specification 2026-07-28, basic/patterns/cancellation)
func (s *session) cancelNotice(id int64, reason string, trace jsonrpc.Meta) transport.Message {
	frame, err := encodeNotification(mcp.NotificationCancelled,
		&mcp.CancelledParams{RequestID: mcp.IntID(id), Reason: reason}, trace)
	if err != nil {
		panic("mcpclient: a cancelled notification cannot be encoded: " + err.Error())
	}
	return transport.Message{
		Data: frame, Kind: transport.Notification, Method: mcp.NotificationCancelled, ProtocolVersion: string(s.version),
	}
}

// over is the fault of an operation that was waiting for something in the session when that ended.
func (s *session) over(op string) *fault {
	o := outcome{cause: inflight.Lost, err: context.Cause(s.ctx)}
	if errors.Is(o.err, errShutdown) {
		o.cause = inflight.Shutdown
	}
	return (&request{method: op, accepted: true}).failed(o)
}
