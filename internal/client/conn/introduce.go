package conn

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// Introduction defines how a client negotiates a session with a server.
type Introduction interface {
	// Introduce negotiates a session over a connection. It runs in the goroutine of the connection, and reads from the
	// connection through h. ctx ends with the timeout of the attempt, and carries the attempt's span.
	Introduce(ctx context.Context, h *Handshake) (*Session, error)
}

// eras is the client's own introduction: server/discover, initialize, or first server/discover and then initialize.
type eras struct{}

func (eras) Introduce(ctx context.Context, h *Handshake) (s *Session, err error) {
	h.fallsBack = len(h.c.Settings.Legacy) > 0
	probed := h.c.probes()
	if probed {
		s, err = h.probeFor(ctx)
		if err == nil || !errors.Is(err, errLegacy) {
			return s, err
		}
		if len(h.c.Settings.Legacy) == 0 {
			return nil, Refuse(fmt.Errorf("%w: %w, but the client supports only %q (Options.Versions)", ErrNoCommonVersion, err,
				h.c.Settings.Modern))
		}
	}
	version := h.c.Settings.Legacy[0]
	s, err = h.initialize(ctx, version)
	if next, ok := h.alternative(err, version); ok {
		s, err = h.initialize(ctx, next)
	}
	if f, ok := errors.AsType[*failure](err); ok && probed && h.ended(f) {
		// Some servers answer the probe with an error and then exit.
		return nil, &failure{event: machine.ProbeLost, err: f.err}
	}
	return s, err
}

// Question is the first request of an [Introduction].
type Question struct {
	Method  string
	Version mcp.Version // revision for the HTTP header; empty for none
	// Encode encodes the frame.
	Encode func(id jsonrpc.ID, trace *instrument.TraceContext) ([]byte, error)
	// Early gets each message that arrives before the answer, and reports whether it has handled the message. Servers may
	// send pings and log messages. (specification 2025-11-25, basic/lifecycle, "Initialization")
	Early func(r *Reader, m *jsonrpc.Message) bool
}

// Ask sends a request and returns the answer, which is valid JSON. If the server answers with an error, Ask returns
// both the answer and the error for the attempt. With any other error, there is no answer.
func (h *Handshake) Ask(ctx context.Context, q *Question) (jsonrpc.Message, error) {
	h.fallsBack = true
	h.early = func(m *jsonrpc.Message) bool { return q.Early(h.in, m) }
	err := h.sendEncoded(ctx, q.Method, q.Version, func(id int64, trace *traceContext) ([]byte, error) {
		return q.Encode(jsonrpc.IntID(id), &trace.TraceContext)
	})
	if err != nil {
		return jsonrpc.Message{}, err
	}
	a, err := h.await(ctx)
	switch {
	case err != nil:
		return jsonrpc.Message{}, err
	case a.failed != nil:
		return jsonrpc.Message{}, a.failed
	case a.err != nil && a.msg.Check() != nil:
		return jsonrpc.Message{}, refusing(a.method, a.err)
	case a.err != nil:
		return a.msg, refusing(a.method, a.err)
	}
	if err := a.msg.Check(); err != nil {
		return jsonrpc.Message{}, h.unusable(&a, err)
	}
	a.op.End(instrument.Result{})
	return a.msg, nil
}

// Agree completes a session from s, which must contain its era, its version and the server's data. If held is true, the
// session admits only the client's own requests until [Session.Open] is called.
func (h *Handshake) Agree(s Session, held bool) *Session {
	s.Link = h.link
	session := h.c.completed(s)
	if held {
		session.held = make(chan struct{})
	}
	return session
}

// Notify sends a notification without params in a completed session.
func (h *Handshake) Notify(ctx context.Context, s *Session, method string) error {
	return h.notify(ctx, s, method)
}

// Refuse marks err as a failure that no further attempt can fix.
func Refuse(err error) error { return &failure{event: machine.Refused, err: err} }
