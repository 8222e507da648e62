package mcptest_test

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
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

type city struct {
	Name string `json:"name"`
}

// run runs a test in a bubble, with a server and its client. The server's tool "forecast" returns "sunny".
func run(t *testing.T, o *mcpclient.Options, test func(t *testing.T, s *mcptest.Server, c *mcpclient.Client)) {
	synctest.Test(t, func(t *testing.T) {
		s := mcptest.NewServer(t, nil)
		if err := mcpserver.AddTool(s.Server, &mcp.Tool{Name: "forecast"}, func(context.Context, city) (string, error) {
			return "sunny", nil
		}); err != nil {
			t.Fatal(err)
		}
		c := connect(t, s, o)
		test(t, s, c)
	})
}

func connect(t *testing.T, tr transport.Transport, o *mcpclient.Options) *mcpclient.Client {
	t.Helper()
	c, err := mcpclient.New(tr, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return c
}

func forecast(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) (string, error) {
	o = append([]mcpclient.CallOption{mcpclient.WaitForReady()}, o...)
	r, err := c.CallTool(ctx, "forecast", city{"Rome"}, o...)
	if err != nil {
		return "", err
	}
	return r.Text(), nil
}

func sunny(t *testing.T, c *mcpclient.Client, o ...mcpclient.CallOption) {
	t.Helper()
	if text, err := forecast(t.Context(), c, o...); text != "sunny" || err != nil {
		t.Fatalf(`want "sunny", got %q, %v`, text, err)
	}
}

func TestAServerAnswersInEveryRevision(t *testing.T) {
	for _, v := range mcp.SupportedVersions() {
		t.Run(string(v), func(t *testing.T) {
			o := &mcpclient.Options{Versions: []mcp.Version{v}}
			run(t, o, func(t *testing.T, _ *mcptest.Server, c *mcpclient.Client) { sunny(t, c) })
		})
	}
}

func TestKilledServerFailsCallsAndAcceptsReconnect(t *testing.T) {
	run(t, nil, func(t *testing.T, s *mcptest.Server, c *mcpclient.Client) {
		sunny(t, c)
		s.Delay(time.Hour, mcp.MethodCallTool)
		lost := make(chan error, 1)
		go func() {
			_, err := forecast(t.Context(), c)
			lost <- err
		}()
		synctest.Wait()
		s.Kill()
		var exit *transport.ExitError
		err := <-lost
		if !errors.Is(err, mcpclient.ErrConnectionLost) || !errors.As(err, &exit) || exit.Signal != "SIGKILL" {
			t.Errorf("want a connection that a SIGKILL has ended, got %v", err)
		}
		s.Delay(0)
		sunny(t, c)
		s.Kill()
		s.Kill()
		synctest.Wait() // until the client has noticed
		sunny(t, c)
	})
}

func TestClientReconnectsWhenServerStopsRefusing(t *testing.T) {
	run(t, &mcpclient.Options{Backoff: mcpclient.Backoff{Min: time.Second}},
		func(t *testing.T, s *mcptest.Server, c *mcpclient.Client) {
			sunny(t, c)
			gone := errors.New("gone for good")
			s.Refuse(gone)
			sunny(t, c) // open connections stay open
			s.Kill()
			synctest.Wait()
			if _, err := c.CallTool(t.Context(), "forecast", city{}); !errors.Is(err, mcpclient.ErrNotReady) {
				t.Errorf("want ErrNotReady, got %v", err)
			}
			s.Refuse(nil)
			sunny(t, c)
		})
}

func TestDelayAppliesToGivenMethods(t *testing.T) {
	run(t, nil, func(t *testing.T, s *mcptest.Server, c *mcpclient.Client) {
		sunny(t, c)
		for _, tt := range []struct {
			methods []string
			call    time.Duration
			list    time.Duration
		}{
			{nil, time.Minute, time.Minute},
			{[]string{mcp.MethodCallTool}, time.Minute, 0},
			{[]string{mcp.MethodListTools, mcp.MethodCallTool}, time.Minute, time.Minute},
		} {
			s.Delay(time.Minute, tt.methods...)
			start := time.Now()
			sunny(t, c, mcpclient.WithTimeout(time.Hour))
			if took := time.Since(start); took != tt.call {
				t.Errorf("%v: the call took %v, want %v", tt.methods, took, tt.call)
			}
			start = time.Now()
			if _, err := c.ListTools(t.Context(), nil, mcpclient.WithTimeout(time.Hour)); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took != tt.list {
				t.Errorf("%v: the list took %v, want %v", tt.methods, took, tt.list)
			}
		}
		_, err := forecast(t.Context(), c, mcpclient.WithTimeout(time.Second))
		if !errors.Is(err, mcpclient.ErrTimeout) {
			t.Errorf("want a timeout, got %v", err)
		}
	})
}

func TestBusyServerRejectsGivenNumberOfRequests(t *testing.T) {
	run(t, nil, func(t *testing.T, s *mcptest.Server, c *mcpclient.Client) {
		sunny(t, c)
		s.Busy(1, 10*time.Second)
		start := time.Now()
		sunny(t, c)
		if took := time.Since(start); took < 10*time.Second {
			t.Errorf("the client asked again after %v, want 10 s at least", took)
		}
		s.Busy(1000, 0)
		if _, err := forecast(t.Context(), c); err == nil {
			t.Error("a busy server has answered")
		}
		s.Busy(0, 0)
		sunny(t, c)
	})
}

func TestGarbageIsAProtocolViolation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := mcptest.NewServer(t, nil)
		c := connect(t, s, &mcpclient.Options{Telemetry: rec.Telemetry()})
		if err := c.WaitForReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Garbage("Listening on port 3000", `{"jsonrpc":"1.0"}`)
		synctest.Wait()
		if n := len(rec.Logs("mcp_client.protocol.violation")); n != 2 {
			t.Errorf("want 2 violations, got %d", n)
		}
		if state := c.State(); state != connstate.Ready {
			t.Errorf("want a connection that goes on, got a client that is %v", state)
		}
	})
}

func TestScriptSendsMessagesOfTest(t *testing.T) {
	for _, v := range mcp.SupportedVersions() {
		t.Run(string(v), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := mcptest.NewScript(t)
				c := connect(t, s, nil)
				v1 := s.Accept().Handshake(v)
				type outcome struct {
					text string
					err  error
				}
				called := make(chan outcome, 1)
				call := func() {
					text, err := forecast(t.Context(), c)
					called <- outcome{text, err}
				}
				go call()
				asked := v1.Expect(mcp.MethodCallTool)
				if !strings.Contains(string(asked.Params), `"Rome"`) || !strings.Contains(asked.Raw, string(asked.ID)) {
					t.Errorf("the client has sent %s", asked.Raw)
				}
				v1.Send("no JSON")
				v1.Answer(asked, `{"resultType":"complete","content":[{"type":"text","text":"rain"}]}`)
				if got := <-called; got != (outcome{"rain", nil}) {
					t.Errorf(`want "rain", got %v`, got)
				}
				go call()
				v1.Refuse(v1.Expect(mcp.MethodCallTool), mcp.CodeInvalidParams, `no "city"`)
				var refused *mcp.Error
				if got := <-called; !errors.As(got.err, &refused) || refused.Message != `no "city"` {
					t.Errorf("want the server's error, got %v", got)
				}
				go call()
				v1.Expect(mcp.MethodCallTool)
				v1.Close()
				v1.Close()
				if got := <-called; !errors.Is(got.err, mcpclient.ErrConnectionLost) {
					t.Errorf("want a lost connection, got %v", got)
				}
				s.Accept().Handshake(v)
				if err := c.WaitForReady(t.Context()); err != nil || c.ProtocolVersion() != v {
					t.Errorf("want to be connected again, got %v", err)
				}
			})
		})
	}
}

// TestScriptEndsTestOnTimeout runs another test, which must fail.
func TestScriptEndsTestOnTimeout(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		do         func(t *testing.T, s *mcptest.Script)
	}{
		{"no connection", "the client did not connect within 1m0s",
			func(_ *testing.T, s *mcptest.Script) { s.Accept() }},
		{"no message", "want a message of the client", func(t *testing.T, s *mcptest.Script) {
			connect(t, s, nil)
			s.Accept().Handshake(mcp.Version20260728).Receive()
		}},
		{"another message", `want the client to send tools/list, got {"jsonrpc":"2.0"`,
			func(t *testing.T, s *mcptest.Script) {
				connect(t, s, nil)
				s.Accept().Expect(mcp.MethodListTools)
			}},
		{"a closed connection", "send", func(t *testing.T, s *mcptest.Script) {
			connect(t, s, nil)
			v := s.Accept()
			v.Close()
			synctest.Wait()
			v.Send("{}")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &failing{TB: t}
				s := mcptest.NewScript(f)
				func() {
					defer func() { _ = recover() }() // the message of Fatalf is checked below
					tt.do(t, s)
				}()
				if !strings.Contains(f.said, tt.want) {
					t.Errorf("want the test to end with %q, got %q", tt.want, f.said)
				}
			})
		})
	}
}
