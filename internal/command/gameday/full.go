package gameday

import (
	"context"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// full fills the server's capacity with two calls of a tool that does not return. If refused is set, each round makes
// one more call, which the server rejects.
func full(refused bool) func(context.Context, *stage) (round, error) {
	return func(_ context.Context, s *stage) (round, error) {
		const most = 2
		begun, gone := make(chan struct{}, most), make(chan struct{}, most)
		server, err := s.serveWith(mcpserver.Options{Limits: mcpserver.Limits{Concurrent: most, Queued: -1}}, map[string]tool{
			bad: func(ctx context.Context) (string, error) {
				begun <- struct{}{}
				<-ctx.Done()
				return "", ctx.Err()
			},
		})
		if err != nil {
			return nil, err
		}
		c, err := s.connect(to(server), nil)
		var leave context.CancelFunc // ends the calls; nil without calls
		return func(ctx context.Context, broken bool) error {
			switch {
			case broken && leave == nil:
				var within context.Context
				within, leave = context.WithCancel(ctx)
				for range most {
					s.behind.Go(func() { // ends with leave or the drill
						_ = call(within, c, bad, mcpclient.WithTimeout(-1))
						gone <- struct{}{}
					})
				}
				if err := await(ctx, begun, most); err != nil {
					return err
				}
			case !broken && leave != nil:
				leave()
				leave = nil
				if err := await(ctx, gone, most); err != nil {
					return err
				}
				time.Sleep(100 * time.Millisecond) // gives the server time to process the cancellation
			}
			if !broken {
				return calls(ctx, c, 1)
			}
			if refused {
				return wrong(call(ctx, c, fine))
			}
			return nil
		}, err
	}
}

// await receives n times, for at most 10 seconds.
func await(ctx context.Context, c <-chan struct{}, n int) error {
	late := time.After(10 * time.Second)
	for range n {
		select {
		case <-c:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-late:
			return errors.New("the calls that fill the server did not start or end within 10s")
		}
	}
	return nil
}
