package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpotel/mcpotel/internal/within"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// If the request that a member is answering is known, the member's own requests and notifications are sent to the host
// on the stream of that request.

// enter adds a request that the member is about to answer.
func (m *member) enter(r *request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, r)
}

// leave removes an ended request. If the request was not answered, the member may still send notifications that belong
// to the request but do not name it.
func (m *member) leave(r *request, answered bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unanswered = m.unanswered || !answered
	m.calls = slices.DeleteFunc(m.calls, func(other *request) bool { return other == r })
}

// answering returns the request to which a message of the member belongs if the message names none: the latest request
// that wants such messages. If other hosts share the member, the guess could reach the wrong host. Then answering
// returns nil unless only one request wants the message, and no request of this session has ended without an answer.
func (m *member) answering(wants func(*request) bool) *request {
	m.mu.Lock()
	calls, unanswered := slices.Clone(m.calls), m.unanswered
	m.mu.Unlock()
	calls = slices.DeleteFunc(calls, func(r *request) bool { return !wants(r) })
	if len(calls) == 0 || (len(calls) > 1 || unanswered) && m.h.isShared() {
		return nil
	}
	return calls[len(calls)-1]
}

// isShared reports whether the group serves all hosts without sessions.
func (h *hostGroup) isShared() bool {
	h.g.mu.Lock()
	defer h.g.mu.Unlock()
	return h.g.shared == h
}

// log passes a log message of a member to the host. If there are several members, the logger contains the member's
// name. A message that belongs to no host is dropped.
func (m *member) log(ctx context.Context, p *mcp.LoggingMessageParams) {
	logger := m.name
	switch {
	case m.h.g.o.NoPrefix:
		logger = p.Logger
	case p.Logger != "":
		logger += "/" + p.Logger
	}
	logger = m.h.g.guard.text(ctx, mcp.NotificationMessage, logger)
	data := m.h.g.seen(ctx, mcp.NotificationMessage, p.Data)
	of := m.answering(func(r *request) bool { return r.info.Session() != nil || r.level() != "" })
	if of == nil {
		m.logAtLarge(p.Level, logger, data)
		return
	}
	told := of.tell(len(logger)+len(data), func(ctx context.Context) {
		if err := of.info.Log(ctx, p.Level, logger, data); errors.Is(err, mcpserver.ErrAnswered) {
			m.logAtLarge(p.Level, logger, data)
		}
	})
	if !told {
		m.h.g.tel.NotificationDropped(mcp.NotificationMessage, names.DropQueueFull)
	}
}

// logAtLarge passes on a log message that belongs to no request.
func (m *member) logAtLarge(level mcp.LoggingLevel, logger string, data json.RawMessage) {
	if s := m.h.of(); s != nil {
		_ = s.Log(level, logger, data) // best effort: a message that is too large or has an unknown level is dropped
		return
	}
	m.h.g.tel.NotificationDropped(mcp.NotificationMessage, names.DropNoStream)
}

// asks lets the host answer a request of a member.
func (m *member) asks(ctx context.Context, r *mcpclient.Request) (any, error) {
	s := m.h.of()
	if s == nil {
		return nil, &mcp.Error{Code: mcp.CodeInternalError, Message: "the host's revision permits requests of the server " +
			"only in the answer to a call, but the server sent one by itself"}
	}
	ctx, end := m.h.g.guard.ending(ctx, r.Method)
	defer end()
	ask, result, err := question(r.Method, m.h.g.seen(ctx, r.Method, r.Params))
	if err != nil {
		return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: err.Error()}
	}
	err = errNoRequest
	if of := m.answering((*request).mayAsk); of != nil {
		err = of.info.AskAll(within.Values(ctx, of.ctx), ask)
	}
	if err == errNoRequest || errors.Is(err, mcpserver.ErrAnswered) && ctx.Err() == nil {
		// the member answers no request, or the chosen request has ended and another one must have caused the question
		err = s.AskAll(ctx, ask)
	}
	if no, ok := errors.AsType[*mcpserver.ClientError](err); ok {
		err = &mcp.Error{Code: no.Code, Message: no.Message, Data: no.Data}
	}
	return result, err
}

// mayAsk reports whether the server may send requests to the host while it handles r.
func (r *request) mayAsk() bool {
	switch r.info.Method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource, mcp.MethodTaskResult:
		return true
	}
	return false
}

var errNoRequest = errors.New("the server has no request of the host in progress")

// question converts a member's request to a request for the host. result is the value for decoding the answer.
func question(method string, params json.RawMessage) (ask *mcpserver.Ask, result any, err error) {
	switch method {
	case mcp.MethodElicit:
		p, r := new(mcp.ElicitParams), new(mcp.ElicitResult)
		return mcpserver.AskElicit("", p, r), r, decodeParams(params, p)
	case mcp.MethodCreateMessage:
		p, r := new(mcp.CreateMessageParams), new(mcp.CreateMessageResult)
		return mcpserver.AskCreateMessage("", p, r), r, decodeParams(params, p)
	case mcp.MethodListRoots:
		r := new(mcp.ListRootsResult)
		return mcpserver.AskListRoots("", r), r, nil
	}
	return nil, nil, fmt.Errorf("hosts do not handle requests of the method %q", method)
}

// elicited notifies the host that a user has completed a URL visit.
func (m *member) elicited(ctx context.Context, n *mcpclient.Notification) {
	var p mcp.ElicitationCompleteParams
	if n.Decode(&p) == nil {
		m.h.mu.Lock()
		server := m.h.server
		m.h.mu.Unlock()
		server.ElicitationComplete(m.h.g.guard.text(ctx, n.Method, p.ElicitationID))
	}
}
