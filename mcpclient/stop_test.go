package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestCloseWorksInEveryState(t *testing.T) {
	for name, reach := range map[string]func(t *testing.T, s *script, c *mcpclient.Client){
		"starting": func(*testing.T, *script, *mcpclient.Client) {},
		"initializing": func(t *testing.T, s *script, c *mcpclient.Client) {
			s.next(t).Expect(mcp.MethodDiscover)
		},
		"ready": func(t *testing.T, s *script, c *mcpclient.Client) {
			s.next(t).modern()
			await(t, c)
		},
		"backoff": func(t *testing.T, s *script, c *mcpclient.Client) {
			v := s.next(t).modern()
			await(t, c)
			v.Close()
			if err := c.WaitForState(t.Context(), connstate.Backoff); err != nil {
				t.Fatal(err)
			}
		},
		"closing": func(t *testing.T, s *script, c *mcpclient.Client) { _ = c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
				reach(t, s, c)
				begun := time.Now()
				var wg sync.WaitGroup
				for range 10 {
					wg.Go(func() {
						if err := c.Close(); err != nil {
							t.Errorf("stop: %v", err)
						}
					})
				}
				wg.Wait()
				if waited := time.Since(begun); waited > 100*time.Millisecond {
					t.Errorf("want Close within 100 ms, got %v", waited)
				}
				if c.State() != connstate.Closing || c.Err() != nil {
					t.Errorf("want closing without an error, got %s, %v", c.State(), c.Err())
				}
				if err := c.Call(t.Context(), "after", nil, nil); !errors.Is(err, mcpclient.ErrShutdown) ||
					!mcpclient.SafeToRetry(err) {
					t.Errorf("want calls refused with shutdown, got %v", err)
				}
				if err := c.Notify(t.Context(), "after", nil); !errors.Is(err, mcpclient.ErrShutdown) {
					t.Errorf("want notifications refused with shutdown, got %v", err)
				}
				if err := c.WaitForReady(t.Context()); !errors.Is(err, mcpclient.ErrShutdown) {
					t.Errorf("want WaitForReady refused with shutdown, got %v", err)
				}
			})
		})
	}
}

func TestCloseFailsCallsInFlight(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		var calls []<-chan error
		for range 20 {
			calls = append(calls, background(func() error { return c.Call(t.Context(), "slow", nil, nil) }))
		}
		synctest.Wait()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		for _, done := range calls {
			if err := <-done; !errors.Is(err, mcpclient.ErrShutdown) || mcpclient.SafeToRetry(err) {
				t.Errorf("want shutdown, not safe to retry, got %v", err)
			}
		}
	})
}

// stubborn is a transport whose connections do not close.
type stubborn struct{ transport.Transport }

func (s stubborn) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	c, err := s.Transport.Dial(ctx, cfg)
	return stubbornConn{c}, err
}

type stubbornConn struct{ transport.Conn }

func (c stubbornConn) Close(ctx context.Context) error {
	<-ctx.Done()
	return c.Conn.Close(ctx)
}

func TestCloseDoesNotWaitForABlockedClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		c, err := mcpclient.New(stubborn{s}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.next(t).modern()
		await(t, c)
		begun := time.Now()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(begun); waited > 125*time.Millisecond {
			t.Errorf("want Close within 125 ms, got %v", waited)
		}
	})
}

func TestCloseDoesNotWaitForAHandlerThatIgnoresItsContext(t *testing.T) {
	release := make(chan struct{})
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleNotification("",
		func(context.Context, *mcpclient.Notification) { <-release })}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		release = make(chan struct{})
		v.Send(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
		synctest.Wait()
		begun := time.Now()
		_ = c.Close()
		if waited := time.Since(begun); waited > 125*time.Millisecond {
			t.Errorf("want Close within 125 ms, got %v", waited)
		}
		close(release)
	})
}

func TestAnOversizeFrameEndsTheConnectionAndTheClientRecovers(t *testing.T) {
	ready(t, &mcpclient.Options{Limits: mcpclient.Limits{Frame: 1000}},
		func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			exact := background(func() error { return c.Call(t.Context(), "exact", nil, nil) })
			f := v.Expect("exact")
			answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"x":"%%s"}}`, f.ID)
			v.Send(fmt.Sprintf(answer, strings.Repeat("x", 1000-len(answer)+2)))
			if err := <-exact; err != nil {
				t.Fatalf("want a frame of exactly the limit accepted, got %v", err)
			}
			other := background(func() error { return c.Call(t.Context(), "other", nil, nil) })
			v.Expect("other")
			over := background(func() error { return c.Call(t.Context(), "over", nil, nil) })
			f = v.Expect("over")
			v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"x":"%s"}}`, f.ID, strings.Repeat("x", 1000)))
			for _, done := range []<-chan error{over, other} {
				if e, ok := errors.AsType[*mcpclient.Error](<-done); !ok || e.Kind != mcpclient.KindProtocol {
					t.Errorf("want every call in flight to fail with kind protocol, got %v", e)
				}
			}
			if got := c.Status(); got.State != connstate.Backoff || got.Reason != connstate.ReasonFrameTooLarge {
				t.Errorf("want backoff because of frame_too_large, got %s, %s", got.State, got.Reason)
			}
			s.next(t).modern()
			await(t, c)
		})
}

func TestAnOversizeFrameCanBeSkipped(t *testing.T) {
	o := &mcpclient.Options{Limits: mcpclient.Limits{Frame: 1000, SkipOversize: true}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		other := background(func() error { return c.Call(t.Context(), "other", nil, nil) })
		g := v.Expect("other")
		over := background(func() error { return c.Call(t.Context(), "over", nil, nil) })
		f := v.Expect("over")
		v.Send(fmt.Sprintf(`{"result":{"x":"%s"},"jsonrpc":"2.0","id":%s}`, strings.Repeat("x", 5000), f.ID))
		v.Answer(g, `{}`)
		if e, ok := errors.AsType[*mcpclient.Error](<-over); !ok || e.Kind != mcpclient.KindProtocol {
			t.Errorf("want the call with the frame to fail with kind protocol, got %v", e)
		}
		if err := <-other; err != nil {
			t.Errorf("want the other call to succeed, got %v", err)
		}
	})
}

func TestConnectGivesUpAfterThreeAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("the server is out for lunch")
		_, err := mcpclient.Connect(t.Context(), failing{newScript(t), broken}, nil)
		if !errors.Is(err, broken) || !errors.Is(err, mcpclient.ErrShutdown) {
			t.Errorf("want the error of the last attempt, got %v", err)
		}
	})
}

func TestConnectEndsWithItsContextAndClosesTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		broken := errors.New("the server is out for lunch")
		_, err := mcpclient.Connect(ctx, failing{newScript(t), broken},
			&mcpclient.Options{Backoff: mcpclient.Backoff{Attempts: -1}})
		if !errors.Is(err, broken) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("want the context's error and the error of the last attempt, got %v", err)
		}
	})
}

// failing is a transport that cannot be dialled.
type failing struct {
	transport.Transport
	err error
}

func (f failing) Dial(context.Context, transport.Config) (transport.Conn, error) { return nil, f.err }

func TestAPermanentFailureEndsTheClientAtOnce(t *testing.T) {
	c, err := mcpclient.Connect(t.Context(), transport.Stdio{Command: "/does/not/exist"}, nil)
	if err == nil {
		_ = c.Close()
		t.Fatal("want an error, got a client")
	}
	if !transport.Permanent(err) || !errors.Is(err, mcpclient.ErrShutdown) {
		t.Errorf("want the permanent cause, got %v", err)
	}
}
