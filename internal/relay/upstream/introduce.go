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

// Introduce makes one request, as the peer in front makes it, and takes the session for agreed on with its result. What
// the relay itself has to know of the result is read as far as it can be. The peer in front decides whether it is
// right.
func (h hooks) Introduce(ctx context.Context, by *conn.Handshake) (*conn.Session, error) {
	intro := h.introduction()
	s := conn.Session{Era: conn.LegacyEra{}, Said: &conn.Said{}}
	p := readParams(intro.Params)
	if intro.Method == mcp.MethodDiscover {
		s.Era, s.Version = conn.ModernEra{}, p.Version()
	}
	a, err := by.Ask(ctx, &conn.Question{Method: intro.Method, Version: s.Version, Early: h.early,
		Encode: func(id jsonrpc.ID, trace *instrument.TraceContext) ([]byte, error) {
			if !s.Era.Subscribes() { // initialize belongs to no trace in any revision
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

// early deals with a notification or a ping that comes before the server's answer.
func (h hooks) early(r *conn.Reader, m *jsonrpc.Message) bool {
	switch {
	case m.Kind == jsonrpc.Notification:
		h.Notified(r, m)
	case m.Kind == jsonrpc.Request && m.Method == mcp.MethodPing:
		// In one try: what is behind it is read in any case.
		_ = r.Answer(jsonrpc.AppendAnswer(nil, m.ID, "result", []byte("{}")), false)
	default:
		return false
	}
	return true
}

// passedError returns the error of m, which is valid JSON, as it came, with what can be read of it.
func passedError(m *jsonrpc.Message) *relay.Error {
	e, _ := m.Failure()
	return &relay.Error{
		Object: m.Middle(), Server: &mcp.Error{Code: e.Code, Message: e.Message, Data: e.Data},
	}
}

// oneLine puts spaces in the place of the line breaks between the tokens of valid JSON, which only HTTP can bring. s is
// nil before there is a session.
func oneLine(s *conn.Session, raw []byte) {
	if s == nil || s.OverHTTP {
		jsonscan.Blank(raw)
	}
}

// read takes what it can of the result of an introduction.
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
