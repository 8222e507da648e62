package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func waitFor(t *testing.T, c *mcpclient.Client, s connstate.State) {
	t.Helper()
	if err := c.WaitForState(t.Context(), s); err != nil {
		t.Fatalf("wait for %s: %v", s, err)
	}
}

var errLunch = errors.New("the server is out for lunch")

// slowDial waits for a server until its context ends.
func slowDial(ctx context.Context) (error, bool) {
	<-ctx.Done()
	return context.Cause(ctx), true
}

func TestStatusKeepsTheLastFailureUntilTheNextAttemptEnds(t *testing.T) {
	dials := 0
	rig := &rigged{dial: func(ctx context.Context) (error, bool) {
		if dials++; dials == 1 {
			return errLunch, true
		}
		return slowDial(ctx)
	}}
	observed(t, mcpclient.Options{}, rig, func(t *testing.T, _ *script, c *mcpclient.Client, _ *telemetrytest.Recording) {
		waitFor(t, c, connstate.Backoff)
		waitFor(t, c, connstate.Starting)
		if err := c.Status().Err; !errors.Is(err, errLunch) {
			t.Errorf("want the first failure while the second attempt is under way, got %v", err)
		}
		if err := c.Call(t.Context(), "early", nil, nil); !errors.Is(err, errLunch) ||
			!errors.Is(err, mcpclient.ErrNotReady) {
			t.Errorf("want a call refused with the first failure, got %v", err)
		}
		waitFor(t, c, connstate.Backoff)
		synctest.Wait() // the client has stopped dialling, so the error of Dial does not matter
		if err := c.Status().Err; !errors.Is(err, conn.ErrSlow) {
			t.Errorf("want %v, got %v", conn.ErrSlow, err)
		}
	})
}

func TestFailureIsLoggedOnlyOnTheTransitionThatItCaused(t *testing.T) {
	first := true
	rig := &rigged{dial: func(context.Context) (error, bool) {
		defer func() { first = false }()
		return errLunch, first
	}}
	observed(t, mcpclient.Options{}, rig, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		s.next(t).modern()
		await(t, c)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		for _, r := range rec.Logs("mcp_client.connection.transition") {
			reason, err := r.Text("mcp_client.connection.reason"), r.Text("exception.message")
			if want := reason == "open_failed"; want != strings.Contains(err, errLunch.Error()) || !want && err != "" {
				t.Errorf("transition because of %s: want the error only where the dialling failed, got %q", reason, err)
			}
		}
	})
}

func TestStatusReportsTheConnection(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		begun := time.Now()
		v := s.next(t)
		v.Expect(mcp.MethodDiscover)
		want := mcpclient.Status{State: connstate.Initializing, Reason: connstate.ReasonTransportUp, Since: begun, Epoch: 1,
			Attempt: 1}
		if got := c.Status(); got != want {
			t.Errorf("want %+v, got %+v", want, got)
		}
		if c.ServerInfo().Name != "" || c.ServerCapabilities().Tools != nil || c.Instructions() != "" ||
			c.ProtocolVersion() != "" {
			t.Error("the client has server data before it is ready, want none")
		}
		v.Close()
		v = s.next(t)
		v.Answer(v.Expect(mcp.MethodInitialize), `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},`+
			`"serverInfo":{"name":"n","version":"1"},"instructions":"be brief"}`)
		v.Expect(mcp.NotificationInitialized)
		await(t, c)
		if c.ServerInfo().Name != "n" || c.ServerCapabilities().Tools == nil || c.Instructions() != "be brief" {
			t.Errorf("want the server's own description, got %v, %v, %q", c.ServerInfo(), c.ServerCapabilities(),
				c.Instructions())
		}
		v.Close()
		waitFor(t, c, connstate.Backoff)
		got := c.Status()
		if got.Attempt != 0 || got.Epoch != 2 || got.Err == nil || got.Reason != connstate.ReasonTransportDown {
			t.Errorf("want a lost connection with its error, got %+v", got)
		}
		if c.ServerInfo().Name != "" {
			t.Errorf("want no server data after the session, got %v", c.ServerInfo())
		}
	})
}

func TestWaitForStateEndsWithContextOrClient(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		cause := errors.New("no time")
		ctx, cancel := context.WithCancelCause(t.Context())
		impatient := background(func() error { return c.WaitForState(ctx, connstate.Ready) })
		patient := background(func() error { return c.WaitForState(t.Context(), connstate.Backoff) })
		closing := background(func() error { return c.WaitForState(t.Context(), connstate.Closing) })
		synctest.Wait()
		cancel(cause)
		err := <-impatient
		if e, ok := errors.AsType[*mcpclient.Error](err); !ok || e.Kind != mcpclient.KindState || !errors.Is(err, cause) ||
			!errors.Is(err, mcpclient.ErrNotReady) {
			t.Errorf("want a state error with the context's cause, got %v", err)
		}
		v.modern()
		await(t, c)
		if err := c.WaitForReady(ctx); err != nil {
			t.Errorf("the client is in the state and the context has ended: want no error, got %v", err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-patient; !errors.Is(err, mcpclient.ErrShutdown) {
			t.Errorf("want a shutdown error for an unreachable state, got %v", err)
		}
		if err := <-closing; err != nil {
			t.Errorf("want the state that was waited for, got %v", err)
		}
		if err := c.WaitForState(t.Context(), connstate.Closing); err != nil {
			t.Errorf("want a client that has ended to be closing, got %v", err)
		}
		if n := mcpclient.ProbeOf(c).Figures().Waiters; n != 0 {
			t.Errorf("want no goroutine left waiting, got %d", n)
		}
	})
}

// The context of a session ends a moment before the state machine of the client learns of the end.
func TestSendAtSessionEndReturnsItsCause(t *testing.T) {
	observed(t, mcpclient.Options{}, nil, func(t *testing.T, s *script, c *mcpclient.Client, _ *telemetrytest.Recording) {
		s.next(t).modern()
		await(t, c)
		mcpclient.ProbeOf(c).End(exitError)
		if err := mcpclient.ProbeOf(c).AwaitLoss(t.Context(), errors.New("broken pipe")); !errors.Is(err, exitError) {
			t.Errorf("want the exit status of the process, got %v", err)
		}
		if err := c.Status().Err; !errors.Is(err, exitError) {
			t.Errorf("want the client to have the exit status of the process, got %v", err)
		}
	})
}

// exitError is the transport's error for a server process that has ended.
var exitError = &transport.ExitError{PID: 7, Code: 3, Stderr: []string{"out of memory"}}

// dying returns a function that ends the server. Send notices the end at once; Receive notices it a little later, when
// the exit status is known.
func dying(rig *rigged) (die func()) {
	dead, die := context.WithCancel(context.Background())
	rig.send = func(transport.Message) (error, bool) {
		return fmt.Errorf("%w: broken pipe", transport.ErrClosed), dead.Err() != nil
	}
	rig.receive = func(ctx context.Context, next receiver) (transport.Frame, error) {
		alive, cancel := context.WithCancel(ctx)
		defer context.AfterFunc(dead, cancel)()
		defer cancel()
		f, err := next(alive)
		if err != nil && ctx.Err() == nil {
			time.Sleep(20 * time.Millisecond)
			err = exitError
		}
		return f, err
	}
	return die
}

func TestErrorReportsServerExitBeforeHandshake(t *testing.T) {
	for _, v := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
		t.Run(string(v), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig := &rigged{Transport: newScript(t)}
				dying(rig)()
				_, err := mcpclient.Connect(t.Context(), rig,
					&mcpclient.Options{Backoff: mcpclient.Backoff{Attempts: 1}, Versions: []mcp.Version{v}})
				if exit, ok := errors.AsType[*transport.ExitError](err); !ok || exit != exitError {
					t.Errorf("want the exit status of the process, got %v", err)
				}
			})
		})
	}
}

func TestErrorOfEveryCallReportsServerExit(t *testing.T) {
	rig := &rigged{}
	die := dying(rig)
	observed(t, mcpclient.Options{}, rig, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		v := s.next(t).modern()
		await(t, c)
		waiting := background(func() error { return c.Call(t.Context(), "waiting", nil, nil) })
		v.Expect("waiting")
		die()
		begun := time.Now()
		late := background(func() error { return c.Call(t.Context(), "late", nil, nil) })
		notice := background(func() error { return c.Notify(t.Context(), "late", nil) })
		for name, done := range map[string]<-chan error{"waiting": waiting, "late": late, "notice": notice} {
			err := <-done
			if exit, ok := errors.AsType[*transport.ExitError](err); !ok || exit != exitError ||
				!errors.Is(err, mcpclient.ErrConnectionLost) {
				t.Errorf("%s: want a lost connection with the exit status of the process, got %v", name, err)
			}
			if safe := name != "waiting"; mcpclient.SafeToRetry(err) != safe {
				t.Errorf("%s: want safe to retry %v, got %v", name, safe, err)
			}
		}
		if waited := time.Since(begun); waited > 50*time.Millisecond {
			t.Errorf("want the calls to return when the exit status is known, got %v", waited)
		}
		if got := rec.Log("mcp_client.process.exit").Text("process.exit.code"); got != "3" {
			t.Errorf("want the exit logged with status 3, got %s", got)
		}
	})
}

// A server that closes its input but continues to write has no exit status to report.
func TestClientGivesUpOnServerThatClosesItsInput(t *testing.T) {
	var closed atomic.Bool
	rig := &rigged{send: func(transport.Message) (error, bool) { return transport.ErrClosed, closed.Load() }}
	observed(t, mcpclient.Options{}, rig, func(t *testing.T, s *script, c *mcpclient.Client, _ *telemetrytest.Recording) {
		s.next(t).modern()
		await(t, c)
		closed.Store(true)
		begun := time.Now()
		if err := c.Call(t.Context(), "call", nil, nil); !errors.Is(err, transport.ErrClosed) ||
			!errors.Is(err, mcpclient.ErrConnectionLost) || !mcpclient.SafeToRetry(err) {
			t.Errorf("want the connection lost, safe to retry, got %v", err)
		}
		if waited := time.Since(begun); waited != conn.Patience {
			t.Errorf("want the error after %v of silence, got %v", conn.Patience, waited)
		}
		closed.Store(false)
		s.next(t).modern()
		await(t, c)
	})
}

func TestCallToServerWithClosedInputReturnsAtDeadline(t *testing.T) {
	var closed atomic.Bool
	rig := &rigged{send: func(transport.Message) (error, bool) { return transport.ErrClosed, closed.Load() }}
	observed(t, mcpclient.Options{}, rig, func(t *testing.T, s *script, c *mcpclient.Client, _ *telemetrytest.Recording) {
		s.next(t).modern()
		await(t, c)
		closed.Store(true)
		begun := time.Now()
		err := c.Call(t.Context(), "call", nil, nil, mcpclient.WithTimeout(conn.Patience/10))
		if waited := time.Since(begun); !errors.Is(err, mcpclient.ErrTimeout) || !mcpclient.SafeToRetry(err) ||
			waited != conn.Patience/10 {
			t.Errorf("want a timeout after %v, safe to retry, got %v after %v", conn.Patience/10, err, waited)
		}
		closed.Store(false)
	})
}

func TestErrorReportsServerExitAtEndOfHandshake(t *testing.T) {
	rig := &rigged{}
	die := dying(rig)
	send := rig.send
	rig.send = func(m transport.Message) (error, bool) {
		if m.Method == mcp.NotificationInitialized {
			die()
		}
		return send(m)
	}
	observed(t, mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125}}, rig,
		func(t *testing.T, s *script, c *mcpclient.Client, _ *telemetrytest.Recording) {
			v := s.next(t)
			begun := time.Now()
			v.Answer(v.Expect(mcp.MethodInitialize), fmt.Sprintf(initialized, mcp.Version20251125))
			waitFor(t, c, connstate.Backoff)
			got := c.Status()
			if exit, ok := errors.AsType[*transport.ExitError](got.Err); !ok || exit != exitError {
				t.Errorf("want the exit status of the process, got %v", got.Err)
			}
			if waited := time.Since(begun); waited > 50*time.Millisecond {
				t.Errorf("want the error when the exit status is known, got %v", waited)
			}
		})
}
