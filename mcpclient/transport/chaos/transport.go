package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/inlet"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// ErrInjected is in the chain of every error that a plan causes, with three exceptions: a [transport.ExitError], a
// [transport.FrameTooLargeError], and an error that follows from a damaged or replaced message of the server.
var ErrInjected = errors.New("injected by the plan of faults")

// Wrap returns t with the faults of a plan. The connections of the result implement only [transport.Conn], without the
// shortcuts of this module's connections, so calls take some microseconds longer.
//
// The error is a [*PlanError].
func Wrap(t transport.Transport, p *Plan) (transport.Transport, error) {
	rules, err := compile(p)
	if err != nil {
		return nil, err
	}
	w := &wrapped{
		Transport: t, seed: p.Seed, rules: rules, begun: time.Now(), http: t.Network().Protocol == "http",
		tallies: make([]tally, len(rules)),
	}
	for i, r := range rules {
		if r.Kind == Expire && !w.http {
			return nil, &PlanError{i, r.Kind, "kind", "only servers over HTTP have sessions that expire"}
		}
	}
	return w, nil
}

// wrapped is a transport with faults.
type wrapped struct {
	transport.Transport
	seed  uint64
	rules []rule
	begun time.Time
	http  bool

	mu      sync.Mutex
	tallies []tally // one for each rule; guarded by mu
}

// judge applies the rules to an event that happens now.
func (w *wrapped) judge(on On, method, tool string) verdict {
	w.mu.Lock()
	defer w.mu.Unlock()
	return judge(w.seed, w.rules, w.tallies, event{on, method, tool, time.Since(w.begun)})
}

// Dial opens a connection, unless the plan refuses it.
func (w *wrapped) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if v := w.judge(onDial, "", ""); v.hit != nil {
		tell(ctx, cfg.Logger, v.kinds, request{})
		return nil, fmt.Errorf("the connection was refused: %w", ErrInjected)
	}
	inner, err := w.Transport.Dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	c := &conn{
		Conn: inlet.Conn{Conn: inner, Room: roomOf(cfg)}, of: w, cfg: cfg, asked: map[int64]request{},
		free: make([]time.Time, len(w.rules)),
	}
	c.out = newOutbox(inner, roomOf(cfg))
	return c, nil
}

// roomOf returns the bound for delayed messages in each direction, in bytes. A single message may be larger.
func roomOf(cfg transport.Config) int { return max(cfg.SendQueue, leastRoom) }

// leastRoom is the default of roomOf.
const leastRoom = 4 << 20

// turnedAway returns the error of a busy server.
func turnedAway(r *rule) *transport.RequestError {
	return &transport.RequestError{
		Reason: transport.ReasonBusy, Status: r.Code, RetryAfter: r.RetryAfter, Err: ErrInjected,
		Unsent: r.Code == http.StatusTooManyRequests || r.RetryAfter > 0, // the HTTP transport concludes the same
	}
}

// forgotten returns the error of a server that does not know the session.
func forgotten(session string) *transport.RequestError {
	if session == "" {
		return &transport.RequestError{Reason: transport.ReasonStatus, Status: http.StatusNotFound, Err: ErrInjected}
	}
	return &transport.RequestError{
		Reason: transport.ReasonSessionGone, Status: http.StatusNotFound, Unsent: true, Err: ErrInjected,
	}
}
