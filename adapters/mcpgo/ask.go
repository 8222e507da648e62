package mcpgo

import (
	"context"
	"errors"
	"io"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// asking is a session whose client answers requests.
type asking interface {
	server.SessionWithSampling
	server.SessionWithElicitation
	server.SessionWithRoots
}

// Interfaces of the sessions of mcp-go's transports. A replacement must implement the same interfaces, because mcp-go
// uses type assertions. TestWrappedSessionKeepsInterfaces compares them.
type (
	stdioSession interface {
		asking
		server.SessionWithLogging
		server.SessionWithClientInfo
		server.SessionWithProtocolVersion
		SetProtocolVersion(version string)
		SetWriter(w io.Writer)
	}
	httpSession interface {
		asking
		server.SessionWithLogging
		server.SessionWithClientInfo
		server.SessionWithProtocolVersion
		SetProtocolVersion(version string)
		server.SessionWithTools
		server.SessionWithResources
		server.SessionWithResourceTemplates
		server.SessionWithStreamableHTTPConfig
		server.SessionWithSubscriptionFilter
	}
)

// observed returns a replacement for the session s that observes the requests of handlers to the client. It returns nil
// if s cannot send requests.
func observed(s server.ClientSession, n *network, p *instrument.Peer) server.ClientSession {
	switch s := s.(type) {
	case httpSession:
		return &observedHTTP{s, asker{n.tel, p}}
	case stdioSession:
		return &observedStdio{s, asker{n.tel, p}}
	}
	return nil
}

type observedStdio struct {
	stdioSession
	asker asker
}

func (s *observedStdio) RequestSampling(ctx context.Context, q mcp.CreateMessageRequest) (*mcp.CreateMessageResult,
	error) {
	return s.asker.sample(ctx, s.stdioSession, q)
}

func (s *observedStdio) RequestElicitation(ctx context.Context, q mcp.ElicitationRequest) (*mcp.ElicitationResult,
	error) {
	return s.asker.elicit(ctx, s.stdioSession, q)
}

func (s *observedStdio) ListRoots(ctx context.Context, q mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return s.asker.roots(ctx, s.stdioSession, q)
}

type observedHTTP struct {
	httpSession
	asker asker
}

func (s *observedHTTP) RequestSampling(ctx context.Context, q mcp.CreateMessageRequest) (*mcp.CreateMessageResult,
	error) {
	return s.asker.sample(ctx, s.httpSession, q)
}

func (s *observedHTTP) RequestElicitation(ctx context.Context, q mcp.ElicitationRequest) (*mcp.ElicitationResult,
	error) {
	return s.asker.elicit(ctx, s.httpSession, q)
}

func (s *observedHTTP) ListRoots(ctx context.Context, q mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return s.asker.roots(ctx, s.httpSession, q)
}

// asker sends requests to a client.
type asker struct {
	tel  *instrument.Server
	peer *instrument.Peer
}

func (a *asker) start(ctx context.Context, method mcp.MCPMethod) (context.Context, instrument.Op) {
	ctx, op := a.tel.StartRequest(ctx, instrument.Request{Method: string(method)})
	op.Meet(a.peer)
	op.Sending()
	return ctx, op
}

// mcp-go has no _meta in the params of sampling/createMessage and roots/list: only elicitation/create can carry the
// trace context.

func (a *asker) sample(ctx context.Context, s asking, q mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	ctx, op := a.start(ctx, mcp.MethodSamplingCreateMessage)
	result, err := s.RequestSampling(ctx, q)
	op.End(asked(ctx, err))
	return result, err
}

func (a *asker) elicit(ctx context.Context, s asking, q mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	ctx, op := a.start(ctx, mcp.MethodElicitationCreate)
	if trace := op.TraceContext(); !trace.IsZero() {
		q.Params.Meta = withTraceMeta(&trace, q.Params.Meta)
	}
	result, err := s.RequestElicitation(ctx, q)
	op.End(asked(ctx, err))
	return result, err
}

func (a *asker) roots(ctx context.Context, s asking, q mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	ctx, op := a.start(ctx, mcp.MethodListRoots)
	result, err := s.ListRoots(ctx, q)
	op.End(asked(ctx, err))
	return result, err
}

// asked returns the outcome of a request to the client. mcp-go keeps the text of the client's error, but not its code.
func asked(ctx context.Context, err error) instrument.Result {
	switch {
	case err == nil:
		return instrument.Result{}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return instrument.Result{ErrorType: names.ErrorTimeout, Err: err}
	case ctx.Err() != nil:
		return instrument.Result{ErrorType: names.ErrorCancelled, Err: err, CallerLeft: true}
	}
	return instrument.Result{Err: err}
}
