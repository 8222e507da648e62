package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/client/seam"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

const patientTick = 20 * time.Millisecond

// lending is a feature that lends the turn for a long time whenever no call is in flight, see [mcpclient.LendTurns].
var lending = mcpclient.LendTurns(patientTick, time.Hour, 1)

// lent runs f in a bubble with a client whose callers read their own answers, after the calls that are necessary for
// this.
func lent(t *testing.T, o *mcpclient.Options, f func(t *testing.T, v *conversation, c *mcpclient.Client)) {
	t.Helper()
	lentBy(t, &interruptible{}, o, func(t *testing.T, _ *script, v *conversation, c *mcpclient.Client) { f(t, v, c) })
}

func lentBy(t *testing.T, i *interruptible, o *mcpclient.Options, f func(t *testing.T, s *script, v *conversation,
	c *mcpclient.Client)) {
	t.Helper()
	interrupted(t, i, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).modern()
		await(t, c)
		for range conn.UsualPace.Enough + 1 {
			v.exchange(c)
		}
		wantTurn(t, c, conn.TurnLent)
		f(t, s, v, c)
	})
}

// interrupted runs f in a bubble with a client whose connections can be interrupted.
func interrupted(t *testing.T, i *interruptible, o *mcpclient.Options, f func(t *testing.T, s *script,
	c *mcpclient.Client)) {
	t.Helper()
	bubbleWith(t, o, func(s *script) transport.Transport {
		i.Transport = s
		return i
	}, f)
}

// exchange makes a call that the server answers at once.
func (v *conversation) exchange(c *mcpclient.Client) {
	v.t.Helper()
	done := background(func() error { return c.Call(v.t.Context(), "x/quick", nil, nil) })
	request := v.Expect("x/quick")
	synctest.Wait() // until the caller waits; a caller that starts to wait after the answer has arrived ends the loan
	v.Answer(request, "{}")
	if err := <-done; err != nil {
		v.t.Errorf("a quick call: %v", err)
	}
	synctest.Wait() // wait until the goroutine with the turn waits in Receive
}

func wantTurn(t *testing.T, c *mcpclient.Client, want int32) {
	t.Helper()
	synctest.Wait()
	if got := mcpclient.ProbeOf(c).Figures().Turn; got != want {
		t.Errorf("the turn is in state %d, want %d", got, want)
	}
}

func TestSequentialCallersReadTheirOwnAnswers(t *testing.T) {
	lent(t, nil, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		before := mcpclient.ProbeOf(c).Figures().OwnAnswers
		for range 100 {
			v.exchange(c)
		}
		wantTurn(t, c, conn.TurnLent)
		if got := mcpclient.ProbeOf(c).Figures().OwnAnswers - before; got != 100 {
			t.Errorf("the callers of %d of 100 calls read their own answers", got)
		}
		time.Sleep(2 * conn.UsualPace.Tick)
		wantTurn(t, c, conn.TurnAttended)
	})
}

func TestTurnStaysLentWhileCallsContinue(t *testing.T) {
	lent(t, nil, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		for range 50 {
			v.exchange(c)
			time.Sleep(conn.UsualPace.Tick / 5)
		}
		wantTurn(t, c, conn.TurnLent)
	})
}

func TestMessagesBetweenCallsAreReadSoon(t *testing.T) {
	var heard time.Time
	hear := func(context.Context, *mcpclient.Notification) { heard = time.Now() }
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleNotification("x/news", hear)}}
	lent(t, o, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		said := time.Now()
		v.Send(`{"jsonrpc":"2.0","method":"x/news"}`)
		time.Sleep(time.Second)
		synctest.Wait()
		if took := heard.Sub(said); heard.IsZero() || took > 2*conn.UsualPace.Tick {
			t.Errorf("a notification was handled after %v, want at most %v", took, 2*conn.UsualPace.Tick)
		}
		v.exchange(c)
	})
}

func TestMessagesBeforeTheAnswerAreNotLost(t *testing.T) {
	for name, frame := range map[string]string{
		"notification":                 `{"jsonrpc":"2.0","method":"x/news"}`,
		"garbage":                      `{"jsonrpc":`,
		"an answer to an unknown call": `{"jsonrpc":"2.0","id":987654321,"result":{}}`,
		"an error with an unknown id":  `{"jsonrpc":"2.0","id":"987654321","error":{"code":1,"message":"no"}}`,
	} {
		heard := 0
		o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleNotification("x/news",
			func(context.Context, *mcpclient.Notification) { heard++ })}}
		lent(t, o, func(t *testing.T, v *conversation, c *mcpclient.Client) {
			done := background(func() error { return c.Call(t.Context(), "x/slow", nil, nil) })
			f := v.Expect("x/slow")
			wantTurn(t, c, conn.TurnTaken)
			v.Send(frame)
			wantTurn(t, c, conn.TurnAttended)
			if wanted := name == "notification"; wanted != (heard == 1) {
				t.Errorf("%s: %d notifications were handled", name, heard)
			}
			v.Answer(f, "{}")
			if err := <-done; err != nil {
				t.Errorf("%s: the call: %v", name, err)
			}
			v.exchange(c)
		})
	}
}

func TestServerRequestIsHandledWhileCallerReads(t *testing.T) {
	o := &mcpclient.Options{
		Versions: []mcp.Version{mcp.Version20251125},
		Features: []mcpclient.Feature{lending, mcpclient.UseRoots(&mcp.Root{URI: "file:///r"})},
	}
	interrupted(t, &interruptible{}, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		v.exchange(c)
		v.exchange(c)
		done := background(func() error { return c.Call(t.Context(), "x/asks", nil, nil) })
		f := v.Expect("x/asks")
		wantTurn(t, c, conn.TurnTaken)
		v.Send(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`)
		if got := v.Receive(); string(got.ID) != `"r"` || got.Result == nil {
			t.Errorf("want the roots, got %s", got.Raw)
		}
		v.Answer(f, "{}")
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestReadingCallerReturnsAtItsDeadline(t *testing.T) {
	const patience = 300 * time.Millisecond
	for name, tt := range map[string]struct {
		call func(ctx context.Context, c *mcpclient.Client) error
		want mcpclient.ErrorKind
	}{
		"timeout": {func(ctx context.Context, c *mcpclient.Client) error {
			return c.Call(ctx, "x/slow", nil, nil, mcpclient.WithTimeout(patience))
		}, mcpclient.KindTimeout},
		"deadline": {func(ctx context.Context, c *mcpclient.Client) error {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			return c.Call(ctx, "x/slow", nil, nil)
		}, mcpclient.KindTimeout},
		"cancelled": {func(ctx context.Context, c *mcpclient.Client) error {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(patience, cancel)
			return c.Call(ctx, "x/slow", nil, nil)
		}, mcpclient.KindCancelled},
	} {
		lent(t, nil, func(t *testing.T, v *conversation, c *mcpclient.Client) {
			begun := time.Now()
			done := background(func() error { return tt.call(t.Context(), c) })
			f := v.Expect("x/slow")
			wantTurn(t, c, conn.TurnTaken)
			err := <-done
			e, ok := errors.AsType[*mcpclient.Error](err)
			if took := time.Since(begun); !ok || e.Kind != tt.want || took != patience {
				t.Errorf("%s: got %v after %v, want kind %s after %v", name, err, took, tt.want, patience)
			}
			v.Expect(mcp.NotificationCancelled)
			wantTurn(t, c, conn.TurnAttended)
			v.Answer(f, "{}") // the answer comes too late
			v.exchange(c)
		})
	}
}

func TestASecondCallerDoesNotWaitForTheFirst(t *testing.T) {
	lent(t, nil, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		first := background(func() error { return c.Call(t.Context(), "x/first", nil, nil) })
		slow := v.Expect("x/first")
		wantTurn(t, c, conn.TurnTaken)
		v.exchange(c) // the first caller reads this answer and hands it over
		wantTurn(t, c, conn.TurnAttended)
		v.Answer(slow, "{}")
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

func TestFirstCallerPassesTurnToSecond(t *testing.T) {
	lent(t, nil, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		first := background(func() error { return c.Call(t.Context(), "x/first", nil, nil) })
		one := v.Expect("x/first")
		second := background(func() error { return c.Call(t.Context(), "x/second", nil, nil) })
		two := v.Expect("x/second")
		synctest.Wait()
		v.Answer(one, "{}")
		if err := <-first; err != nil {
			t.Error(err)
		}
		wantTurn(t, c, conn.TurnAttended)
		v.Answer(two, "{}")
		if err := <-second; err != nil {
			t.Error(err)
		}
	})
}

func TestProgressIsDeliveredWhileTheTurnIsLent(t *testing.T) {
	lent(t, nil, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		reports := 0
		done := background(func() error {
			return c.Call(t.Context(), "x/slow", nil, nil, mcpclient.WithProgress(func(*mcp.ProgressParams) { reports++ }))
		})
		f := v.Expect("x/slow")
		wantTurn(t, c, conn.TurnAttended)
		v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`,
			f.ID))
		synctest.Wait()
		v.Answer(f, "{}")
		if err := <-done; err != nil || reports != 1 {
			t.Errorf("want one report and the result, got %d and %v", reports, err)
		}
	})
}

func TestLongCallReturnsTheReadTurn(t *testing.T) {
	lent(t, nil, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		done := background(func() error { return c.Call(t.Context(), "x/slow", nil, nil) })
		f := v.Expect("x/slow")
		time.Sleep(2 * conn.UsualPace.Tick)
		wantTurn(t, c, conn.TurnKept)
		v.Answer(f, "{}")
		if err := <-done; err != nil {
			t.Error(err)
		}
		wantTurn(t, c, conn.TurnAttended)
	})
}

func TestConnectionLossIsDetectedWithLentTurn(t *testing.T) {
	for _, calling := range []bool{false, true} {
		lent(t, nil, func(t *testing.T, v *conversation, c *mcpclient.Client) {
			done := make(<-chan error)
			if calling {
				done = background(func() error { return c.Call(t.Context(), "x/slow", nil, nil) })
				v.Expect("x/slow")
				wantTurn(t, c, conn.TurnTaken)
			}
			begun := time.Now()
			v.Close()
			if err := c.WaitForState(t.Context(), connstate.Backoff); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begun); took > 2*conn.UsualPace.Tick {
				t.Errorf("the client noticed the end after %v, want at most %v", took, 2*conn.UsualPace.Tick)
			}
			if calling {
				if err := <-done; !errors.Is(err, mcpclient.ErrConnectionLost) {
					t.Errorf("the call: got %v, want %v", err, mcpclient.ErrConnectionLost)
				}
			}
		})
	}
}

func TestCloseEndsAReadingCaller(t *testing.T) {
	for _, calling := range []bool{false, true} {
		lent(t, nil, func(t *testing.T, v *conversation, c *mcpclient.Client) {
			done := make(<-chan error)
			if calling {
				done = background(func() error { return c.Call(t.Context(), "x/slow", nil, nil) })
				v.Expect("x/slow")
				wantTurn(t, c, conn.TurnTaken)
			}
			begun := time.Now()
			go v.Close()
			if err := c.Close(); err != nil || time.Since(begun) > 0 {
				t.Errorf("stop: %v after %v, want no wait", err, time.Since(begun))
			}
			if calling {
				if err := <-done; !errors.Is(err, mcpclient.ErrShutdown) {
					t.Errorf("the call: got %v, want %v", err, mcpclient.ErrShutdown)
				}
			}
		})
	}
}

func TestReadingCallerReturnsWhenSessionEnds(t *testing.T) {
	for name, end := range map[string]func(c *mcpclient.Client){
		"stop": func(c *mcpclient.Client) { go func() { _ = c.Close() }() },
		"lost": func(c *mcpclient.Client) { mcpclient.ProbeOf(c).Lose(errors.New("broken pipe")) },
	} {
		i := &interruptible{}
		lentBy(t, i, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			done := background(func() error { return c.Call(t.Context(), "x/slow", nil, nil) })
			f := v.Expect("x/slow")
			wantTurn(t, c, conn.TurnTaken)
			i.inHand = func() {
				i.inHand = nil
				end(c)
				time.Sleep(conn.UsualPace.Tick / 10) // wait until the connection's goroutine knows that the session has ended
			}
			go func() {
				<-v.Context().Done()
				v.Close()
			}()
			v.Answer(f, "{}")
			if err := <-done; err == nil {
				t.Errorf("%s: the call got an answer that came too late", name)
			}
			if name == "lost" {
				s.next(t).modern()
				await(t, c)
			}
		})
	}
}

func TestStrayInterruptDoesNotEndHandshake(t *testing.T) {
	i := &interruptible{}
	o := &mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125}}
	var interrupt func()
	bubbleWith(t, o, func(s *script) transport.Transport {
		i.Transport = s
		return dialled{i, func(c transport.Conn) { interrupt = c.(seam.Interruptible).Interrupter() }}
	}, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		f := v.Expect(mcp.MethodInitialize)
		interrupt()
		synctest.Wait()
		v.Answer(f, fmt.Sprintf(initialized, mcp.Version20251125))
		v.Expect(mcp.NotificationInitialized)
		await(t, c)
	})
}

// dialled is a transport that passes its connections to the function tell.
type dialled struct {
	transport.Transport
	tell func(transport.Conn)
}

func (d dialled) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	c, err := d.Transport.Dial(ctx, cfg)
	if err == nil {
		d.tell(c)
	}
	return c, err
}

func TestSubscribeWithLentTurnIsNotDelayed(t *testing.T) {
	interrupted(t, &interruptible{}, &mcpclient.Options{Features: []mcpclient.Feature{lending}}, func(t *testing.T,
		s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), strings.Replace(discovered, `"tools":{}`, `"resources":{"subscribe":true}`, 1))
		await(t, c)
		v.exchange(c)
		v.exchange(c)
		wantTurn(t, c, conn.TurnLent)
		go func() { _ = c.SubscribeResource(t.Context(), "file:///r") }()
		v.Expect(mcp.MethodSubscriptionsListen)
		wantTurn(t, c, conn.TurnAttended)
	})
}
