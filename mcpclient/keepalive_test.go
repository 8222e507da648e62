package mcpclient_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestHangingServerIsDetectedWithoutACall(t *testing.T) {
	for _, version := range mcp.SupportedVersions() {
		t.Run(string(version), func(t *testing.T) {
			lost := make(chan connstate.Transition, 8)
			o := &mcpclient.Options{Versions: []mcp.Version{version}, KeepAlive: time.Minute,
				OnTransition: func(tr connstate.Transition) {
					if tr.From == connstate.Ready {
						lost <- tr
					}
				}}
			bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
				v := s.next(t)
				ping := mcp.MethodDiscover
				if version.Era() == mcp.Legacy {
					ping = mcp.MethodPing
					v.initialize(version)
				} else {
					v.modern()
				}
				await(t, c)
				for i := range 3 {
					if took, want := elapsed(func() { v.Answer(v.Expect(ping), `{}`) }), 2*time.Minute; i > 0 && took != want {
						t.Errorf("the server got a ping after %v, want %v", took, want)
					}
					synctest.Wait()
				}
				hung := background(func() error { return c.Call(t.Context(), "x/y", nil, nil, mcpclient.WithTimeout(time.Hour)) })
				v.Expect("x/y")
				if took := elapsed(func() { v.Expect(ping) }); took > 2*time.Minute {
					t.Errorf("the server got a ping after %v, want at most two minutes", took)
				}
				var err error
				if took := elapsed(func() { err = <-hung }); took != time.Minute || !errors.Is(err, mcpclient.ErrConnectionLost) ||
					!strings.Contains(err.Error(), "does not answer a ping") {
					t.Errorf("after %v the call failed with %v, want a lost connection after a minute", took, err)
				}
				if tr := <-lost; tr.To != connstate.Backoff || tr.Reason != connstate.ReasonTransportDown {
					t.Errorf("the client went to %v because of %v, want to backoff because of %v", tr.To, tr.Reason,
						connstate.ReasonTransportDown)
				}
				s.next(t) // the client reconnects
			})
		})
	}
}

func TestActiveServerGetsNoPings(t *testing.T) {
	o := &mcpclient.Options{Versions: legacyOnly, KeepAlive: time.Minute}
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		for range 100 {
			time.Sleep(50 * time.Second)
			v.Send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`)
		}
		done := background(func() error { return c.Call(t.Context(), "x/y", nil, nil) })
		v.Answer(v.Expect("x/y"), `{}`)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestIdleClientSendsNothing(t *testing.T) {
	quiet := func(t *testing.T, v *conversation, c *mcpclient.Client) {
		t.Helper()
		await(t, c)
		time.Sleep(24 * time.Hour)
		done := background(func() error { return c.Call(t.Context(), "x/y", nil, nil) })
		v.Answer(v.Expect("x/y"), `{}`)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	ready(t, nil, func(t *testing.T, _ *script, v *conversation, c *mcpclient.Client) { quiet(t, v, c) })
	web := func(s *script) transport.Transport { return &overHTTP{rigged: streams(s)} }
	// over HTTP, each request has its own stream
	bubbleWith(t, &mcpclient.Options{KeepAlive: time.Minute}, web, func(t *testing.T, s *script, c *mcpclient.Client) {
		quiet(t, s.next(t).modern(), c)
	})
}

func TestKeepAliveTimerEndsWithSession(t *testing.T) {
	o := &mcpclient.Options{Versions: legacyOnly, KeepAlive: time.Minute}
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		time.Sleep(50 * time.Second)
		v.Close()
		v = s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		if took := elapsed(func() { v.Answer(v.Expect(mcp.MethodPing), `{}`) }); took != time.Minute {
			t.Errorf("the server got a ping after %v, want a minute", took)
		}
	})
}
