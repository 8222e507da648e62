package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestNotifySendsOneFrameWithoutAnID(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		for params, want := range map[any]string{
			nil: `{"jsonrpc":"2.0","method":"custom/note"}`,
			struct {
				N int `json:"n"`
			}{7}: `{"jsonrpc":"2.0","method":"custom/note","params":{"n":7}}`,
		} {
			if err := c.Notify(t.Context(), "custom/note", params); err != nil {
				t.Fatal(err)
			}
			if got := v.Receive().Raw; got != want {
				t.Errorf("want %s, got %s", want, got)
			}
		}
	})
}

// The test lists every way in which a notification is not sent. The server never gets a part of it.
func TestFailedNotifySendsNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		left   bool // the caller's context has ended
		params any
		send   error
		kind   mcpclient.ErrorKind
		typ    string
		is     error
	}{
		"params that are not an object": {false, 7, nil, mcpclient.KindInvalid, "_OTHER", nil},
		"params that cannot be JSON": {false, map[string]float64{"x": math.NaN()}, nil, mcpclient.KindInvalid, "_OTHER",
			nil},
		"a busy transport": {false, nil, transport.ErrBusy, mcpclient.KindTransport, "transport_busy",
			mcpclient.ErrBackpressure},
		"a context that ended": {true, nil, context.Canceled, mcpclient.KindCancelled, "cancelled", errLunch},
		"a broken connection": {false, nil, transport.ErrClosed, mcpclient.KindTransport, "connection_lost",
			mcpclient.ErrConnectionLost},
	} {
		t.Run(name, func(t *testing.T) {
			armed := false
			rig := &rigged{send: func(transport.Message) (error, bool) { return tc.send, armed && tc.send != nil }}
			observed(t, mcpclient.Options{}, rig, func(t *testing.T, s *script, c *mcpclient.Client,
				rec *telemetrytest.Recording) {
				s.next(t).modern()
				await(t, c)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if tc.left {
					cancel(errLunch)
				}
				armed = true
				err := c.Notify(ctx, "custom/note", tc.params)
				armed = false
				e, ok := errors.AsType[*mcpclient.Error](err)
				if !ok || e.Kind != tc.kind || e.ErrorType() != tc.typ || e.Op != "custom/note" || !mcpclient.SafeToRetry(err) {
					t.Fatalf("want kind %s, error.type %s, safe to retry, got %+v", tc.kind, tc.typ, err)
				}
				if tc.is != nil && !errors.Is(err, tc.is) {
					t.Errorf("want %v in the chain, got %v", tc.is, err)
				}
				if n := rec.Value("mcp_client.notification.messages", "mcp_client.direction", "sent"); n != 0 {
					t.Errorf("want nothing counted as sent, got %d", n)
				}
			})
		})
	}
}

func TestNotifyFailsUnlessReady(t *testing.T) {
	for name, tc := range map[string]struct {
		reach func(t *testing.T, s *script, c *mcpclient.Client)
		kind  mcpclient.ErrorKind
		is    error
	}{
		"connecting": {func(t *testing.T, s *script, c *mcpclient.Client) { s.next(t).Expect(mcp.MethodDiscover) },
			mcpclient.KindState,
			mcpclient.ErrNotReady},
		"closing": {func(t *testing.T, s *script, c *mcpclient.Client) {
			go c.Close()
			synctest.Wait()
			if got := c.State(); got != connstate.Closing {
				t.Fatalf("want the client closing, got %s", got)
			}
		}, mcpclient.KindShutdown, mcpclient.ErrShutdown},
		"stopped": {func(t *testing.T, s *script, c *mcpclient.Client) { _ = c.Close() }, mcpclient.KindShutdown,
			mcpclient.ErrShutdown},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
				tc.reach(t, s, c)
				err := c.Notify(t.Context(), "custom/note", nil)
				if e, ok := errors.AsType[*mcpclient.Error](err); !ok || e.Kind != tc.kind || !errors.Is(err, tc.is) ||
					!mcpclient.SafeToRetry(err) {
					t.Errorf("want kind %s and %v, got %v", tc.kind, tc.is, err)
				}
			})
		})
	}
}

func TestEachNotificationIsCountedOnce(t *testing.T) {
	release := make(chan struct{})
	features := []mcpclient.Feature{mcpclient.HandleNotification("custom/heard", func(ctx context.Context,
		_ *mcpclient.Notification) {
		select {
		case <-release:
		case <-ctx.Done():
		}
	})}
	observed(t, mcpclient.Options{Features: features, Limits: mcpclient.Limits{Notifications: 1}}, nil,
		func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
			release = make(chan struct{})
			v := s.next(t).modern()
			await(t, c)
			v.Send(`{"jsonrpc":"2.0","method":"custom/unheard"}`, `{"jsonrpc":"2.0","method":"custom/heard"}`)
			synctest.Wait() // the handler is running
			// one waits, one is dropped
			v.Send(`{"jsonrpc":"2.0","method":"custom/heard"}`, `{"jsonrpc":"2.0","method":"custom/heard"}`)
			synctest.Wait()
			close(release)
			synctest.Wait()
			if n := rec.Value("mcp_client.notification.messages", "mcp_client.direction", "received"); n != 3 {
				t.Errorf("want 3 received notifications counted, got %d", n)
			}
			if n := rec.Value("mcp_client.notification.drops", "mcp_client.drop.reason", "queue_full"); n != 1 {
				t.Errorf("want one lost, got %d", n)
			}
			if n := len(rec.Logs("mcp_client.notification.received")); n != 3 {
				t.Errorf("want 3 records, got %d", n)
			}
		})
}

func TestANotificationWithUnusableParamsIsAViolation(t *testing.T) {
	heard := make(chan string, 9)
	features := []mcpclient.Feature{mcpclient.HandleNotification("", func(_ context.Context, n *mcpclient.Notification) {
		var v struct {
			N int `json:"n"`
		}
		heard <- fmt.Sprint(n.Method, " ", n.Decode(&v) == nil, " ", v.N)
	})}
	observed(t, mcpclient.Options{Features: features}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		heard = make(chan string, 9)
		v := s.next(t).modern()
		await(t, c)
		v.Send(
			`{"jsonrpc":"2.0","method":"a","params":{"n":[}}`,
			`{"jsonrpc":"2.0","method":"b","params":{"_meta":7}}`,
			`{"jsonrpc":"2.0","method":"c"}`,
			`{"jsonrpc":"2.0","method":"d","params":{"n":"x"}}`,
			`{"jsonrpc":"2.0","method":"e","params":{"n":5}}`,
		)
		for _, want := range []string{"c true 0", "d false 0", "e true 5"} {
			if got := <-heard; got != want {
				t.Errorf("want %q, got %q", want, got)
			}
		}
		var reasons []string
		for _, r := range rec.Logs("mcp_client.protocol.violation") {
			reasons = append(reasons, r.Text("mcp_client.violation.reason"))
		}
		if got := strings.Join(reasons, " "); got != "invalid_json invalid_params" {
			t.Errorf("want two violations, got %s", got)
		}
	})
}

func TestQueuedUpdatesOfOneResourceAreCoalesced(t *testing.T) {
	release := make(chan struct{})
	heard := make(chan string, 9)
	features := []mcpclient.Feature{mcpclient.HandleNotification("", func(_ context.Context, n *mcpclient.Notification) {
		heard <- string(n.Params)
		<-release
	})}
	observed(t, mcpclient.Options{Features: features, Limits: mcpclient.Limits{Notifications: 1}}, nil,
		func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
			release, heard = make(chan struct{}), make(chan string, 9)
			v := s.next(t).modern()
			await(t, c)
			v.Send(`{"jsonrpc":"2.0","method":"first"}`)
			<-heard // the handler is running now
			meta := opened(c)
			for _, uri := range []string{"file:///a", "file:///a", "file:///b"} {
				v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q,%s}}`, uri,
					meta))
			}
			synctest.Wait()
			close(release)
			if got, want := <-heard, `{"uri":"file:///a",`+meta+`}`; got != want {
				t.Errorf("want %s, got %s", want, got)
			}
			synctest.Wait()
			for reason, want := range map[string]int64{"coalesced": 1, "queue_full": 1} {
				if n := rec.Value("mcp_client.notification.drops", "mcp_client.drop.reason", reason); n != want {
					t.Errorf("want %d %s, got %d", want, reason, n)
				}
			}
		})
}
