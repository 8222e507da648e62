package mcpclient_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestRetryMakesACallAgainWhereThatIsSafe(t *testing.T) {
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
		want   error // nil for success
	}{
		{"a read that was lost", 1, list, func(t *testing.T, s *script, v *conversation) {
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

func TestEachTryIsASpanLinkedToThePreviousOne(t *testing.T) {
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
			t.Errorf("links of the second try: got %v, want one to the first", links)
		}
		if n := len(rec.Logs("mcp_client.request.reissued")); n != 1 {
			t.Errorf("records of a request that is made again: got %d, want 1", n)
		}
	})
}

// TestAllTriesShareTheTimeout has a server that is never there again.
func TestAllTriesShareTheTimeout(t *testing.T) {
	o := mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125}, BackoffMin: time.Hour, BackoffMax: time.Hour}
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

// busyAtFirst is a transport that takes nothing but the handshake for a while.
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
		defer func() { _ = c.Stop(context.Background()) }()
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
