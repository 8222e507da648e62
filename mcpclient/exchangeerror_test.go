package mcpclient_test

import (
	"context"
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

var legacyOnly = []mcp.Version{mcp.Version20251125, mcp.Version20250618, mcp.Version20250326, mcp.Version20241105}

func TestFailedRequestFailsOnlyItsCall(t *testing.T) {
	for _, test := range []struct {
		failure transport.RequestError
		is      error
		kind    mcpclient.ErrorKind
		typ     string
		safe    bool
	}{
		{transport.RequestError{Reason: transport.ReasonStatus, Status: 500}, nil, mcpclient.KindTransport, "500", false},
		{transport.RequestError{Reason: transport.ReasonStatus, Status: 404, Unsent: true}, nil,
			mcpclient.KindTransport, "404",
			true},
		{transport.RequestError{Reason: transport.ReasonUnauthorized, Status: 403, Unsent: true}, mcpclient.ErrUnauthorized,
			mcpclient.KindTransport,
			"403", true},
		{transport.RequestError{Reason: transport.ReasonLost}, mcpclient.ErrConnectionLost, mcpclient.KindTransport,
			"connection_lost", false},
		{transport.RequestError{Reason: transport.ReasonUnreachable, Unsent: true}, mcpclient.ErrConnectionLost,
			mcpclient.KindTransport,
			"connection_lost", true},
		{transport.RequestError{Reason: transport.ReasonMalformed}, nil, mcpclient.KindProtocol, "protocol_violation", false},
		{transport.RequestError{Reason: transport.ReasonTooLarge, Size: 9, Limit: 8}, nil, mcpclient.KindProtocol,
			"protocol_violation",
			false},
	} {
		t.Run(test.failure.Reason.String(), func(t *testing.T) {
			streamed(t, pinnedLegacy(), func(t *testing.T, s *script, c *mcpclient.Client) {
				v := s.next(t).initialize(mcp.Version20251125)
				await(t, c)
				other := background(func() error { return c.Call(t.Context(), mcp.MethodPing, nil, nil) })
				ping := v.Expect(mcp.MethodPing)
				failed := background(func() error { return c.Call(t.Context(), "x/y", nil, nil) })
				v.fail(v.Expect("x/y"), test.failure)
				err := <-failed
				e, ok := errors.AsType[*mcpclient.Error](err)
				if !ok || e.Kind != test.kind || e.ErrorType() != test.typ || mcpclient.SafeToRetry(err) != test.safe ||
					test.is != nil &&
						!errors.Is(err, test.is) {
					t.Errorf("got %v of kind %v, error.type %q, safe to retry %v; want %v, %q, %v and %v in its chain",
						err, e.Kind, e.ErrorType(), mcpclient.SafeToRetry(err), test.kind, test.typ, test.safe, test.is)
				}
				v.own(ping, `{"jsonrpc":"2.0","id":`+string(ping.ID)+`,"result":{}}`)
				if err := <-other; err != nil {
					t.Errorf("the other call: got %v, want no error", err)
				}
				if got := c.State(); got != connstate.Ready {
					t.Errorf("after the failure the client is %v, want ready", got)
				}
			})
		})
	}
}

func TestBusyServerIsRetriedAfterRetryAfter(t *testing.T) {
	streamed(t, pinnedLegacy(), func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		done := background(func() error { return c.Call(t.Context(), mcp.MethodPing, nil, nil) })
		first := v.Expect(mcp.MethodPing)
		var second frame
		took := elapsed(func() {
			v.fail(first, transport.RequestError{Reason: transport.ReasonBusy, Status: 503, RetryAfter: 7 * time.Second,
				Unsent: true})
			second = v.Expect(mcp.MethodPing)
		})
		if took != 7*time.Second || second.Raw != first.Raw {
			t.Errorf("sent %s again after %v, want %s after 7s", second.Raw, took, first.Raw)
		}
		v.Answer(second, `{}`)
		if err := <-done; err != nil {
			t.Errorf("got %v, want no error", err)
		}
	})
}

func TestRequestToBusyServerIsTriedThreeTimes(t *testing.T) {
	streamed(t, pinnedLegacy(), func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		done := background(func() error { return c.Call(t.Context(), mcp.MethodPing, nil, nil) })
		for range 3 {
			v.fail(v.Expect(mcp.MethodPing), transport.RequestError{Reason: transport.ReasonBusy, Status: 429, Unsent: true})
		}
		err := <-done
		if !errors.Is(err, mcpclient.ErrBackpressure) || !mcpclient.SafeToRetry(err) ||
			!strings.Contains(err.Error(), "HTTP 429") {
			t.Errorf("got %v, want backpressure that is safe to retry and says HTTP 429", err)
		}
	})
}

func TestRetryAfterBeyondTimeoutFailsAtOnce(t *testing.T) {
	streamed(t, pinnedLegacy(), func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		done := background(func() error {
			return c.Call(t.Context(), mcp.MethodPing, nil, nil, mcpclient.WithTimeout(5*time.Second))
		})
		took := elapsed(func() {
			v.fail(v.Expect(mcp.MethodPing), transport.RequestError{Reason: transport.ReasonBusy, Status: 503,
				RetryAfter: time.Minute,
				Unsent:     true})
			if err := <-done; !errors.Is(err, mcpclient.ErrBackpressure) {
				t.Errorf("got %v, want backpressure", err)
			}
		})
		if took != 0 {
			t.Errorf("the call failed after %v, want at once: the timeout of 5s is over before the minute", took)
		}
	})
}

func TestCancelledCallerDoesNotWaitForRetryAfter(t *testing.T) {
	streamed(t, pinnedLegacy(), func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		done := background(func() error { return c.Call(ctx, mcp.MethodPing, nil, nil) })
		v.fail(v.Expect(mcp.MethodPing), transport.RequestError{Reason: transport.ReasonBusy, Status: 503,
			RetryAfter: 20 * time.Second, Unsent: true})
		time.Sleep(time.Second)
		cancel()
		err := <-done
		if e, _ := errors.AsType[*mcpclient.Error](err); e == nil || e.Kind != mcpclient.KindCancelled ||
			!mcpclient.SafeToRetry(err) {
			t.Errorf("got %v, want it cancelled and safe to retry", err)
		}
	})
}

func TestForgottenSessionIsRenegotiatedOnTheSameConnection(t *testing.T) {
	streamed(t, pinnedLegacy(), func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		for range 3 { // each answer shows that the session works
			lost := background(func() error { return c.Call(t.Context(), "x/lost", nil, nil) })
			v.Expect("x/lost")
			gone := background(func() error {
				err := c.Call(t.Context(), "x/gone", nil, nil)
				if c.State() == connstate.Ready {
					t.Error("the caller has the error, but the client still uses the session")
				}
				return err
			})
			epoch := c.Status().Epoch
			v.fail(v.Expect("x/gone"), transport.RequestError{Reason: transport.ReasonSessionGone, Status: 404, Unsent: true})
			if err := <-gone; !errors.Is(err, mcpclient.ErrConnectionLost) || !mcpclient.SafeToRetry(err) {
				t.Errorf("the refused call: got %v, safe %v; want the connection lost, safe to retry", err,
					mcpclient.SafeToRetry(err))
			}
			if err := <-lost; !errors.Is(err, mcpclient.ErrConnectionLost) || mcpclient.SafeToRetry(err) {
				t.Errorf("the other call: got %v, safe %v; want the connection lost, not safe to retry", err,
					mcpclient.SafeToRetry(err))
			}
			took := elapsed(func() {
				v.initialize(mcp.Version20251125)
				await(t, c)
			})
			if now := c.Status().Epoch; took != 0 || now != epoch+1 {
				t.Errorf("ready after %v in epoch %d, want at once in epoch %d", took, now, epoch+1)
			}
			done := background(func() error { return c.Call(t.Context(), mcp.MethodPing, nil, nil) })
			v.Answer(v.Expect(mcp.MethodPing), `{}`)
			if err := <-done; err != nil {
				t.Errorf("in the new session: got %v, want no error", err)
			}
		}
	})
}

func TestSessionLostAtOnceLeadsToBackoff(t *testing.T) {
	streamed(t, pinnedLegacy(), func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		for range 2 {
			done := background(func() error { return c.Call(t.Context(), mcp.MethodPing, nil, nil, mcpclient.WaitForReady()) })
			v.fail(v.Expect(mcp.MethodPing), transport.RequestError{Reason: transport.ReasonSessionGone, Status: 404,
				Unsent: true})
			if err := <-done; !errors.Is(err, mcpclient.ErrConnectionLost) {
				t.Errorf("got %v, want the connection lost", err)
			}
			if c.State() == connstate.Backoff {
				break
			}
			v.initialize(mcp.Version20251125)
			await(t, c)
		}
		if got := c.State(); got != connstate.Backoff {
			t.Errorf("after the second loss the client is %v, want backoff", got)
		}
		s.next(t).initialize(mcp.Version20251125)
		await(t, c)
	})
}

func TestAnErrorWithoutAnIDAnswersTheRequestOfItsStream(t *testing.T) {
	streamed(t, pinnedLegacy(), func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		done := background(func() error { return c.Call(t.Context(), mcp.MethodPing, nil, nil) })
		v.own(v.Expect(mcp.MethodPing), `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}`)
		if e, _ := errors.AsType[*mcp.Error](<-done); e == nil || e.Code != -32000 {
			t.Errorf("got %v, want the server's error -32000", e)
		}
	})
}

func TestResponseOnAnotherRequestsStreamIsDropped(t *testing.T) {
	streamed(t, pinnedLegacy(), func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		one := background(func() error { return c.Call(t.Context(), "x/one", nil, nil) })
		first := v.Expect("x/one")
		two := background(func() error { return c.Call(t.Context(), "x/two", nil, nil) })
		second := v.Expect("x/two")
		v.own(second, `{"jsonrpc":"2.0","id":`+string(first.ID)+`,"result":{}}`)
		if err := <-two; err == nil || !strings.Contains(err.Error(), "foreign_answer") {
			t.Errorf("the call with the stream: got %v, want a protocol violation foreign_answer", err)
		}
		v.own(first, `{"jsonrpc":"2.0","id":`+string(first.ID)+`,"result":{}}`)
		if err := <-one; err != nil {
			t.Errorf("the call with the forged ID: got %v, want its own answer", err)
		}
	})
}

func TestHTTPErrorForProbeMeansLegacyServer(t *testing.T) {
	for _, failure := range []transport.RequestError{
		{Reason: transport.ReasonStatus, Status: 400}, {Reason: transport.ReasonStatus, Status: 404},
		{Reason: transport.ReasonStatus,
			Status: 500},
		{Reason: transport.ReasonMalformed, Status: 202}, {Reason: transport.ReasonLost},
	} {
		streamed(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
			v := s.next(t)
			v.fail(v.Expect(mcp.MethodDiscover), failure)
			v.initialize(mcp.Version20250618)
			await(t, c)
			if got := c.ProtocolVersion(); got != mcp.Version20250618 {
				t.Errorf("after %v: got version %q, want 2025-06-18", &failure, got)
			}
		})
	}
}

// A temporary failure of the probe, such as a proxy's 502, is weaker evidence than a refusal. If the client considers
// the server a legacy server because of such a failure, it probes again when it reconnects.
func TestTemporaryProbeFailureIsNotRemembered(t *testing.T) {
	for _, test := range []struct {
		failure transport.RequestError
		next    string
	}{
		{transport.RequestError{Reason: transport.ReasonStatus, Status: 404}, mcp.MethodInitialize},
		{transport.RequestError{Reason: transport.ReasonStatus, Status: 502}, mcp.MethodDiscover},
		{transport.RequestError{Reason: transport.ReasonLost}, mcp.MethodDiscover},
	} {
		streamed(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
			v := s.next(t)
			v.fail(v.Expect(mcp.MethodDiscover), test.failure)
			v.initialize(mcp.Version20250618)
			await(t, c)
			v.Close()
			s.next(t).Expect(test.next)
		})
	}
}

func TestRetryAfterOfBusyServerSetsBackoff(t *testing.T) {
	streamed(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		took := elapsed(func() {
			v.fail(v.Expect(mcp.MethodDiscover), transport.RequestError{Reason: transport.ReasonBusy, Status: 503,
				RetryAfter: 42 * time.Second})
			s.next(t).modern()
			await(t, c)
		})
		if took < 42*time.Second || took > 57*time.Second {
			t.Errorf("ready after %v, want 42s, plus a random part of up to half of Backoff.Max", took)
		}
	})
}

func TestPermanentRefusalEndsTheClient(t *testing.T) {
	streamed(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.fail(v.Expect(mcp.MethodDiscover), transport.RequestError{Reason: transport.ReasonUnauthorized, Status: 401})
		<-c.Done()
		if err := c.Err(); !errors.Is(err, mcpclient.ErrUnauthorized) || !strings.Contains(err.Error(), "HTTP 401") {
			t.Errorf("gave up because of %v, want HTTP 401 and ErrUnauthorized", err)
		}
	})
}

// An authorization may take a person minutes. During that time, neither the timeout of the probe nor the timeout of the
// attempt runs.
func TestHandshakeTimeoutsPauseDuringAuthorization(t *testing.T) {
	var authorizing func(bool)
	bubbleWith(t, nil, func(s *script) transport.Transport {
		return configured{s, func(cfg transport.Config) { authorizing = cfg.Authorizing }}
	}, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		probe := v.Expect(mcp.MethodDiscover)
		authorizing(true)
		time.Sleep(4 * time.Minute)
		authorizing(false)
		time.Sleep(2 * time.Second) // the probe has 2.5 s again
		v.Answer(probe, discovered)
		await(t, c)
		if got := c.Status(); got.Epoch != 1 {
			t.Errorf("ready in epoch %d, want the first epoch", got.Epoch)
		}
	})
}

func TestAuthTimeoutEndsHandshakeDuringAuthorization(t *testing.T) {
	var authorizing func(bool)
	bubbleWith(t, &mcpclient.Options{Timeouts: mcpclient.Timeouts{Auth: time.Minute}},
		func(s *script) transport.Transport {
			return configured{s, func(cfg transport.Config) { authorizing = cfg.Authorizing }}
		}, func(t *testing.T, s *script, c *mcpclient.Client) {
			s.next(t).Expect(mcp.MethodDiscover)
			authorizing(true)
			took := elapsed(func() {
				if err := c.WaitForState(t.Context(), connstate.Backoff); err != nil {
					t.Fatal(err)
				}
			})
			if took != time.Minute {
				t.Errorf("gave up the attempt after %v, want 1m", took)
			}
			authorizing(false) // the connection has already ended
		})
}

// configured passes the Config of each Dial to the function hear.
type configured struct {
	transport.Transport
	hear func(transport.Config)
}

func (c configured) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	c.hear(cfg)
	return c.Transport.Dial(ctx, cfg)
}

func TestAnUnreachableServerIsProbedAgain(t *testing.T) {
	streamed(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.fail(v.Expect(mcp.MethodDiscover), transport.RequestError{Reason: transport.ReasonUnreachable, Unsent: true})
		took := elapsed(func() { v = s.next(t) })
		f := v.Receive()
		if f.Method != mcp.MethodDiscover || took == 0 {
			t.Errorf("after %v the client sends %s, want a backoff and then the probe", took, f.Method)
		}
	})
}

func TestBatchOnStreamAnswersOnlyItsRequest(t *testing.T) {
	o := &mcpclient.Options{Versions: []mcp.Version{mcp.Version20250326}}
	streamed(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).initialize(mcp.Version20250326)
		await(t, c)
		one := background(func() error { return c.Call(t.Context(), "x/one", nil, nil) })
		first := v.Expect("x/one")
		two := background(func() error { return c.Call(t.Context(), "x/two", nil, nil) })
		second := v.Expect("x/two")
		v.own(second, `[{"jsonrpc":"2.0","id":`+string(first.ID)+`,"error":{"code":-1,"message":"stolen"}},`+
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}]`)
		synctest.Wait()
		v.own(first, `{"jsonrpc":"2.0","id":`+string(first.ID)+`,"result":{}}`)
		if err := <-one; err != nil {
			t.Errorf("the call with the forged ID: got %v, want its own answer", err)
		}
		if err := <-two; err == nil || !strings.Contains(err.Error(), "foreign_answer") {
			t.Errorf("the call with the stream: got %v, want a protocol violation foreign_answer", err)
		}
	})
}

func TestHandshakeWaitsForAuthorizationOfAnotherMessage(t *testing.T) {
	var authorizing func(bool)
	bubbleWith(t, pinnedLegacy(), func(s *script) transport.Transport {
		return configured{streams(s), func(cfg transport.Config) { authorizing = cfg.Authorizing }}
	}, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		done := background(func() error { return c.Call(t.Context(), "x/y", nil, nil) })
		f := v.Expect("x/y")
		authorizing(true) // another message of the connection waits for an authorization
		v.fail(f, transport.RequestError{Reason: transport.ReasonSessionGone, Status: 404, Unsent: true})
		<-done
		v.Expect(mcp.MethodInitialize)
		authorizing(true)
		time.Sleep(time.Minute)
		if got := c.Status(); got.State != connstate.Initializing || got.Epoch != 2 {
			t.Errorf("after a minute: %+v, want it to still wait for the authorization", got)
		}
	})
}

func TestOversizeProbeResponseLeadsToInitializeAtOnce(t *testing.T) {
	streamed(t, &mcpclient.Options{Limits: mcpclient.Limits{SkipOversize: true}},
		func(t *testing.T, s *script, c *mcpclient.Client) {
			v := s.next(t)
			took := elapsed(func() {
				v.fail(v.Expect(mcp.MethodDiscover), transport.RequestError{Reason: transport.ReasonTooLarge, Size: 9, Limit: 8})
				v.Expect(mcp.MethodInitialize)
			})
			if took != 0 {
				t.Errorf("initialize was sent after %v, want at once", took)
			}
		})
}

func TestRetryAfterBeyondContextDeadlineFailsAtOnce(t *testing.T) {
	streamed(t, pinnedLegacy(), func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		done := background(func() error { return c.Call(ctx, mcp.MethodPing, nil, nil) })
		took := elapsed(func() {
			v.fail(v.Expect(mcp.MethodPing), transport.RequestError{Reason: transport.ReasonBusy, Status: 503,
				RetryAfter: 20 * time.Second, Unsent: true})
			if err := <-done; !errors.Is(err, mcpclient.ErrBackpressure) {
				t.Errorf("got %v, want backpressure", err)
			}
		})
		if took != 0 {
			t.Errorf("the call failed after %v, want at once", took)
		}
	})
}

func TestTimeoutErrorNamesTheTimeout(t *testing.T) {
	var authorizing func(bool)
	bubbleWith(t, &mcpclient.Options{Timeouts: mcpclient.Timeouts{Auth: time.Minute}},
		func(s *script) transport.Transport {
			return configured{s, func(cfg transport.Config) { authorizing = cfg.Authorizing }}
		}, func(t *testing.T, s *script, c *mcpclient.Client) {
			s.next(t).Expect(mcp.MethodDiscover)
			authorizing(true)
			_ = c.WaitForState(t.Context(), connstate.Backoff)
			if err := c.Status().Err; strings.Contains(err.Error(), "10s") {
				t.Errorf("after a minute: got %v, want an error with the timeout", err)
			}
		})
}
