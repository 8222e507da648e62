package gameday

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
)

// Injected returns a drill that makes a call with injected faults once per interval; 0 means one second. It returns an
// error if a fault is invalid.
func Injected(alert string, faults []chaos.Fault, every time.Duration) (Drill, error) {
	plan := &chaos.Plan{Faults: faults}
	if err := plan.Check(); err != nil {
		return Drill{}, err
	}
	d := Drill{Alert: alert, Does: "the faults of the plan are injected into calls", every: every, open: injecting(faults)}
	if kind := faults[0].Kind; kind != chaos.Refuse {
		d.Trace = map[string]string{faultKind: string(kind)}
	}
	return d, nil
}

// injecting makes calls of a tool. It injects the faults while broken is true.
func injecting(faults []chaos.Fault) func(context.Context, *stage) (round, error) {
	return func(_ context.Context, s *stage) (round, error) {
		var c *mcpclient.Client
		was := false
		return func(ctx context.Context, broken bool) (err error) {
			if c == nil || broken != was {
				if err := s.close(ctx); err != nil {
					return err
				}
				now := faults
				if !broken {
					now = nil
				}
				if c, err = s.pair(map[string]tool{bad: ok}, now...); err != nil {
					return err
				}
				was = broken
			}
			if !broken {
				return calls(ctx, c, 1)
			}
			client := c
			s.behind.Go(func() { _ = call(ctx, client, bad) }) // ends with its timeout
			return nil
		}, nil
	}
}
