package gameday

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
)

// Injected is a drill of which faults are injected into a call every so often; 0 means a second. The error is about
// faults that cannot be.
func Injected(alert string, faults []chaos.Fault, every time.Duration) (Drill, error) {
	plan := &chaos.Plan{Faults: faults}
	if err := plan.Check(); err != nil {
		return Drill{}, err
	}
	d := Drill{Alert: alert, Does: "calls meet the faults of the plan", every: every, open: injecting(faults)}
	if kind := faults[0].Kind; kind != chaos.Refuse {
		d.Trace = map[string]string{faultKind: string(kind)}
	}
	return d, nil
}

// injecting calls a tool through the faults, and without them as long as all is well.
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
			s.behind.Go(func() { _ = call(ctx, client, bad) }) // until its timeout
			return nil
		}, nil
	}
}
