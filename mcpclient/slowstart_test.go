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
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// launcher is a transport that reports a server process.
type launcher struct {
	transport.Transport
	said string // last line on the standard error of the process
}

func (l launcher) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	conn, err := l.Transport.Dial(ctx, cfg)
	return launched{conn, l.said}, err
}

type launched struct {
	transport.Conn
	said string
}

func (c launched) Info() transport.Info {
	info := c.Conn.Info()
	info.PID, info.LastWords = 1234, c.said
	return info
}

func launching(t *testing.T, o *mcpclient.Options, said string, test func(t *testing.T, s *script,
	c *mcpclient.Client)) {
	t.Helper()
	bubbleWith(t, o, func(s *script) transport.Transport { return launcher{s, said} }, test)
}

func TestSlowStartSucceedsInTheFirstAttempt(t *testing.T) {
	for _, start := range []time.Duration{
		time.Second, 5 * time.Second, 17 * time.Second, 40 * time.Second, 59 * time.Second,
	} {
		for name, server := range map[string]struct {
			want    mcp.Version
			answers func(v *conversation, probe, init frame)
		}{
			"legacy": {mcp.Version20251125, func(v *conversation, probe, init frame) {
				v.Refuse(probe, mcp.CodeMethodNotFound, "no")
				if init.ID == nil {
					init = v.Expect(mcp.MethodInitialize)
				}
				time.Sleep(5 * time.Second) // less than Timeouts.Init, which applies after the first output
				v.Answer(init, fmt.Sprintf(initialized, mcp.Version20251125))
				v.Expect(mcp.NotificationInitialized)
			}},
			"modern": {mcp.Version20260728, func(v *conversation, probe, init frame) {
				v.Answer(probe, discovered)
				if init.ID != nil {
					time.Sleep(5 * time.Second)
					v.Refuse(init, mcp.CodeUnsupportedVersion, "no")
				}
			}},
			"modern, without an answer to initialize": {mcp.Version20260728, func(v *conversation, probe, init frame) {
				v.Answer(probe, discovered)
			}},
		} {
			launching(t, nil, "", func(t *testing.T, s *script, c *mcpclient.Client) {
				v := s.next(t)
				probe, init := v.Expect(mcp.MethodDiscover), frame{}
				if start > 2500*time.Millisecond {
					init = v.Expect(mcp.MethodInitialize)
				}
				time.Sleep(start - time.Since(c.Status().Since))
				server.answers(v, probe, init)
				await(t, c)
				if got := c.Status(); got.Attempt != 1 || c.ProtocolVersion() != server.want {
					t.Errorf("%s after %v: ready at attempt %d with %s, want 1 with %s", name, start, got.Attempt, c.ProtocolVersion(),
						server.want)
				}
			})
		}
	}
}

func TestErrorOfSilentServerIncludesStderr(t *testing.T) {
	launching(t, nil, "waiting for a lock", func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		begun := time.Now()
		waitFor(t, c, connstate.Backoff)
		if took := time.Since(begun); took != time.Minute {
			t.Errorf("the first attempt took %v, want 1m0s", took)
		}
		<-v.Context().Done()
		err := c.Status().Err
		if !errors.Is(err, conn.ErrSlow) ||
			!strings.Contains(err.Error(),
				`its process has written nothing to its standard output; its last output: "waiting for a lock"`) {
			t.Errorf("got %v, want an error with the missing output and the last line of standard error", err)
		}
		s.next(t)
		waitFor(t, c, connstate.Initializing)
		begun = time.Now()
		waitFor(t, c, connstate.Backoff)
		if took := time.Since(begun); took != 10*time.Second {
			t.Errorf("the second attempt took %v, want 10s", took)
		}
	})
}

func TestTheInitTimeoutAppliesAfterTheFirstOutput(t *testing.T) {
	launching(t, nil, "", func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Expect(mcp.MethodDiscover)
		v.Expect(mcp.MethodInitialize)
		time.Sleep(20 * time.Second)
		v.Send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"almost"}}`)
		synctest.Wait()
		begun := time.Now()
		waitFor(t, c, connstate.Backoff)
		if took := time.Since(begun); took != 10*time.Second {
			t.Errorf("the client waited %v after the first output, want 10s", took)
		}
	})
}

// A server that is not a process needs no time to start.
func TestStartTimeoutAppliesOnlyToProcesses(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		s.next(t)
		begun := time.Now()
		waitFor(t, c, connstate.Backoff)
		if took := time.Since(begun); took != 10*time.Second {
			t.Errorf("the first attempt took %v, want 10s", took)
		}
	})
}
