package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// shutDown runs Shutdown in the background. outcome is valid after ended has returned true.
func shutDown(t *testing.T, c *mcpclient.Client, patience time.Duration) (ended func() bool, outcome *error) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	done := make(chan struct{})
	outcome = new(error)
	go func() {
		defer cancel()
		defer close(done)
		*outcome = c.Shutdown(ctx)
	}()
	synctest.Wait()
	return func() bool {
		synctest.Wait()
		select {
		case <-done:
			return true
		default:
			return false
		}
	}, outcome
}

func TestShutdownWaitsForWholeOperations(t *testing.T) {
	legacy := []mcp.Version{mcp.Version20251125}
	for _, test := range []struct {
		name string
		o    *mcpclient.Options
		call func(ctx context.Context, c *mcpclient.Client) error
		// rest plays the server until the operation ends. The request in asked arrived before Shutdown.
		rest func(v *conversation, asked frame)
	}{
		{"a call", &mcpclient.Options{Versions: legacy},
			func(ctx context.Context, c *mcpclient.Client) error { return c.Call(ctx, "slow", nil, nil) },
			func(v *conversation, asked frame) { v.Answer(asked, `{}`) }},
		{"a call through middleware", &mcpclient.Options{Versions: legacy, Middleware: []mcpclient.Middleware{
			func(next mcpclient.CallFunc) mcpclient.CallFunc { return next }}},
			func(ctx context.Context, c *mcpclient.Client) error { return c.Call(ctx, "slow", nil, nil) },
			func(v *conversation, asked frame) { v.Answer(asked, `{}`) }},
		{"a list of many pages", &mcpclient.Options{Versions: legacy},
			func(ctx context.Context, c *mcpclient.Client) error {
				for _, err := range c.Tools(ctx) {
					if err != nil {
						return err
					}
				}
				return nil
			},
			func(v *conversation, asked frame) {
				v.Answer(asked, `{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"2"}`)
				v.Answer(v.Expect(mcp.MethodListTools), `{"tools":[]}`)
			}},
		{"rounds of input", &mcpclient.Options{Versions: []mcp.Version{mcp.Version20260728},
			Features: []mcpclient.Feature{mcpclient.UseRoots(&mcp.Root{URI: "file:///r"})}},
			func(ctx context.Context, c *mcpclient.Client) error {
				_, err := c.CallTool(ctx, "ask", nil)
				return err
			},
			func(v *conversation, asked frame) {
				v.Answer(asked, `{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"requestState":"s"}`)
				v.Answer(v.Expect(mcp.MethodCallTool), `{"resultType":"complete","content":[]}`)
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScript(t)
				c, err := mcpclient.New(s, checked(t, test.o))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = c.Close() }()
				v := s.next(t)
				if test.o.Versions[0] == mcp.Version20260728 {
					v.modern()
				} else {
					v.initialize(test.o.Versions[0])
				}
				await(t, c)
				result := make(chan error, 1)
				go func() { result <- test.call(t.Context(), c) }()
				asked := v.Receive()
				ended, outcome := shutDown(t, c, time.Minute)
				if ended() {
					t.Error("Shutdown returned before the end of the operation")
				}
				if err := c.Call(t.Context(), "new", nil, nil); !errors.Is(err, mcpclient.ErrShutdown) ||
					!mcpclient.SafeToRetry(err) {
					t.Errorf("a new call: got %v, want ErrShutdown, safe to retry", err)
				}
				if err := c.Notify(t.Context(), "notifications/x", nil); err != nil {
					t.Errorf("a notification: %v", err)
				}
				v.Expect("notifications/x")
				test.rest(v, asked)
				if err := <-result; err != nil {
					t.Errorf("the operation: %v", err)
				}
				time.Sleep(time.Second) // virtual time, in which the connection is closed
				if !ended() || *outcome != nil {
					t.Errorf("after the operation: Shutdown returned %v, with %v", ended(), *outcome)
				}
				if err := c.Shutdown(t.Context()); err != nil {
					t.Errorf("a second Shutdown: %v", err)
				}
				if got := c.State(); got != connstate.Closing {
					t.Errorf("the client is %s, want it closed", got)
				}
			})
		})
	}
}

func TestShutdownEndsWithItsContext(t *testing.T) {
	ready(t, nil, func(t *testing.T, _ *script, v *conversation, c *mcpclient.Client) {
		result := make(chan error, 1)
		go func() { result <- c.Call(t.Context(), "slow", nil, nil) }()
		v.Receive()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		err := c.Shutdown(ctx)
		if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took < time.Second ||
			took > 2*time.Second {
			t.Errorf("got %v after %v of the bubble, want the error of the context after 1 s", err, took)
		}
		if err := <-result; !errors.Is(err, mcpclient.ErrShutdown) {
			t.Errorf("the call in flight: got %v, want ErrShutdown", err)
		}
	})
}

func TestShutdownOfAGroupShutsDownAllMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newScript(t), newScript(t)
		legacy := &mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125}, RequestTimeout: time.Hour}
		g, err := mcpclient.NewGroup([]mcpclient.Member{{Name: "one", Transport: one, Options: legacy},
			{Name: "two", Transport: two, Options: legacy}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = g.Close() }()
		one.next(t).initialize(mcp.Version20251125)
		v := two.next(t)
		v.initialize(mcp.Version20251125)
		first, _ := g.Client("one")
		second, _ := g.Client("two")
		await(t, second)
		go func() { _ = second.Call(t.Context(), "slow", nil, nil) }()
		v.Receive()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = g.Shutdown(ctx)
		of, ok := errors.AsType[*mcpclient.MemberError](err)
		if !ok || of.Member != "two" || strings.Contains(err.Error(), "one:") {
			t.Errorf("got %v, want the error of the member that has not ended its operations", err)
		}
		if err := first.Call(t.Context(), "new", nil, nil); !errors.Is(err, mcpclient.ErrShutdown) {
			t.Errorf("the other member: got %v, want ErrShutdown", err)
		}
	})
}

func TestHealthReportsUsableClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		c, err := mcpclient.New(s, checked(t, &mcpclient.Options{Name: "weather",
			Versions: []mcp.Version{mcp.Version20251125}}))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		handler := mcpclient.HealthHandler(c)
		check := func(when string, status int, state string, draining bool) {
			t.Helper()
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
			var body struct {
				Ready   bool
				Clients []struct {
					Name, State string
					Since       time.Time
					Draining    bool
				}
			}
			if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || len(body.Clients) != 1 {
				t.Fatalf("%s: got %s: %v", when, w.Body, err)
			}
			got := body.Clients[0]
			if w.Code != status || body.Ready != (status == http.StatusOK) || got.Name != "weather" || got.State != state ||
				got.Draining != draining || got.Since.IsZero() {
				t.Errorf("%s: got %d %s, want %d, %s and draining %v", when, w.Code, w.Body, status, state, draining)
			}
		}
		v := s.next(t)
		synctest.Wait()
		check("before the handshake", http.StatusServiceUnavailable, "initializing", false)
		v.initialize(mcp.Version20251125)
		await(t, c)
		check("ready", http.StatusOK, "ready", false)
		slow := background(func() error { return c.Call(t.Context(), "slow", nil, nil) })
		asked := v.Receive()
		ended, outcome := shutDown(t, c, time.Minute)
		check("shutting down", http.StatusServiceUnavailable, "ready", true)
		v.Answer(asked, `{}`)
		err = <-slow
		time.Sleep(time.Second) // virtual time, in which the connection is closed
		if err != nil || !ended() || *outcome != nil {
			t.Errorf("the call: %v, ended %v with %v", err, ended(), *outcome)
		}
		check("closed", http.StatusServiceUnavailable, "closing", true)
	})
}
