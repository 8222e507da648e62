package mcpserver_test

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
	"github.com/mcpotel/mcpotel/mcpserver"
)

func TestOnceRunsOnceAcrossRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type order struct {
			ID    int64
			Items []string
		}
		calls, failing := 0, true
		c := callerOf(t, withTool(t, mcpserver.Options{}, "tool",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				placed, err := mcpserver.Once(ctx, "order", func() (*order, error) {
					calls++
					return &order{int64(calls) << 60, []string{"<lamp>"}}, nil
				})
				if err != nil {
					return nil, err
				}
				_, err = mcpserver.Once(ctx, "fails first", func() (any, error) {
					if calls++; failing {
						failing = false
						return nil, errors.New("not yet")
					}
					return nil, nil
				})
				if err != nil {
					return nil, err
				}
				// A function may ask within Once; Once then finishes when the answer has arrived.
				name, err := mcpserver.Once(ctx, "name", func() (string, error) {
					r, err := nameAndColor(ctx, r)
					if err != nil {
						return "", err
					}
					calls++
					return r.Text(), nil
				})
				if err != nil {
					return nil, err
				}
				if _, err := r.ListRoots(ctx); err != nil {
					return nil, err
				}
				return toldBy("%d %v %s", placed.ID>>60, placed.Items, name)
			}), "tool")
		if m := c.call(""); !strings.Contains(string(m.Result), "not yet") {
			t.Errorf("the answer is %s, want the error of the function", m.Result)
		}
		calls = 0
		r := c.needs("")
		r = c.needs(with("{"+adaAnswer+"}", r.RequestState))
		r = c.needs(with("{"+blueAnswer+"}", r.RequestState))
		if calls != 3 {
			t.Errorf("the functions were called %d times, want once each", calls)
		}
		c.tells(with(`{"roots":{"roots":[]}}`, r.RequestState), "1 [<lamp>] Ada accept blue accept")
		if calls != 3 {
			t.Errorf("the functions were called %d times, want once each", calls)
		}
		c.finish()
	})
}

func TestConcurrentOnceCallsRunOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		s := withTool(t, mcpserver.Options{}, "tool",
			func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				slow := func() (int, error) {
					calls++
					time.Sleep(time.Second)
					if calls == 1 {
						return 0, errors.New("first")
					}
					return calls, nil
				}
				var all sync.WaitGroup
				var mu sync.Mutex
				results := map[string]int{}
				for range 5 {
					all.Go(func() {
						n, err := mcpserver.Once(ctx, "slow", slow)
						mu.Lock()
						defer mu.Unlock()
						results[fmt.Sprint(n, err)]++
					})
				}
				short, cancel := context.WithTimeout(ctx, time.Millisecond)
				defer cancel()
				<-short.Done()
				if _, err := mcpserver.Once(short, "slow", slow); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("waiting ended with %v, want the end of its context", err)
				}
				all.Wait()
				return toldBy("%v", results)
			})
		w := opened(t, t.Context(), s) // Once also works in the legacy era
		w.send(callOf(1, "tool", "{}"))
		time.Sleep(3 * time.Second)
		if out := w.reply(t); !strings.Contains(string(out.Result), `map[0 first:1 2 \u003cnil\u003e:4]`) &&
			!strings.Contains(string(out.Result), `map[0 first:1 2 <nil>:4]`) {
			t.Errorf("the callers got %s, want the error once and the result of the second call for the rest", out.Result)
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
	})
	if n, err := mcpserver.Once(t.Context(), "", func() (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("outside of a request: %d, %v, want the function called", n, err)
	}
}

func TestOnceMayBeRetriedAfterPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := callerOf(t, withTool(t, mcpserver.Options{}, "tool",
			func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				func() {
					defer func() { _ = recover() }()
					_, _ = mcpserver.Once(ctx, "key", func() (int, error) { panic("x") })
				}()
				n, err := mcpserver.Once(ctx, "key", func() (int, error) { return 1, nil })
				return toldBy("%d %v", n, err)
			}), "tool")
		c.tells("", "1 <nil>")
		c.finish()
	})
}
