package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// reports sends a progress notification for request f.
func (c *conversation) reports(f frame, progress float64) {
	c.t.Helper()
	c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%v}}`,
		f.ID, progress))
}

// inBothEras runs f with a server of each era.
func inBothEras(t *testing.T, o func() *mcpclient.Options, f func(t *testing.T, v *conversation, c *mcpclient.Client)) {
	t.Helper()
	t.Run("modern", func(t *testing.T) {
		ready(t, o(), func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) { f(t, v, c) })
	})
	t.Run("legacy", func(t *testing.T) {
		bubble(t, o(), func(t *testing.T, s *script, c *mcpclient.Client) {
			v := s.next(t).legacy(mcp.Version20251125)
			await(t, c)
			f(t, v, c)
		})
	})
}

func noOptions() *mcpclient.Options { return nil }

func TestProgressResetsTheTimeout(t *testing.T) {
	inBothEras(t, noOptions, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		done := background(func() error {
			return c.Call(t.Context(), "long", nil, nil, mcpclient.WithTimeout(10*time.Second),
				mcpclient.ResetTimeoutOnProgress(time.Hour))
		})
		f := v.Expect("long")
		if !strings.Contains(f.Raw, `"progressToken":`) {
			t.Errorf("sent %s, want a progress token", f.Raw)
		}
		for i := range 20 {
			time.Sleep(9 * time.Second)
			v.reports(f, float64(i))
		}
		took := elapsed(func() {
			if err := <-done; !errors.Is(err, mcpclient.ErrTimeout) {
				t.Errorf("got %v, want a timeout", err)
			}
		})
		if took != 10*time.Second {
			t.Errorf("the call ended %v after the last report, want 10s", took)
		}
		v.Expect(mcp.NotificationCancelled)
	})
}

func TestTotalTimeoutBoundsProgressResets(t *testing.T) {
	for _, test := range []struct {
		timeout, total, want time.Duration
	}{
		{10 * time.Second, 25 * time.Second, 25 * time.Second},
		{10 * time.Second, 5 * time.Second, 5 * time.Second}, // the total is shorter, even without progress
		{10 * time.Second, 0, 100 * time.Second},
		{-1, 25 * time.Second, 25 * time.Second},
		{10 * time.Second, -1, 16 * time.Minute}, // 10 s after the last report
		{-1, 0, 17 * time.Minute},                // only the caller ends it
	} {
		ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			ctx, cancel := context.WithTimeout(t.Context(), 17*time.Minute)
			defer cancel()
			done := background(func() error {
				return c.Call(ctx, "long", nil, nil, mcpclient.WithTimeout(test.timeout),
					mcpclient.ResetTimeoutOnProgress(test.total))
			})
			f := v.Expect("long")
			go func() {
				for i := range 158 { // up to 15m48s
					time.Sleep(6 * time.Second)
					v.reports(f, float64(i))
				}
			}()
			took := elapsed(func() { <-done })
			if test.total == -1 {
				took = took.Round(time.Minute)
			}
			if took != test.want {
				t.Errorf("timeout %v, total %v: the call took %v, want %v", test.timeout, test.total, took, test.want)
			}
			time.Sleep(20 * time.Minute) // late reports must not affect any call
		})
	}
}

func TestProgressDoesNotResetTimeoutByDefault(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error {
			return c.Call(t.Context(), "long", nil, nil, mcpclient.WithTimeout(10*time.Second),
				mcpclient.WithProgress(func(*mcp.ProgressParams) {}))
		})
		f := v.Expect("long")
		took := elapsed(func() {
			time.Sleep(9 * time.Second)
			v.reports(f, 1)
			<-done
		})
		if took != 10*time.Second {
			t.Errorf("the call took %v, want 10s", took)
		}
	})
}

// Progress of one call must neither prolong other calls with shorter timeouts nor shorten calls with longer ones.
func TestProgressDoesNotAffectOtherCallsTimeouts(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		begun := time.Now()
		ends := make(chan string, 3)
		call := func(name string, options ...mcpclient.CallOption) frame {
			go func() {
				_ = c.Call(t.Context(), name, nil, nil, options...)
				ends <- fmt.Sprint(name, " ", time.Since(begun))
			}()
			return v.Expect(name)
		}
		call("short", mcpclient.WithTimeout(10*time.Second))
		long := call("prolonged", mcpclient.WithTimeout(5*time.Second), mcpclient.ResetTimeoutOnProgress(time.Minute))
		call("other", mcpclient.WithTimeout(7*time.Second), mcpclient.ResetTimeoutOnProgress(time.Minute))
		time.Sleep(4 * time.Second)
		v.reports(long, 1)
		time.Sleep(4 * time.Second)
		v.reports(long, 2)
		for _, want := range []string{"other 7s", "short 10s", "prolonged 13s"} {
			v.Expect(mcp.NotificationCancelled)
			if got := <-ends; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	})
}

func TestFollowedCallYieldsProgress(t *testing.T) {
	inBothEras(t, noOptions, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		go func() {
			f := v.Expect(mcp.MethodCallTool)
			for i := range 3 {
				v.reports(f, float64(i))
			}
			v.Answer(f, fmt.Sprintf(textResult, "ok"))
		}()
		var got []float64
		var result *mcp.CallToolResult
		for p, err := range mcpclient.FollowProgress(t.Context(), func(ctx context.Context,
			follow mcpclient.CallOption) (err error) {
			result, err = c.CallTool(ctx, "x", nil, follow)
			return err
		}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, p.Progress)
		}
		if fmt.Sprint(got) != "[0 1 2]" || text(result) != "ok" {
			t.Errorf("got %v and %v, want three reports and the result", got, result)
		}
	})
}

func TestFollowedCallYieldsItsErrorLast(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		go func() {
			f := v.Expect("x/y")
			v.reports(f, 1)
			v.Refuse(f, -32603, "no")
		}()
		var got []string
		for p, err := range mcpclient.FollowProgress(t.Context(), func(ctx context.Context,
			follow mcpclient.CallOption) error {
			return c.Call(ctx, "x/y", nil, nil, follow)
		}) {
			if p == nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, fmt.Sprint(p.Progress, " ", err))
		}
		if want := "[1 <nil> x/y: server error -32603: no]"; fmt.Sprint(got) != want {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestBreakFromProgressLoopCancelsTheCall(t *testing.T) {
	inBothEras(t, noOptions, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		go func() {
			f := v.Expect("x/y")
			for i := range 4 {
				v.reports(f, float64(i))
			}
			if n := v.Expect(mcp.NotificationCancelled); !strings.Contains(n.Raw, string(f.ID)) {
				t.Errorf("the client sent %s, want a cancellation", n.Raw)
			}
		}()
		var ended error
		n := 0
		for range mcpclient.FollowProgress(t.Context(), func(ctx context.Context, follow mcpclient.CallOption) error {
			ended = c.Call(ctx, "x/y", nil, nil, follow)
			return ended
		}) {
			if n++; n == 2 {
				break // while two more reports wait
			}
			time.Sleep(time.Second)
		}
		if e, _ := errors.AsType[*mcpclient.Error](ended); e == nil || e.Kind != mcpclient.KindCancelled || n != 2 {
			t.Errorf("after %d reports the call ended with %v, want a cancellation after two", n, ended)
		}
		synctest.Wait()
	})
}
