package mcpclient_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// ownCall is the context key of a test's own calls.
type ownCall struct{}

// stuck is a log handler that blocks until it is released, except for records of the test's own calls.
type stuck struct {
	slog.Handler
	release chan struct{}
}

func (h stuck) Handle(ctx context.Context, r slog.Record) error {
	if ctx.Value(ownCall{}) == nil {
		<-h.release
	}
	return nil
}

func (h stuck) WithAttrs([]slog.Attr) slog.Handler { return h }

func (stuck) Enabled(context.Context, slog.Level) bool { return true }

// stuckLog runs f in a bubble with a client whose log handler does not return.
func stuckLog(t *testing.T, o mcpclient.Options, lends bool, f func(t *testing.T, s *script, c *mcpclient.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := stuck{slog.DiscardHandler, make(chan struct{})}
		o.Telemetry = telemetry.New(telemetry.WithLogger(slog.New(h)))
		o.Limits.Frame, o.Limits.SkipOversize = 64<<10, true
		s := newScript(t)
		var dialled transport.Transport = s
		if lends {
			o.Features = append([]mcpclient.Feature{lending}, o.Features...)
			dialled = &interruptible{Transport: s}
		}
		c, err := mcpclient.New(dialled, &o)
		if err != nil {
			t.Fatal(err)
		}
		f(t, s, c)
		close(h.release)
		if err := c.Close(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
}

// promptly makes a call that the server answers at once, and checks that the caller gets the result at once.
func promptly(t *testing.T, v *conversation, c *mcpclient.Client, beside string) {
	t.Helper()
	ctx := context.WithValue(t.Context(), ownCall{}, true)
	begun := time.Now()
	done := background(func() error { return c.Call(ctx, "x/quick", nil, nil) })
	for {
		f := v.Receive() // answers to the server may precede the call
		if f.Method == "x/quick" {
			v.Answer(f, "{}")
			break
		}
	}
	err := <-done
	if took := time.Since(begun); err != nil || took > time.Millisecond {
		t.Errorf("a call during %s: %v after %v, want success at once", beside, err, took)
	}
	synctest.Wait()
}

// said lists every kind of unsolicited message of a server, in both eras. %d is the ID of a finished call.
var said = map[string]string{
	"garbage":          `{"jsonrpc":`,
	"not an object":    `17`,
	"another protocol": `{"hello":"world"}`,
	"an invalid id":    `{"jsonrpc":"2.0","id":{},"result":{}}`,
	"a frame over the limit": `{"jsonrpc":"2.0","method":"x/large","params":{"x":"` + strings.Repeat("x",
		64<<10) + `"}}`,
	"an answer to an unknown call":     `{"jsonrpc":"2.0","id":987654321,"result":{}}`,
	"an answer twice":                  `{"jsonrpc":"2.0","id":%d,"result":{}}`,
	"an error twice":                   `{"jsonrpc":"2.0","id":%d,"error":{"code":1,"message":"no"}}`,
	"a batch":                          `[{"jsonrpc":"2.0","method":"x/news"}]`,
	"a notification without a handler": `{"jsonrpc":"2.0","method":"x/other"}`,
	"a notification with a handler":    `{"jsonrpc":"2.0","method":"x/news"}`,
	"an invalid notification":          `{"jsonrpc":"2.0","method":"x/news","params":[]}`,
	"progress of an unknown call": `{"jsonrpc":"2.0","method":"notifications/progress",` +
		`"params":{"progressToken":5,"progress":1}}`,
	"a log message": `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error",` +
		`"data":"x"}}`,
	"a change of the tools": `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
	"a cancellation of an unknown request": `{"jsonrpc":"2.0","method":"notifications/cancelled",` +
		`"params":{"requestId":987654321}}`,
	"an unknown acknowledgment": `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",` +
		`"params":{}}`,
	"a ping":                        `{"jsonrpc":"2.0","id":"p","method":"ping"}`,
	"a request without a handler":   `{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}}`,
	"a request with a handler":      `{"jsonrpc":"2.0","id":"r","method":"roots/list"}`,
	"a request with invalid params": `{"jsonrpc":"2.0","id":"s","method":"roots/list","params":[]}`,
}

// A log handler that blocks delays only the code that logs. It does not delay the reading of messages in any goroutine,
// or connecting and negotiating.
func TestBlockedLogHandlerDoesNotDelayOtherCalls(t *testing.T) {
	for _, version := range []mcp.Version{mcp.Version20260728, mcp.Version20251125, mcp.Version20250326} {
		for _, lends := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, callers read: %v", version, lends), func(t *testing.T) {
				news := mcpclient.HandleNotification("x/news", func(context.Context, *mcpclient.Notification) {})
				o := mcpclient.Options{Versions: []mcp.Version{version},
					Features: []mcpclient.Feature{news, mcpclient.UseRoots(&mcp.Root{URI: "file:///r"})}}
				stuckLog(t, o, lends, func(t *testing.T, s *script, c *mcpclient.Client) {
					meet := func() *conversation {
						v := s.next(t)
						if version.Era() == mcp.Modern {
							v.modern()
						} else {
							v.initialize(version)
						}
						await(t, c)
						return v
					}
					v := meet()
					promptly(t, v, c, "nothing")
					promptly(t, v, c, "nothing")
					for what, frame := range said {
						v.Send(strings.Replace(frame, "%d", fmt.Sprint(mcpclient.ProbeOf(c).Figures().LastID), 1))
						promptly(t, v, c, what)
						ctx := context.WithValue(t.Context(), ownCall{}, true)
						if err := c.Call(ctx, "x/late", nil, nil, mcpclient.WithTimeout(time.Millisecond)); err == nil {
							t.Error("want a timeout")
						}
						v.Send(strings.Replace(said["an answer twice"], "%d", fmt.Sprint(mcpclient.ProbeOf(c).Figures().LastID), 1))
						promptly(t, v, c, "a late answer")
					}
					for range 2 * 64 {
						v.Send(said["a ping"])
					}
					promptly(t, v, c, "many pings")
					for range 2000 {
						v.Send(said["a notification without a handler"])
					}
					promptly(t, v, c, "more than the log has room for")
					v.Close()
					if err := c.WaitForState(t.Context(), connstate.Backoff); err != nil {
						t.Fatal(err)
					}
					promptly(t, meet(), c, "a new connection")
				})
			})
		}
	}
}

// A caller that reads its own answer returns in time, whatever other message it receives and however long the logging
// of that message takes.
func TestReadingCallerIsNotDelayedByLogging(t *testing.T) {
	stuckLog(t, mcpclient.Options{Versions: []mcp.Version{mcp.Version20260728}}, true, func(t *testing.T, s *script,
		c *mcpclient.Client) {
		v := s.next(t).modern()
		await(t, c)
		for what, frame := range said {
			for range 50 {
				lent := mcpclient.ProbeOf(c).Figures().Turn == conn.TurnLent
				promptly(t, v, c, "nothing")
				if lent {
					break
				}
			}
			wantTurn(t, c, conn.TurnLent)
			ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), ownCall{}, true), 3*time.Millisecond)
			begun := time.Now()
			done := background(func() error { return c.Call(ctx, "x/slow", nil, nil) })
			v.Expect("x/slow")
			wantTurn(t, c, conn.TurnTaken)
			v.Send(strings.Replace(frame, "%d", fmt.Sprint(mcpclient.ProbeOf(c).Figures().LastID-1), 1))
			<-done
			cancel()
			if took := time.Since(begun); took != 3*time.Millisecond {
				t.Errorf("%s: the caller left after %v, want 3 ms", what, took)
			}
			v.Expect(mcp.NotificationCancelled)
		}
	})
}

// An OnTransition that blocks delays no connection. The queue of transitions is limited, and the client reports dropped
// transitions.
func TestBlockedOnTransitionDoesNotDelayConnections(t *testing.T) {
	const connections = 200
	var release chan struct{}
	rec := telemetrytest.Recorder(t)
	o := &mcpclient.Options{
		Telemetry: rec.Telemetry(), Backoff: mcpclient.Backoff{Min: time.Millisecond, Max: time.Millisecond},
		OnTransition: func(connstate.Transition) { <-release },
	}
	bubbleWith(t, o, func(s *script) transport.Transport {
		release = make(chan struct{})
		return s
	}, func(t *testing.T, s *script, c *mcpclient.Client) {
		for range connections {
			v := s.next(t).modern()
			await(t, c)
			v.exchange(c)
			if err := c.Call(t.Context(), "x/late", nil, nil, mcpclient.WithTimeout(time.Millisecond)); err == nil {
				t.Error("want a timeout")
			}
			v.Close()
			if err := c.WaitForState(t.Context(), connstate.Backoff); err != nil {
				t.Fatal(err)
			}
		}
		f := mcpclient.ProbeOf(c).Figures()
		waiting, untold := f.Records, f.Untold
		if waiting > conn.UntoldRecords || untold == 0 {
			t.Errorf("%d records wait, %d were dropped; want at most %d waiting", waiting, untold, conn.UntoldRecords)
		}
		close(release)
		synctest.Wait()
		if got := rec.Log("mcp_client.log.lost").Text("mcp_client.suppressed"); got != fmt.Sprint(untold) {
			t.Errorf("the log reports %s dropped records, want %d", got, untold)
		}
		stones := mcpclient.ProbeOf(c).Figures().Told
		if got := rec.Value("mcp_client.tombstone.kept"); got != int64(stones) || stones == 0 {
			t.Errorf("the metric has %d tombstones, want %d", got, stones)
		}
	})
}
