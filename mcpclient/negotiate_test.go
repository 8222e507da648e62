package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

func TestClientRequestsVersionListedByLegacyServer(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Refuse(v.Expect(mcp.MethodDiscover), mcp.CodeMethodNotFound, "no")
		v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Unsupported protocol version",`+
			`"data":{"supported":["2025-03-26","2024-11-05"],"requested":"2025-11-25"}}}`,
			v.Expect(mcp.MethodInitialize).ID))
		again := v.Expect(mcp.MethodInitialize)
		if want := `"protocolVersion":"2025-03-26"`; !strings.Contains(again.Raw, want) {
			t.Errorf("want a request for the newest common version, %s, got %s", want, again.Raw)
		}
		v.Answer(again, fmt.Sprintf(initialized, mcp.Version20250326))
		v.Expect(mcp.NotificationInitialized)
		await(t, c)
		if got := c.ProtocolVersion(); got != mcp.Version20250326 {
			t.Errorf("want version 2025-03-26, got %s", got)
		}
	})
}

// The test lists failures that no further attempt can fix.
func TestPermanentHandshakeFailuresAreNotRetried(t *testing.T) {
	for name, tc := range map[string]struct {
		versions []mcp.Version
		answer   string // answer to the probe
	}{
		"the server supports only a future version": {nil, `"result":{"supportedVersions":["2999-01-01"],"capabilities":{}}`},
		"a future version in an error": {nil,
			`"error":{"code":-32022,"message":"no","data":{"supported":["2999-01-01"]}}`},
		"the client is pinned to modern versions": {[]mcp.Version{mcp.Version20260728},
			`"result":{"supportedVersions":["2025-11-25"],"capabilities":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScript(t)
				c, err := mcpclient.New(s, checked(t, &mcpclient.Options{Versions: tc.versions}))
				if err != nil {
					t.Fatal(err)
				}
				v := s.next(t)
				v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, v.Expect(mcp.MethodDiscover).ID, tc.answer))
				<-c.Done()
				if err := c.Err(); !errors.Is(err, conn.ErrNoCommonVersion) {
					t.Errorf("want %v, got %v", conn.ErrNoCommonVersion, err)
				}
				if got := c.Status().Reason; got != connstate.ReasonTransportClosed && got != connstate.ReasonCloseTimeout {
					t.Errorf("want the client ended, got %s", got)
				}
			})
		})
	}
}

// The test lists failures that another attempt may fix, with the text of the error.
func TestTemporaryHandshakeFailuresAreRetried(t *testing.T) {
	legacy, modern := []mcp.Version{mcp.Version20251125}, []mcp.Version{mcp.Version20260728}
	for name, tc := range map[string]struct {
		versions []mcp.Version
		answer   string
		reason   connstate.Reason
		says     string
	}{
		"another error of a modern server": {nil,
			`{"jsonrpc":"2.0","id":%s,"error":{"code":-32021,"message":"sampling is needed"}}`,
			connstate.ReasonNegotiationFailed, "sampling is needed"},
		"an internal error of the probe, without a legacy version": {modern,
			`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the server behind me is away"}}`,
			connstate.ReasonNegotiationFailed, "the server behind me is away"},
		"a result of initialize with a wrong structure": {legacy, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":7}}`,
			connstate.ReasonNegotiationFailed, "protocolVersion is not a string"},
		"an error of initialize": {legacy, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no licence"}}`,
			connstate.ReasonNegotiationFailed, "no licence"},
		"an error with a wrong structure": {legacy, `{"jsonrpc":"2.0","id":%s,"error":{"code":"x"}}`,
			connstate.ReasonNegotiationFailed, "invalid_error"},
		"a frame over the limit": {legacy,
			`{"jsonrpc":"2.0","id":%s,"result":{"x":"` + strings.Repeat("x", 1000) + `"}}`,
			connstate.ReasonFrameTooLarge, "1000"},
		"nothing, for too long": {modern, "", connstate.ReasonInitTimeout, "the server was not ready within 10s"},
		"endless garbage": {modern, strings.Repeat("garbage\n", conn.InvalidStreak),
			connstate.ReasonInvalidStreak,
			"invalid_json"},
	} {
		t.Run(name, func(t *testing.T) {
			observed(t, mcpclient.Options{Versions: tc.versions, Limits: mcpclient.Limits{Frame: 1000}}, nil,
				func(t *testing.T, s *script, c *mcpclient.Client, _ *telemetrytest.Recording) {
					v := s.next(t)
					f := v.Receive()
					for line := range strings.SplitSeq(strings.TrimSpace(strings.Replace(tc.answer, "%s", string(f.ID), 1)), "\n") {
						if line != "" {
							v.Send(line)
						}
					}
					waitFor(t, c, connstate.Backoff)
					got := c.Status()
					if got.Reason != tc.reason || got.Err == nil || !strings.Contains(got.Err.Error(), tc.says) {
						t.Errorf("want backoff because of %s, with %q, got %s, %v", tc.reason, tc.says, got.Reason, got.Err)
					}
					s.next(t)
				})
		})
	}
}

func TestStrayMessagesDuringTheHandshakeAreDroppedAndCounted(t *testing.T) {
	observed(t, mcpclient.Options{Limits: mcpclient.Limits{SkipOversize: true, Frame: 1000}}, nil,
		func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
			v := s.next(t)
			probe := v.Expect(mcp.MethodDiscover)
			v.Send(
				`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
				`{"jsonrpc":"2.0","id":7,"method":"ping"}`,
				`{"jsonrpc":"2.0","id":999,"result":{}}`,
				"garbage", strings.Repeat("x", 2000),
			)
			v.Answer(probe, discovered)
			await(t, c)
			if n := rec.Value("mcp_client.notification.drops", "mcp_client.drop.reason", "not_ready"); n != 2 {
				t.Errorf("want the notification and the request counted, got %d", n)
			}
			if n := rec.Value("mcp_client.response.drops", "mcp_client.drop.reason", "unknown_id"); n != 1 {
				t.Errorf("want the response counted, got %d", n)
			}
			if n := rec.Value("mcp_client.protocol.violations"); n != 2 {
				t.Errorf("want two violations, got %d", n)
			}
		})
}

// If the client is closed or times out during a handshake, it ignores the result of the handshake.
func TestLateHandshakeResultIsIgnored(t *testing.T) {
	for name, interrupt := range map[string]func(t *testing.T, c *mcpclient.Client){
		"stopped": func(t *testing.T, c *mcpclient.Client) { _ = c.Close() },
		"timeout": func(t *testing.T, c *mcpclient.Client) { waitFor(t, c, connstate.Backoff) },
	} {
		t.Run(name, func(t *testing.T) {
			var c *mcpclient.Client
			hold := make(chan struct{})
			rig := &rigged{receive: func(ctx context.Context, next receiver) (transport.Frame, error) {
				f, err := next(context.WithoutCancel(ctx))
				<-hold
				return f, err
			}}
			observed(t, mcpclient.Options{Versions: []mcp.Version{mcp.Version20260728}}, rig,
				func(t *testing.T, s *script, client *mcpclient.Client, _ *telemetrytest.Recording) {
					hold = make(chan struct{})
					c = client
					v := s.next(t)
					v.Answer(v.Expect(mcp.MethodDiscover), discovered)
					synctest.Wait() // the client has received the answer but has not handled it yet
					interrupt(t, c)
					before := c.Status()
					close(hold)
					synctest.Wait()
					if after := c.Status(); after != before {
						t.Errorf("want nothing changed, %+v, got %+v", before, after)
					}
				})
		})
	}
}

// tardy is a transport that dials for a minute and ignores its context.
type tardy struct{ transport.Transport }

func (d tardy) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	time.Sleep(time.Minute)
	return d.Transport.Dial(context.WithoutCancel(ctx), cfg)
}

func TestLateDialResultIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		c, err := mcpclient.New(tardy{s}, nil)
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, c, connstate.Backoff)
		v := s.next(t) // the connection that the client no longer wants
		<-v.Context().Done()
		if got := c.Status(); !errors.Is(got.Err, conn.ErrSlow) || got.State == connstate.Initializing {
			t.Errorf("want %v, got %s, %v", conn.ErrSlow, got.State, got.Err)
		}
		begun := time.Now()
		if err := c.Close(); err != nil || time.Since(begun) > 125*time.Millisecond {
			t.Errorf("want Close not to wait for it, got %v after %v", err, time.Since(begun))
		}
		time.Sleep(time.Minute) // wait until the last dial has ended
	})
}
