package mcpclient_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// The test makes every kind of call, with and without middleware. The client's options apply to each call, and an
// option of the call overrides them.
func TestClientCallOptionsApplyToEachCall(t *testing.T) {
	passing := func(next mcpclient.CallFunc) mcpclient.CallFunc {
		return func(ctx context.Context, method string, params, result any, options ...mcpclient.CallOption) error {
			return next(ctx, method, params, result, options...)
		}
	}
	of := func(tenant string) mcpclient.CallOption {
		m, err := mcp.Meta{}.With("tenant", tenant)
		if err != nil {
			t.Fatal(err)
		}
		return mcpclient.WithMeta(m)
	}
	for name, middleware := range map[string][]mcpclient.Middleware{"directly": nil, "through middleware": {passing}} {
		for way, call := range map[string]func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error{
			"Call": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
				return c.Call(ctx, "x/any", nil, nil, o...)
			},
			"ListPrompts": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
				_, err := c.ListPrompts(ctx, nil, o...)
				return err
			},
			"Prompts": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
				for _, err := range c.Prompts(ctx, o...) {
					return err
				}
				return nil
			},
			"ResumeTask": func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
				_, err := c.ResumeTask("7", o...).Poll(ctx)
				return err
			},
		} {
			t.Run(way+" "+name, func(t *testing.T) {
				o := &mcpclient.Options{Middleware: middleware, Features: []mcpclient.Feature{mcpclient.UseTasks(nil)},
					CallOptions: []mcpclient.CallOption{of("one"), mcpclient.WithTimeout(3 * time.Second)}}
				bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
					v := everythingModern(t, s, c)
					for _, test := range []struct {
						own    []mcpclient.CallOption
						tenant string
						after  time.Duration
					}{
						{nil, "one", 3 * time.Second},
						{[]mcpclient.CallOption{of("two"), mcpclient.WithTimeout(time.Second)}, "two", time.Second},
					} {
						begun := time.Now()
						failed := background(func() error { return call(t.Context(), c, test.own...) })
						if got := v.Receive(); !strings.Contains(got.Raw, `"tenant":"`+test.tenant+`"`) {
							t.Errorf("want the tenant %s, got %s", test.tenant, got.Raw)
						}
						if err := <-failed; err == nil || time.Since(begun) != test.after {
							t.Errorf("got %v after %v, want a timeout after %v", err, time.Since(begun), test.after)
						}
						_ = v.Receive() // notifications/cancelled
					}
				})
			})
		}
	}
}
