package gameday

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// bad is the tool that fails.
const bad = "bad"

// first is the number of rounds at the start of a drill that all fail. If the alert has not fired in these rounds, only
// every fifth later round fails. After so few failures, successful calls soon resolve the alert.
const first = 12

func due(n int) bool { return n <= first || n%5 == 0 }

// making is the number of successful calls in a round after the failures, so that the share of failures falls quickly.
const making = 10

// failing makes calls fail: between client and server, or in the server.
func failing(inServer bool) func(context.Context, *stage) (round, error) {
	return func(_ context.Context, s *stage) (round, error) {
		faults := []chaos.Fault{{Kind: chaos.Error, Tool: bad}}
		answer := ok
		if inServer {
			faults = nil
			answer = func(context.Context) (string, error) {
				return "", &mcp.Error{Code: mcp.CodeInternalError, Message: "this is a game day"}
			}
		}
		c, err := s.pair(map[string]tool{bad: answer}, faults...)
		n := 0
		return func(ctx context.Context, broken bool) error {
			if !broken {
				return calls(ctx, c, making)
			}
			if n++; !due(n) {
				return nil
			}
			return wrong(call(ctx, c, bad))
		}, err
	}
}

// late delays answers by more than the latency objective.
func late(_ context.Context, s *stage) (round, error) {
	c, err := s.pair(map[string]tool{bad: ok}, chaos.Fault{Kind: chaos.Latency, Tool: bad, Delay: 6 * time.Second})
	n := 0
	return func(ctx context.Context, broken bool) error {
		if !broken {
			return calls(ctx, c, making)
		}
		at := 1
		if n++; n == 1 {
			at = 25 // the alert needs this many calls
		} else if !due(n) {
			return nil
		}
		for range at {
			s.behind.Go(func() { _ = call(ctx, c, bad) }) // ends with its timeout
		}
		return nil
	}, err
}

// moody makes a tool return errors first, and succeed later.
func moody(_ context.Context, s *stage) (round, error) {
	var failing atomic.Bool
	c, err := s.pair(map[string]tool{bad: func(ctx context.Context) (string, error) {
		if failing.Load() {
			return "", errors.New("this is a game day")
		}
		return ok(ctx)
	}})
	return func(ctx context.Context, broken bool) error {
		failing.Store(broken)
		if broken {
			return wrong(call(ctx, c, bad))
		}
		for range making {
			if err := call(ctx, c, bad); err != nil {
				return err
			}
		}
		return nil
	}, err
}

// looping repeats the same call.
func looping(_ context.Context, s *stage) (round, error) {
	server, err := s.serve(nil)
	if err != nil {
		return nil, err
	}
	c, err := s.connect(to(server), &mcpclient.Options{
		Features: []mcpclient.Feature{mcpclient.UseLoopDetection(nil)}})
	return func(ctx context.Context, broken bool) error {
		if !broken {
			return nil
		}
		return calls(ctx, c, 1)
	}, err
}

// faulty injects a fault into each call of a tool. The calls still succeed.
func faulty(kind chaos.Kind) func(context.Context, *stage) (round, error) {
	return func(_ context.Context, s *stage) (round, error) {
		c, err := s.pair(map[string]tool{bad: ok}, chaos.Fault{Kind: kind, Tool: bad})
		return func(ctx context.Context, broken bool) error {
			if broken {
				return call(ctx, c, bad)
			}
			return calls(ctx, c, 1)
		}, err
	}
}

// busy makes the server reject calls with 429.
func busy(_ context.Context, s *stage) (round, error) {
	c, err := s.pair(map[string]tool{bad: ok},
		chaos.Fault{Kind: chaos.Busy, Tool: bad, Code: 429, RetryAfter: 250 * time.Millisecond})
	return func(ctx context.Context, broken bool) error {
		if broken {
			return wrong(call(ctx, c, bad, mcpclient.WithTimeout(4500*time.Millisecond)))
		}
		return calls(ctx, c, 1)
	}, err
}

// stuck leaves a call unanswered while broken is true.
func stuck(_ context.Context, s *stage) (round, error) {
	c, err := s.pair(map[string]tool{bad: ok}, chaos.Fault{Kind: chaos.Drop, On: chaos.OnRequest, Tool: bad})
	var leave context.CancelFunc
	return func(ctx context.Context, broken bool) error {
		switch {
		case broken && leave == nil:
			ctx, leave = context.WithCancel(ctx)
			s.behind.Go(func() { _ = call(ctx, c, bad, mcpclient.WithTimeout(-1)) }) // ends with leave or the drill
		case !broken && leave != nil:
			leave()
			leave = nil
		}
		return nil
	}, err
}

// panicking makes a handler of the server panic.
func panicking(_ context.Context, s *stage) (round, error) {
	c, err := s.pair(map[string]tool{bad: func(context.Context) (string, error) { panic("this is a game day") }})
	return func(ctx context.Context, broken bool) error {
		if broken {
			return wrong(call(ctx, c, bad))
		}
		return calls(ctx, c, 1)
	}, err
}

// chatty is a tool that reports more progress than the queue of a handler holds.
const chatty = "chatty"

// unheard sets a notification handler that does not return while broken is true.
func unheard(_ context.Context, s *stage) (round, error) {
	server, err := s.serve(map[string]tool{chatty: func(ctx context.Context) (string, error) {
		for n := range 20 {
			if err := mcpserver.RequestFrom(ctx).Progress(ctx, float64(n), 20, ""); err != nil {
				return "", err
			}
		}
		return ok(ctx)
	}})
	if err != nil {
		return nil, err
	}
	var held atomic.Pointer[chan struct{}] // closed to let the handler return; nil if the handler returns immediately
	c, err := s.connect(to(server), &mcpclient.Options{Limits: mcpclient.Limits{Notifications: 4},
		Features: []mcpclient.Feature{
			mcpclient.HandleProgress(func(ctx context.Context, _ *mcp.ProgressParams) {
				wait := held.Load()
				if wait == nil {
					return
				}
				select {
				case <-*wait:
				case <-ctx.Done():
				}
			})}})
	return func(ctx context.Context, broken bool) error {
		if broken {
			wait := make(chan struct{})
			held.CompareAndSwap(nil, &wait)
			return call(ctx, c, chatty, mcpclient.WithProgress(func(*mcp.ProgressParams) {}))
		}
		if wait := held.Swap(nil); wait != nil {
			close(*wait)
		}
		return calls(ctx, c, 1)
	}, err
}
