package upstream

import (
	"context"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

// Introduce sends the first request of the peer in front, and completes the session with any result of the server. The
// relay reads those members of the result that it needs, if they are valid. The peer in front decides whether to accept
// the result.
func (h hooks) Introduce(ctx context.Context, by *conn.Handshake) (*conn.Session, error) {
	intro := h.introduction()
	s := conn.Session{Era: conn.LegacyEra{}, Said: &conn.Said{}}
	p := readParams(intro.Params)
	if intro.Method == mcp.MethodDiscover {
		s.Era, s.Version = conn.ModernEra{}, p.Version()
	}
	a, err := by.Ask(ctx, &conn.Question{Method: intro.Method, Version: s.Version, Early: h.early,
		Encode: func(id jsonrpc.ID, trace *instrument.TraceContext) ([]byte, error) {
			if !s.Era.Subscribes() { // initialize has no trace context in any revision
				trace = &instrument.TraceContext{}
			}
			return p.append(jsonrpc.AppendRequestHead(nil, id, intro.Method), trace), nil
		}})
	switch {
	case a.Kind == jsonrpc.Error:
		e := passedError(&a)
		if ended := h.introduced(nil, e); ended != nil {
			return nil, conn.Refuse(ended)
		}
		return nil, err
	case err != nil:
		return nil, err
	}
	result := a.Middle()
	read(&s, result)
	session := by.Agree(s, h.c.hadSession())
	oneLine(session, result)
	if err := h.introduced(result, nil); err != nil {
		return nil, conn.Refuse(err)
	}
	if intro.Confirmed && intro.Method == mcp.MethodInitialize {
		h.c.confirmed(session)
		return session, by.Notify(ctx, session, mcp.NotificationInitialized)
	}
	return session, nil
}

// early handles a notification or a ping that arrives before the server's answer. It reports false for any other
// message.
func (h hooks) early(r *conn.Reader, m *jsonrpc.Message) bool {
	switch {
	case m.Kind == jsonrpc.Notification:
		h.Notified(r, m)
	case m.Kind == jsonrpc.Request && m.Method == mcp.MethodPing:
		// One attempt to send the answer is enough: the handshake continues even if it fails.
		_ = r.Answer(jsonrpc.AppendAnswer(nil, m.ID, "result", []byte("{}")), false)
	default:
		return false
	}
	return true
}

// passedError returns the error in m: its object unchanged, and its readable members. m is valid JSON.
func passedError(m *jsonrpc.Message) *relay.Error {
	e, _ := m.Failure()
	return &relay.Error{
		Object: m.Middle(), Server: &mcp.Error{Code: e.Code, Message: e.Message, Data: e.Data},
	}
}

// oneLine replaces the line breaks between the tokens of valid JSON with spaces. Only messages over HTTP can have such
// line breaks. s is nil before the first session.
func oneLine(s *conn.Session, raw []byte) {
	if s == nil || s.OverHTTP {
		jsonscan.Blank(raw)
	}
}

// read reads the valid members of the result of an introduction into s.
func read(s *conn.Session, result []byte) {
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
