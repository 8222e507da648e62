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

// Introduction is how a client agrees with a server on a session.
type Introduction interface {
	// Introduce makes a session over a connection. It runs in the goroutine of the connection, which it reads by h. ctx
	// ends with the client's patience for this attempt, and carries the attempt's span.
	Introduce(ctx context.Context, h *Handshake) (*Session, error)
}

// eras is the introduction of a client that speaks for itself: server/discover, initialize, or one after the other.
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
			return nil, Refuse(fmt.Errorf("%w: %w, the client only %q (Options.Versions)", ErrNoCommonVersion, err,
				h.c.Settings.Modern))
		}
	}
	version := h.c.Settings.Legacy[0]
	s, err = h.initialize(ctx, version)
	if next, ok := h.alternative(err, version); ok {
		s, err = h.initialize(ctx, next)
	}
	if f, ok := errors.AsType[*failure](err); ok && probed && h.ended(f) {
		// Some servers complain about the probe and then end.
		return nil, &failure{event: machine.ProbeLost, err: f.err}
	}
	return s, err
}

// Question is the request of an [Introduction] that is not the client's own.
type Question struct {
	Method  string
	Version mcp.Version // that HTTP is told; empty for none
	// Encode makes the frame.
	Encode func(id jsonrpc.ID, trace *instrument.TraceContext) ([]byte, error)
	// Early is offered each message that comes before the answer, as servers may send pings and log messages, and reports
	// whether it has dealt with it. (specification 2025-11-25, basic/lifecycle, "Initialization")
	Early func(r *Reader, m *jsonrpc.Message) bool
}

// Ask makes a request and returns the answer, of which all is valid JSON. If that is an error of the server, the error
// of Ask is for the attempt to end with; with any other error there is no answer.
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

// Agree returns the session that s describes by its era, its version and what the server has said, which may not be
// more than that. If held, no requests but the client's own are made in it before [Session.Open] is called.
func (h *Handshake) Agree(s Session, held bool) *Session {
	s.Link = h.link
	session := h.c.completed(s)
	if held {
		session.held = make(chan struct{})
	}
	return session
}

// Notify sends a notification without params in a session that has been agreed on.
func (h *Handshake) Notify(ctx context.Context, s *Session, method string) error {
	return h.notify(ctx, s, method)
}

// Refuse marks err as a failure that no further attempt can mend.
func Refuse(err error) error { return &failure{event: machine.Refused, err: err} }
