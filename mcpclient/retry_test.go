package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestRetryRepeatsOnlySafeCalls(t *testing.T) {
	list := func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		_, err := c.ListTools(ctx, nil, o...)
		return err
	}
	tool := func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		_, err := c.CallTool(ctx, "x", nil, o...)
		return err
	}
	legacy := func(s *script, t *testing.T) *conversation {
		v := s.next(t)
		v.initialize(mcp.Version20251125)
		return v
	}
	for _, test := range []struct {
		name   string
		retry  int
		call   func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error
		server func(t *testing.T, s *script, v *conversation)
		want   error // nil means success
	}{
		{"a lost read", 1, list, func(t *testing.T, s *script, v *conversation) {
			v.Expect(mcp.MethodListTools)
			v.Close()
			v = legacy(s, t)
			v.Answer(v.Expect(mcp.MethodListTools), `{"tools":[]}`)
		}, nil},
		{"a read that was lost twice, and once more", 3, list, func(t *testing.T, s *script, v *conversation) {
			for range 2 {
				v.Expect(mcp.MethodListTools)
				v.Close()
				v = legacy(s, t)
			}
			v.Answer(v.Expect(mcp.MethodListTools), `{"tools":[]}`)
		}, nil},
		{"more often than asked for", 1, list, func(t *testing.T, s *script, v *conversation) {
			v.Expect(mcp.MethodListTools)
			v.Close()
			v = legacy(s, t)
			v.Expect(mcp.MethodListTools)
			v.Close()
			legacy(s, t)
		}, mcpclient.ErrConnectionLost},
		{"a tool that may do it twice", 5, tool, func(t *testing.T, s *script, v *conversation) {
			v.Expect(mcp.MethodCallTool)
			v.Close()
			legacy(s, t)
		}, mcpclient.ErrConnectionLost},
		{"a server's error", 5, list, func(t *testing.T, _ *script, v *conversation) {
			v.Refuse(v.Expect(mcp.MethodListTools), mcp.CodeInternalError, "no")
		}, &mcp.Error{Code: mcp.CodeInternalError, Message: "no"}},
		{"never, unless asked for", 0, list, func(t *testing.T, s *script, v *conversation) {
			v.Expect(mcp.MethodListTools)
			v.Close()
			legacy(s, t)
		}, mcpclient.ErrConnectionLost},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125}}
			observed(t, o, nil, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
				v := legacy(s, t)
				await(t, c)
				result := make(chan error, 1)
				go func() { result <- test.call(t.Context(), c, mcpclient.Retry(test.retry)) }()
				test.server(t, s, v)
				err := <-result
				refused, isServer := test.want.(*mcp.Error)
				switch {
				case test.want == nil && err != nil:
					t.Errorf("got %v, want success", err)
				case isServer:
					if got, ok := errors.AsType[*mcp.Error](err); !ok || got.Code != refused.Code {
						t.Errorf("got %v, want the server's error", err)
					}
				case test.want != nil && (!errors.Is(err, test.want) || mcpclient.SafeToRetry(err)):
					t.Errorf("got %v, safe to retry %v, want %v", err, mcpclient.SafeToRetry(err), test.want)
				}
			})
		})
	}
}

func TestEachAttemptHasSpanLinkedToPreviousOne(t *testing.T) {
	o := mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125}}
	observed(t, o, nil, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
		v := s.next(t)
		v.initialize(mcp.Version20251125)
		await(t, c)
		result := make(chan error, 1)
		go func() {
			_, err := c.ListTools(t.Context(), nil, mcpclient.Retry(1))
			result <- err
		}()
		v.Expect(mcp.MethodListTools)
		v.Close()
		v = s.next(t)
		v.initialize(mcp.Version20251125)
		v.Answer(v.Expect(mcp.MethodListTools), `{"tools":[]}`)
		if err := <-result; err != nil {
			t.Fatal(err)
		}
		tries := rec.SpansNamed(mcp.MethodListTools, trace.SpanKindClient)
		if len(tries) != 2 {
			t.Fatalf("got %d spans of the call, want 2", len(tries))
		}
		first, second := tries[0], tries[1]
		if links := second.Links(); len(links) != 1 || links[0].SpanContext.SpanID() != first.SpanContext().SpanID() {
			t.Errorf("links of the second attempt: got %v, want one to the first", links)
		}
		if n := len(rec.Logs("mcp_client.request.reissued")); n != 1 {
			t.Errorf("records of a retried request: got %d, want 1", n)
		}
	})
}

// The server never comes back.
func TestAllAttemptsShareTheTimeout(t *testing.T) {
	o := mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125},
		Backoff: mcpclient.Backoff{Min: time.Hour, Max: time.Hour}}
	bubble(t, &o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.initialize(mcp.Version20251125)
		await(t, c)
		go func() {
			v.Expect(mcp.MethodListTools)
			v.Close()
		}()
		begun := time.Now()
		_, err := c.ListTools(t.Context(), nil, mcpclient.Retry(100), mcpclient.WithTimeout(10*time.Second))
		if took := time.Since(begun); err == nil || took != 10*time.Second {
			t.Errorf("got %v after %v, want an error after the time of one call", err, took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun = time.Now()
		_, err = c.ListTools(ctx, nil, mcpclient.Retry(100))
		if took := time.Since(begun); err == nil || took > time.Second {
			t.Errorf("got %v after %v, want an error when the context ends", err, took)
		}
	})
}

// busyAtFirst is a transport that accepts only the handshake for some time.
type busyAtFirst struct {
	transport.Transport
	until *time.Time
}

func (b busyAtFirst) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	c, err := b.Transport.Dial(ctx, cfg)
	return busyConn{c, b.until}, err
}

type busyConn struct {
	transport.Conn
	until *time.Time
}

func (c busyConn) Send(ctx context.Context, m transport.Message) error {
	if time.Now().Before(*c.until) {
		return transport.ErrBusy
	}
	return c.Conn.Send(ctx, m)
}

func TestBusyCallIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, until := newScript(t), time.Time{}
		c, err := mcpclient.New(busyAtFirst{s, &until}, checked(t,
			&mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125}}))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		v := s.next(t)
		v.initialize(mcp.Version20251125)
		await(t, c)
		until = time.Now().Add(time.Second)
		if err := c.Call(t.Context(), "x", nil, nil); !errors.Is(err, mcpclient.ErrBackpressure) {
			t.Errorf("without Retry: got %v, want ErrBackpressure", err)
		}
		result := make(chan error, 1)
		go func() { result <- c.Call(t.Context(), "x", nil, nil, mcpclient.Retry(10)) }()
		v.Answer(v.Expect("x"), `{}`)
		if err := <-result; err != nil {
			t.Errorf("with Retry: got %v, want success", err)
		}
	})
}

// bare is the answer of a proxy. It does not show whether the server has acted.
var bare = transport.RequestError{Reason: transport.ReasonBusy, Status: 503}

// tools lists one tool of each kind.
const tools = `{"tools":[
	{"name":"write","inputSchema":{"type":"object"}},
	{"name":"hinted","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false,"idempotentHint":false,"destructiveHint":false}},
	{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},
	{"name":"set","inputSchema":{"type":"object"},"annotations":{"idempotentHint":true}}]}`

// withTools runs f with a client that has listed the tools.
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

func TestCallWithPossibleSideEffectIsNotRetried(t *testing.T) {
	for _, tool := range []string{"write", "hinted", "unlisted"} {
		withTools(t, func(t *testing.T, v *conversation, c *mcpclient.Client) {
			done := background(func() error { _, err := c.CallTool(t.Context(), tool, nil); return err })
			v.fail(v.Expect(mcp.MethodCallTool), bare)
			err := <-done
			if !errors.Is(err, mcpclient.ErrBackpressure) || mcpclient.SafeToRetry(err) {
				t.Errorf("%s: got %v, safe to retry: %v, want backpressure, false", tool, err, mcpclient.SafeToRetry(err))
			}
		})
	}
	withTools(t, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		done := background(func() error { return c.Call(t.Context(), "x/own", nil, nil) })
		v.fail(v.Expect("x/own"), bare)
		if err := <-done; !errors.Is(err, mcpclient.ErrBackpressure) || mcpclient.SafeToRetry(err) {
			t.Errorf("a custom method: got %v, safe to retry: %v, want backpressure, false", err,
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
				t.Errorf("%s: got %v, want success at the second attempt", what, err)
			}
		})
	}
}

// However later attempts of a call end, the server may have seen the first one.
func TestCallSeenByTheServerIsNeverSafeToRetry(t *testing.T) {
	unsent := func(why transport.RequestReason) func(v *conversation, c *mcpclient.Client, leave func()) {
		return func(v *conversation, c *mcpclient.Client, leave func()) {
			v.fail(v.Expect(mcp.MethodCallTool), transport.RequestError{Reason: why, Unsent: true})
		}
	}
	for name, end := range map[string]func(v *conversation, c *mcpclient.Client, leave func()){
		"unreachable": unsent(transport.ReasonUnreachable),
		"refused":     unsent(transport.ReasonUnauthorized),
		"busy": func(v *conversation, c *mcpclient.Client, leave func()) {
			for range 2 {
				v.fail(v.Expect(mcp.MethodCallTool),
					transport.RequestError{Reason: transport.ReasonBusy, Status: 429, Unsent: true})
			}
		},
		"left":    func(v *conversation, c *mcpclient.Client, leave func()) { leave() },
		"stopped": func(v *conversation, c *mcpclient.Client, leave func()) { go c.Close() },
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
				t.Errorf("%s: got %v, safe to retry: %v, want an error, false", name, err, mcpclient.SafeToRetry(err))
			}
		})
	}
}

// A user's own transport may pass on any Retry-After.
func TestRetryAfterIsLimitedToTenMinutes(t *testing.T) {
	for _, wait := range []time.Duration{time.Hour, 1 << 62} {
		withTools(t, func(t *testing.T, v *conversation, c *mcpclient.Client) {
			done := background(func() error {
				return c.Call(t.Context(), mcp.MethodPing, nil, nil,
					mcpclient.WithTimeout(time.Hour))
			})
			v.fail(v.Expect(mcp.MethodPing), transport.RequestError{Reason: transport.ReasonBusy, Status: 503, Unsent: true,
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
