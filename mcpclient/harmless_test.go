package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// bare is what a proxy says for a server that may have done its work.
var bare = transport.RequestError{Reason: transport.Busy, Status: 503}

// tools lists a tool of each kind.
const tools = `{"tools":[
	{"name":"write","inputSchema":{"type":"object"}},
	{"name":"hinted","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false,"idempotentHint":false,"destructiveHint":false}},
	{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},
	{"name":"set","inputSchema":{"type":"object"},"annotations":{"idempotentHint":true}}]}`

// withTools starts a client that knows the tools.
func withTools(t *testing.T, f func(t *testing.T, v *conversation, c *mcpclient.Client)) {
	streamed(t, pinnedLegacy(), func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		listed := background(func() error { _, err := c.ListTools(t.Context(), nil); return err })
		v.Answer(v.Expect(mcp.MethodListTools), tools)
		if err := <-listed; err != nil {
			t.Fatal(err)
		}
		f(t, v, c)
	})
}

func TestCallThatMayHaveActedIsNotRetried(t *testing.T) {
	for _, tool := range []string{"write", "hinted", "unlisted"} {
		withTools(t, func(t *testing.T, v *conversation, c *mcpclient.Client) {
			done := background(func() error { _, err := c.CallTool(t.Context(), tool, nil); return err })
			v.fail(v.Expect(mcp.MethodCallTool), bare)
			err := <-done
			if !errors.Is(err, mcpclient.ErrBackpressure) || mcpclient.SafeToRetry(err) {
				t.Errorf("%s: got %v, safe to retry: %v, want backpressure, and not", tool, err, mcpclient.SafeToRetry(err))
			}
		})
	}
	withTools(t, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		done := background(func() error { return c.Call(t.Context(), "x/own", nil, nil) })
		v.fail(v.Expect("x/own"), bare)
		if err := <-done; !errors.Is(err, mcpclient.ErrBackpressure) || mcpclient.SafeToRetry(err) {
			t.Errorf("a method of its own: got %v, safe to retry: %v, want backpressure, and not", err,
				mcpclient.SafeToRetry(err))
		}
	})
}

func TestIdempotentCallIsRetried(t *testing.T) {
	for what, call := range map[string]func(*mcpclient.Client, context.Context) error{
		"read": func(c *mcpclient.Client, ctx context.Context) error {
			_, err := c.CallTool(ctx, "read", nil)
			return err
		},
		"set": func(c *mcpclient.Client, ctx context.Context) error {
			_, err := c.CallTool(ctx, "set", nil)
			return err
		},
		"ping": func(c *mcpclient.Client, ctx context.Context) error { return c.Call(ctx, mcp.MethodPing, nil, nil) },
	} {
		method := mcp.MethodCallTool
		if what == "ping" {
			method = mcp.MethodPing
		}
		withTools(t, func(t *testing.T, v *conversation, c *mcpclient.Client) {
			done := background(func() error { return call(c, t.Context()) })
			v.fail(v.Expect(method), bare)
			v.Answer(v.Expect(method), `{"content":[]}`)
			if err := <-done; err != nil {
				t.Errorf("%s: got %v, want it answered at the second try", what, err)
			}
		})
	}
}

// However the later tries of a call end, the first may have been seen.
func TestCallSeenByTheServerIsNeverSafeToRetry(t *testing.T) {
	unsent := func(why transport.RequestReason) func(v *conversation, c *mcpclient.Client, leave func()) {
		return func(v *conversation, c *mcpclient.Client, leave func()) {
			v.fail(v.Expect(mcp.MethodCallTool), transport.RequestError{Reason: why, Unsent: true})
		}
	}
	for name, end := range map[string]func(v *conversation, c *mcpclient.Client, leave func()){
		"unreachable": unsent(transport.Unreachable),
		"refused":     unsent(transport.Unauthorized),
		"busy": func(v *conversation, c *mcpclient.Client, leave func()) {
			for range 2 {
				v.fail(v.Expect(mcp.MethodCallTool), transport.RequestError{Reason: transport.Busy, Status: 429, Unsent: true})
			}
		},
		"left":    func(v *conversation, c *mcpclient.Client, leave func()) { leave() },
		"stopped": func(v *conversation, c *mcpclient.Client, leave func()) { go c.Stop(context.Background()) },
	} {
		withTools(t, func(t *testing.T, v *conversation, c *mcpclient.Client) {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			done := background(func() error {
				_, err := c.CallTool(ctx, "read", nil,
					mcpclient.WithTimeout(time.Hour))
				return err
			})
			first := bare
			if name == "left" || name == "stopped" {
				first.RetryAfter = time.Minute
			}
			v.fail(v.Expect(mcp.MethodCallTool), first)
			time.Sleep(time.Second / 1000)
			end(v, c, leave)
			if err := <-done; err == nil || mcpclient.SafeToRetry(err) {
				t.Errorf("%s: got %v, safe to retry: %v, want an error, and not", name, err, mcpclient.SafeToRetry(err))
			}
		})
	}
}

// A transport of the user's own may pass on any Retry-After.
func TestNoServerIsWaitedForForLongerThanTenMinutes(t *testing.T) {
	for _, wait := range []time.Duration{time.Hour, 1 << 62} {
		withTools(t, func(t *testing.T, v *conversation, c *mcpclient.Client) {
			done := background(func() error {
				return c.Call(t.Context(), mcp.MethodPing, nil, nil,
					mcpclient.WithTimeout(time.Hour))
			})
			v.fail(v.Expect(mcp.MethodPing), transport.RequestError{Reason: transport.Busy, Status: 503, Unsent: true,
				RetryAfter: wait})
			var again frame
			if took := elapsed(func() { again = v.Expect(mcp.MethodPing) }); took != 10*time.Minute {
				t.Errorf("asked again after %v, want 10 min", took)
			}
			v.Answer(again, `{}`)
			if err := <-done; err != nil {
				t.Error(fmt.Errorf("ping: %w", err))
			}
		})
	}
}
