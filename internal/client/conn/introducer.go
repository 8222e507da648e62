package conn

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Introducer introduces a client that passes on what another peer says, in the place of the handshakes of the eras.
type Introducer interface {
	// Introduce returns the request that begins a connection. It is called for each.
	Introduce() relay.Introduction
	// Introduced gets the server's answer. An error ends the client for good.
	Introduced(result json.RawMessage, err error) error
}

// introduce makes one request and takes the session for agreed on with its result. What the client itself has to know
// of that is read as far as it can be: whether it is right is for the peer in front to say.
func (h *handshake) introduce(ctx context.Context, i Introducer) (*Session, error) {
	intro := i.Introduce()
	s := Session{Link: h.link, Era: LegacyEra{}, Said: &Said{}, confirmed: intro.Confirmed}
	params := ReadParams(intro.Params)
	if intro.Method == mcp.MethodDiscover {
		s.Era, s.Version = ModernEra{}, params.Version()
	}
	err := h.sendEncoded(ctx, intro.Method, s.Version, func(id int64, trace *traceContext) ([]byte, error) {
		frame := jsonrpc.AppendRequestHead(nil, jsonrpc.IntID(id), intro.Method)
		if !s.Era.Subscribes() { // initialize belongs to no trace in any revision
			trace = &traceContext{}
		}
		return params.append(frame, &trace.TraceContext), nil
	})
	if err != nil {
		return nil, err
	}
	a, err := h.await(ctx)
	switch {
	case err != nil:
		return nil, err
	case a.failed != nil:
		return nil, a.failed
	case a.err != nil:
		if e, err := PassedError(&a.msg); err == nil {
			if err := i.Introduced(nil, e); err != nil {
				return nil, refuse(err)
			}
		}
		return nil, refusing(a.method, a.err)
	}
	result, err := h.validated(&a)
	if err != nil {
		return nil, err
	}
	s.read(result)
	session := h.c.completed(s)
	OneLine(session, result)
	if h.c.heals() {
		session.held = make(chan struct{})
	}
	if err := i.Introduced(result, nil); err != nil {
		return nil, refuse(err)
	}
	if intro.Confirmed && intro.Method == mcp.MethodInitialize {
		return session, h.notify(ctx, session, mcp.NotificationInitialized)
	}
	return session, nil
}

// early deals with a message that comes before the server's answer, as servers may send pings and log messages, and
// reports false if it is neither. (specification 2025-11-25, basic/lifecycle, "Initialization")
func (h *handshake) early(ctx context.Context, m *jsonrpc.Message) bool {
	switch {
	case m.Kind == jsonrpc.Notification:
		h.c.features.Notified(h.in, m)
	case m.Kind == jsonrpc.Request && m.Method == mcp.MethodPing:
		pong := jsonrpc.AppendAnswer(nil, m.ID, "result", []byte("{}"))
		// In one try: what is behind it is read in any case.
		_ = h.link.Conn.Send(ctx, transport.Message{Data: pong, Kind: transport.Response})
	default:
		return false
	}
	return true
}

// PassedError returns the error of m as it came, with what can be read of it, unless it is no JSON.
func PassedError(m *jsonrpc.Message) (*relay.Error, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	e, _ := m.Failure()
	return &relay.Error{
		Object: m.Middle(), Server: &mcp.Error{Code: e.Code, Message: e.Message, Data: e.Data},
	}, nil
}

// OneLine puts spaces in the place of the line breaks between the tokens of valid JSON, which only HTTP can bring. s is
// nil before there is a session.
func OneLine(s *Session, raw []byte) {
	if s == nil || s.OverHTTP {
		jsonscan.Blank(raw)
	}
}

// read takes what it can of the result of a handshake.
func (s *Session) read(result []byte) {
	server := member(result, "serverInfo")
	if s.Era.Subscribes() {
		server = member(result, "_meta", mcp.MetaServerInfo)
	} else {
		s.Version = readVersion(result, "protocolVersion")
	}
	s.Server.Name, s.Server.Version = readText(server, "name"), readText(server, "version")
	changes := func(list string) bool { return string(member(result, "capabilities", list, "listChanged")) == "true" }
	if changes("tools") {
		s.Capabilities.Tools = &mcp.ListCapability{ListChanged: true}
	}
	if changes("prompts") {
		s.Capabilities.Prompts = &mcp.ListCapability{ListChanged: true}
	}
	if changes("resources") {
		s.Capabilities.Resources = &mcp.ResourcesCapability{ListChanged: true}
	}
}

// member returns the raw member of valid JSON that is found on this path, nil if there is none.
func member(raw []byte, path ...string) []byte {
	for _, name := range path {
		raw, _ = mcp.Object(raw).Lookup(name)
	}
	return raw
}

// readText returns the text on a path, as much of it as is shown, and empty if there is none.
func readText(raw []byte, path ...string) string {
	text, _ := jsonrpc.Text(member(raw, path...))
	return Excerpt(text, MaxShown)
}

// readVersion returns the revision on a path, empty if it is none that can be repeated in a header.
func readVersion(raw []byte, path ...string) mcp.Version {
	text, _ := jsonrpc.Text(member(raw, path...))
	if len(text) > MaxShown || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return mcp.Version(strings.Clone(text))
}

// heals reports whether the client has been ready before and passes on what another peer says: that goes on then,
// whatever becomes of an attempt to connect.
func (c *Conn) heals() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Settings.Introducer != nil && c.m.Session > 0
}
