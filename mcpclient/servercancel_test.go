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
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// cancel sends the server's cancellation of a request.
func (c *conversation) cancel(id, reason string) {
	c.t.Helper()
	c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":%q}}`, id,
		reason))
}

// A call that the server has cancelled gets no answer. The call fails at once, and an answer that arrives anyway is
// late.
func TestCallCancelledByTheServerFailsAtOnce(t *testing.T) {
	for _, version := range []mcp.Version{mcp.Version20260728, mcp.Version20251125} {
		t.Run(string(version), func(t *testing.T) {
			observed(t, mcpclient.Options{Versions: []mcp.Version{version}}, nil,
				func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
					v := s.next(t).greet(version, all)
					await(t, c)
					var err error
					took := elapsed(func() {
						done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
						other := background(func() error { return c.Call(t.Context(), "x/y", nil, nil) })
						f, g := v.Receive(), v.Receive()
						if f.Method != mcp.MethodCallTool {
							f, g = g, f
						}
						v.cancel(string(f.ID), "maintenance"+pad[:10_000])
						err = <-done
						v.cancel(string(f.ID), "again")
						v.cancel(`"x"`, "no call")
						v.Answer(f, fmt.Sprintf(textResult, "late"))
						v.Answer(g, `{}`)
						if err := <-other; err != nil {
							t.Errorf("another call: got %v, want success", err)
						}
					})
					e, _ := errors.AsType[*mcpclient.Error](err)
					if e == nil || e.Kind != mcpclient.KindProtocol || mcpclient.SafeToRetry(err) || took != 0 {
						t.Errorf("got %v after %v, want an error of kind %s at once, not safe to retry", err, took,
							mcpclient.KindProtocol)
					}
					if text := fmt.Sprint(err); !strings.Contains(text, "the server cancelled the request: "+
						"maintenance") || len(text) > 500 {
						t.Errorf("got %.600s, want the server's reason, cut", text)
					}
					synctest.Wait()
					if n := rec.Value("mcp_client.response.drops", "mcp_client.drop.reason", "late_lost"); n != 1 {
						t.Errorf("%d answers are late, want 1", n)
					}
					if got := rec.Span("tools/call x").Status(); !strings.Contains(fmt.Sprint(got), "Error") {
						t.Errorf("the span has the status %v, want an error", got)
					}
				})
		})
	}
}

// Over HTTP, the client closes the stream of a call that the server has cancelled, so that the transport keeps nothing
// for it.
func TestStreamOfACallCancelledByTheServerIsClosed(t *testing.T) {
	var closed []int64
	bubbleWith(t, nil, func(s *script) transport.Transport {
		closed = nil
		return &overHTTP{rigged: &rigged{Transport: s, cancel: func(id int64, notice transport.Message) bool {
			if len(notice.Data) == 0 {
				closed = append(closed, id)
			}
			return true
		}}}
	}, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).modern()
		await(t, c)
		done := background(func() error { return c.Call(t.Context(), "x/y", nil, nil) })
		f := v.Expect("x/y")
		v.cancel(string(f.ID), "")
		if err := <-done; err == nil || !strings.HasSuffix(err.Error(), "the server cancelled the request") {
			t.Errorf("got %v, want an error without a reason", err)
		}
		if fmt.Sprint(closed) != "["+string(f.ID)+"]" {
			t.Errorf("closed the streams %v, want the stream of the call, %s", closed, f.ID)
		}
	})
}

// If a server cancels its own request, the log contains the server's reason, and the handler can get it from its
// context.
func TestServerCancellationReasonIsLogged(t *testing.T) {
	var cause error
	o := mcpclient.Options{Versions: legacyOnly,
		Features: []mcpclient.Feature{mcpclient.HandleRequest("slow", func(ctx context.Context, _ *mcpclient.Request) (any,
			error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return nil, nil
		})}}
	observed(t, o, nil, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		v.Send(`{"jsonrpc":"2.0","id":7,"method":"slow"}`)
		v.cancel("7", "the user has closed the window")
		synctest.Wait()
		const want = "the server cancelled the request: the user has closed the window"
		if cause == nil || cause.Error() != want {
			t.Errorf("the handler's context ended because of %v, want %q", cause, want)
		}
		if got := rec.Log("mcp_client.handler.exception").Text("exception.message"); got != want {
			t.Errorf("logged %q, want %q", got, want)
		}
	})
}

// If a server ends a subscription, the log contains the server's reason.
func TestSubscriptionCancellationReasonIsLogged(t *testing.T) {
	o := mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleNotification(mcp.NotificationToolListChanged,
		heard(new(int)))}}
	observed(t, o, nil, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), announcing)
		f := v.Expect(mcp.MethodSubscriptionsListen)
		v.acknowledge(f)
		synctest.Wait()
		v.cancel(string(f.ID), "shutting down")
		if took := elapsed(func() { v.acknowledge(v.Expect(mcp.MethodSubscriptionsListen)) }); took != time.Second {
			t.Errorf("subscribed again after %v, want a second", took)
		}
		if got := rec.Log("mcp_client.stream.closed").Text("exception.message"); !strings.Contains(got,
			"the server cancelled the request: "+
				"shutting down") {
			t.Errorf("logged %q, want the server's reason", got)
		}
	})
}
