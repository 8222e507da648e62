package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
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

func TestCallReturnsTheResult(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error {
			r, err := c.CallTool(t.Context(), "echo", map[string]string{"message": "hi"})
			if err == nil && text(r) != "hi \u00fc" {
				return fmt.Errorf("want the text of the answer, got %q", text(r))
			}
			return err
		})
		f := v.Expect(mcp.MethodCallTool)
		if want := `"name":"echo","arguments":{"message":"hi"}`; !strings.Contains(f.Raw, want) {
			t.Errorf("want the request to have %s, got %s", want, f.Raw)
		}
		v.Answer(f, `{"content":[{"type":"text","text":"hi \u00fc"}],"resultType":"complete"}`)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestFiftyCallsGetTheirOwnAnswersInAnyOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		const n = 50
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				var got struct {
					Value int `json:"value"`
				}
				if err := c.Call(t.Context(), "custom/method", map[string]int{"value": i}, &got); err != nil {
					t.Errorf("call %d: %v", i, err)
				} else if got.Value != i {
					t.Errorf("call %d: got the answer of call %d", i, got.Value)
				}
			})
		}
		var frames []frame
		for range n {
			frames = append(frames, v.Expect("custom/method"))
		}
		r.Shuffle(n, func(i, j int) { frames[i], frames[j] = frames[j], frames[i] })
		for _, f := range frames {
			var p struct{ Value int }
			if err := json.Unmarshal(f.Params, &p); err != nil {
				t.Fatal(err)
			}
			v.Answer(f, fmt.Sprintf(`{"value":%d}`, p.Value))
		}
		wg.Wait()
	})
}

func TestTimeoutNotifiesTheServerAndDropsTheLateAnswer(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		begun := time.Now()
		done := background(func() error {
			return c.Call(t.Context(), "slow", nil, nil,
				mcpclient.WithTimeout(3*time.Second))
		})
		f := v.Expect("slow")
		err := <-done
		if waited := time.Since(begun); waited != 3*time.Second {
			t.Errorf("want the timeout after 3 s, got %v", waited)
		}
		if !errors.Is(err, mcpclient.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) || mcpclient.SafeToRetry(err) {
			t.Errorf("want a timeout that is not safe to retry, got %v (safe %v)", err, mcpclient.SafeToRetry(err))
		}
		if e, _ := errors.AsType[*mcpclient.Error](err); e.Kind != mcpclient.KindTimeout || e.ErrorType() != "timeout" {
			t.Errorf("want kind timeout, got %v, error.type %s", e.Kind, e.ErrorType())
		}
		cancelled := v.Expect(mcp.NotificationCancelled)
		if want := `"requestId":` + string(f.ID); !strings.Contains(cancelled.Raw, want) {
			t.Errorf("want the notice to have %s, got %s", want, cancelled.Raw)
		}
		v.Answer(f, `{}`)
		done = background(func() error { return c.Call(t.Context(), "next", nil, nil) })
		v.Answer(v.Expect("next"), `{}`)
		if err := <-done; err != nil {
			t.Errorf("want the next call to succeed after a late answer, got %v", err)
		}
	})
}

func TestTheDefaultTimeoutIsThirtySeconds(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		begun := time.Now()
		if err := c.Call(t.Context(), "silent", nil, nil); !errors.Is(err, mcpclient.ErrTimeout) {
			t.Errorf("want a timeout, got %v", err)
		}
		if waited := time.Since(begun); waited != 30*time.Second {
			t.Errorf("want it after 30 s, got %v", waited)
		}
	})
}

// After a call that was answered in time, the timer may still be set for the deadline of that call.
func TestCallTimesOutAtItsDeadline(t *testing.T) {
	for name, limits := range map[string]struct{ answered, silent time.Duration }{
		"a call with a longer timeout":          {answered: 10 * time.Second, silent: 3 * time.Second},
		"a call with an earlier deadline":       {answered: 2 * time.Second, silent: 3 * time.Second},
		"a call with a deadline a minute later": {answered: time.Second, silent: 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				for range 2 {
					done := background(func() error {
						return c.Call(t.Context(), "quick", nil, nil,
							mcpclient.WithTimeout(limits.answered))
					})
					v.Answer(v.Expect("quick"), `{}`)
					if err := <-done; err != nil {
						t.Fatal(err)
					}
					time.Sleep(500 * time.Millisecond)
				}
				var err error
				took := elapsed(func() { err = c.Call(t.Context(), "silent", nil, nil, mcpclient.WithTimeout(limits.silent)) })
				if took != limits.silent || !errors.Is(err, mcpclient.ErrTimeout) {
					t.Errorf("want a timeout after %v, got %v after %v", limits.silent, err, took)
				}
			})
		})
	}
}

func TestCancelledCallNotifiesTheServerOnce(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		cause := errors.New("lost interest")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		done := background(func() error { return c.Call(ctx, "slow", nil, nil) })
		slow := v.Expect("slow")
		for range 10 {
			cancel(cause)
		}
		err := <-done
		if !errors.Is(err, cause) || mcpclient.SafeToRetry(err) {
			t.Errorf("want the caller's cause, not safe to retry, got %v", err)
		}
		cancelled := v.Expect(mcp.NotificationCancelled)
		if want := `"requestId":` + string(slow.ID); !strings.Contains(cancelled.Raw, want) {
			t.Errorf("want the notice to have %s, got %s", want, cancelled.Raw)
		}
		done = background(func() error { return c.Call(t.Context(), "next", nil, nil) })
		v.Answer(v.Expect("next"), `{}`) // the server gets no second cancellation before this request
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestCallWithCancelledContextSendsNothing(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Call(ctx, "never", nil, nil); !errors.Is(err, context.Canceled) || !mcpclient.SafeToRetry(err) {
			t.Errorf("want context.Canceled, safe to retry, got %v", err)
		}
	})
}

func TestServerErrorsAreTyped(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { return c.Call(t.Context(), "bad", nil, nil) })
		f := v.Expect("bad")
		v.Send(fmt.Sprintf(`{"error":{"message":"no such thing","code":-32602,"data":{"uri":"x"}},"jsonrpc":"2.0","id":%s}`,
			f.ID))
		err := <-done
		server, ok := errors.AsType[*mcp.Error](err)
		if !ok || server.Code != mcp.CodeInvalidParams || string(server.Data) != `{"uri":"x"}` {
			t.Fatalf("want the server's error in the chain, got %v", err)
		}
		if want := "bad: server error -32602: no such thing"; err.Error() != want {
			t.Errorf("want %q, got %q", want, err.Error())
		}
		if e, _ := errors.AsType[*mcpclient.Error](err); e.ErrorType() != "-32602" || mcpclient.SafeToRetry(err) {
			t.Errorf("want error.type -32602, got %s", e.ErrorType())
		}
	})
}

func TestInvalidResponseFailsOnlyItsCall(t *testing.T) {
	for name, answer := range map[string]string{
		"a result that is not JSON":      `{"jsonrpc":"2.0","id":%s,"result":{"content":[}}`,
		"a wrong structure":              `{"jsonrpc":"2.0","id":%s,"result":{"content":7}}`,
		"a missing member":               `{"jsonrpc":"2.0","id":%s,"result":{}}`,
		"two results":                    `{"jsonrpc":"2.0","id":%s,"result":{"content":[]},"result":{"content":[]}}`,
		"result and error":               `{"jsonrpc":"2.0","id":%s,"result":{"content":[]},"error":{"code":1,"message":""}}`,
		"an unknown type":                `{"jsonrpc":"2.0","id":%s,"result":{"content":[],"resultType":"surprise"}}`,
		"an array":                       `{"jsonrpc":"2.0","id":%s,"result":[]}`,
		"invalid UTF-8":                  "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"x\":\"\xff\"}}",
		"an error without a code":        `{"jsonrpc":"2.0","id":%s,"error":{"message":"x"}}`,
		"an error that is not an object": `{"jsonrpc":"2.0","id":%s,"error":"x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				done := background(func() error { _, err := c.CallTool(t.Context(), "echo", nil); return err })
				f := v.Expect(mcp.MethodCallTool)
				v.Send(fmt.Sprintf(answer, f.ID))
				err := <-done
				if e, ok := errors.AsType[*mcpclient.Error](err); !ok || e.Kind != mcpclient.KindProtocol {
					t.Fatalf("want an error of kind protocol, got %v", err)
				}
				done = background(func() error { return c.Call(t.Context(), "next", nil, nil) })
				v.Answer(v.Expect("next"), `{}`)
				if err := <-done; err != nil {
					t.Errorf("want the connection to stay open, got %v", err)
				}
				if got := c.Status().Epoch; got != 1 {
					t.Errorf("want the same connection, got epoch %d", got)
				}
			})
		})
	}
}

func TestGarbageNeverEndsTheSession(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.CallTool(t.Context(), "echo", nil); return err })
		f := v.Expect(mcp.MethodCallTool)
		v.Send(
			"Server listening on stdio", "{", `{"jsonrpc":"2.0","id":`, "[]", `[{"jsonrpc":"2.0","id":1,"result":{}}]`, "null",
			"42", `""`,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`,
			`{"jsonrpc":"2.0","id":null,"result":{}}`,
			`{"jsonrpc":"2.0","id":99999,"result":{}}`, `{"jsonrpc":"2.0","id":"7","result":{}}`,
			`{"jsonrpc":"2.0","id":1.5,"result":{}}`,
			`{"jsonrpc":"1.0","id":1,"result":{}}`, `{"id":1,"result":{}}`, `{"jsonrpc":"2.0","ID":2,"result":{}}`,
			`{"jsonrpc":"2.0","id":77,"method":"sampling/createMessage","params":{}}`, // this revision has no such request
			strings.Repeat("[", 100_000), "\xff\xfe", "\ufeff{}",
			fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","result":{"content":[]}}`, f.ID),
		)
		v.Answer(f, fmt.Sprintf(textResult, "still here"))
		if err := <-done; err != nil {
			t.Errorf("want the answer behind the garbage, got %v", err)
		}
		if got := c.Status(); got.State != connstate.Ready || got.Epoch != 1 {
			t.Errorf("want the first connection ready, got %s, epoch %d", got.State, got.Epoch)
		}
	})
}

func TestAThousandInvalidFramesInARowEndTheConnection(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		for range conn.InvalidStreak - 1 {
			v.Send("garbage")
		}
		v.Send(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
		for range conn.InvalidStreak {
			v.Send("garbage")
		}
		if err := c.WaitForState(t.Context(), connstate.Backoff); err != nil {
			t.Fatal(err)
		}
		if got := c.Status().Reason; got != connstate.ReasonInvalidStreak {
			t.Errorf("want the reason %s, got %s", connstate.ReasonInvalidStreak, got)
		}
		s.next(t).modern()
		await(t, c)
	})
}

func TestClientReconnectsAfterBackoff(t *testing.T) {
	var transitions []connstate.Transition
	o := &mcpclient.Options{OnTransition: func(tr connstate.Transition) { transitions = append(transitions, tr) }}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		var calls []<-chan error
		for range 3 {
			calls = append(calls, background(func() error { return c.Call(t.Context(), "slow", nil, nil) }))
			v.Expect("slow")
		}
		begun := time.Now()
		v.Close()
		for _, done := range calls {
			err := <-done
			if !errors.Is(err, mcpclient.ErrConnectionLost) || mcpclient.SafeToRetry(err) {
				t.Errorf("want the connection lost, not safe to retry, got %v", err)
			}
		}
		if err := c.Call(t.Context(), "early", nil, nil); !errors.Is(err, mcpclient.ErrNotReady) ||
			!mcpclient.SafeToRetry(err) {
			t.Errorf("want a state error that is safe to retry, got %v", err)
		}
		patient := background(func() error { return c.Call(t.Context(), "patient", nil, nil, mcpclient.WaitForReady()) })
		v = s.next(t)
		if waited := time.Since(begun); waited < 500*time.Millisecond || waited > 1500*time.Millisecond {
			t.Errorf("want the next connection after 1 s ± 50 %%, got %v", waited)
		}
		v.modern()
		v.Answer(v.Expect("patient"), `{}`)
		if err := <-patient; err != nil {
			t.Errorf("want the patient call to succeed, got %v", err)
		}
		synctest.Wait()
		var words []string
		for _, tr := range transitions {
			words = append(words, tr.From.String()+">"+tr.To.String())
		}
		want := []string{
			"starting>initializing", "initializing>ready", "ready>backoff", "backoff>starting",
			"starting>initializing", "initializing>ready",
		}
		if !slices.Equal(words, want) {
			t.Errorf("want transitions %v, got %v", want, words)
		}
	})
}

func TestWaitForReadyIsBoundedByTheTimeout(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		s.next(t)
		begun := time.Now()
		err := c.Call(t.Context(), "never", nil, nil, mcpclient.WaitForReady(), mcpclient.WithTimeout(2*time.Second))
		if !errors.Is(err, mcpclient.ErrTimeout) || !mcpclient.SafeToRetry(err) || time.Since(begun) != 2*time.Second {
			t.Errorf("want a timeout after 2 s, safe to retry, got %v after %v", err, time.Since(begun))
		}
	})
}

func TestFullSendQueueIsErrBackpressureAfterThreeAttempts(t *testing.T) {
	o := &mcpclient.Options{Limits: mcpclient.Limits{SendQueue: 700 << 10}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		big := json.RawMessage(`{"x":"` + strings.Repeat("x", 200<<10) + `"}`)
		var filling []<-chan error
		for range 4 { // the server reads nothing: one frame is being sent, the others fill the queue
			filling = append(filling, background(func() error { return c.Call(ctx, "fill", big, nil) }))
		}
		synctest.Wait()
		begun := time.Now()
		err := c.Call(t.Context(), "refused", big, nil)
		if !errors.Is(err, mcpclient.ErrBackpressure) || !mcpclient.SafeToRetry(err) ||
			!strings.Contains(err.Error(), "the send queue is full (tried 3 times)") {
			t.Fatalf("want backpressure, safe to retry, got %v", err)
		}
		if waited := time.Since(begun); waited < 10*time.Millisecond || waited > 30*time.Millisecond {
			t.Errorf("want two pauses of 10 ms ± 50 %%, got %v", waited)
		}
		cancel()
		for _, done := range filling {
			<-done
		}
	})
}

func TestToolErrorIsResultByDefault(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		failing := `{"content":[{"type":"text","text":"no such city"}],"isError":true}`
		done := background(func() error {
			r, err := c.CallTool(t.Context(), "weather", nil)
			if err == nil && !r.IsError {
				return errors.New("want IsError")
			}
			return err
		})
		v.Answer(v.Expect(mcp.MethodCallTool), failing)
		if err := <-done; err != nil {
			t.Error(err)
		}
		done = background(func() error {
			_, err := mcpclient.CallToolAs[struct{}](t.Context(), c, "weather",
				nil)
			return err
		})
		v.Answer(v.Expect(mcp.MethodListTools), `{"tools":[]}`)
		v.Answer(v.Expect(mcp.MethodCallTool), failing)
		if e, ok := errors.AsType[*mcp.ToolError](<-done); !ok || e.Error() != "tool weather: no such city" {
			t.Errorf("want a ToolError with the tool's text, got %v", e)
		}
	})
}

func TestPanicInProgressCallbackLeaksNothing(t *testing.T) {
	observed(t, mcpclient.Options{}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		v := s.next(t).modern()
		await(t, c)
		panicked := make(chan any, 1)
		go func() {
			defer func() { panicked <- recover() }()
			_ = c.Call(t.Context(), "long", nil, nil, mcpclient.WithTimeout(-1),
				mcpclient.WithProgress(func(*mcp.ProgressParams) { panic("oops") }))
		}()
		f := v.Expect("long")
		v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`,
			f.ID))
		if got := <-panicked; got != "oops" {
			t.Fatalf("want the callback's panic in the caller's goroutine, got %v", got)
		}
		if n := mcpclient.ProbeOf(c).Figures().InFlight; n != 0 {
			t.Errorf("want no call in flight, got %d", n)
		}
	})
}

// choosy is a transport that refuses some messages and accepts others.
type choosy struct{ transport.Transport }

func (s choosy) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	c, err := s.Transport.Dial(ctx, cfg)
	return choosyConn{c}, err
}

type choosyConn struct{ transport.Conn }

func (c choosyConn) Send(ctx context.Context, m transport.Message) error {
	if m.Method == "unsendable" {
		return errors.New("invalid header value")
	}
	return c.Conn.Send(ctx, m)
}

func TestMessageRefusedByTransportFailsOnlyItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		c, err := mcpclient.New(choosy{s}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		v := s.next(t).modern()
		await(t, c)
		other := background(func() error { return c.Call(t.Context(), "other", nil, nil) })
		f := v.Expect("other")
		if err := c.Call(t.Context(), "unsendable", nil, nil); !mcpclient.SafeToRetry(err) ||
			errors.Is(err, mcpclient.ErrConnectionLost) {
			t.Errorf("want only the call to fail, safe to retry, got %v", err)
		}
		if err := c.Notify(t.Context(), "unsendable", nil); !mcpclient.SafeToRetry(err) ||
			errors.Is(err, mcpclient.ErrConnectionLost) {
			t.Errorf("want only the notification to fail, safe to retry, got %v", err)
		}
		v.Answer(f, `{}`)
		if err := <-other; err != nil {
			t.Errorf("want the other call to succeed, got %v", err)
		}
	})
}
