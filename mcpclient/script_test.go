package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/conn"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// script is the server of a test: the test takes the frames that the client sends, one by one, and writes raw frames
// back. It is a transport that can be dialled many times; each dial is a conversation.
type script struct {
	transport.Transport
	dialled chan *conversation
}

func newScript() *script {
	s := &script{dialled: make(chan *conversation, 16)}
	s.Transport = transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		c := &conversation{peer: p, ctx: ctx, hungUp: make(chan struct{})}
		s.dialled <- c
		select {
		case <-ctx.Done():
		case <-c.hungUp:
		}
	})
	return s
}

// conversation is one connection, seen from the server.
type conversation struct {
	t      *testing.T
	peer   *transport.Peer
	ctx    context.Context
	hungUp chan struct{}
}

// next waits for the next conversation.
func (s *script) next(t *testing.T) *conversation {
	t.Helper()
	select {
	case c := <-s.dialled:
		c.t = t
		return c
	case <-time.After(time.Hour):
		t.Fatal("the client did not connect within an hour")
		return nil
	}
}

// frame is what the client sent.
type frame struct {
	raw    string
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// take waits for the client's next frame.
func (c *conversation) take() frame {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, time.Hour)
	defer cancel()
	raw, err := c.peer.Receive(ctx)
	if err != nil {
		c.t.Fatalf("want a frame of the client, got %v", err)
	}
	f := parseFrame(raw)
	if f.raw == "" {
		c.t.Fatalf("the client sent %q", raw)
	}
	return f
}

// parseFrame returns the zero frame if raw is none.
func parseFrame(raw []byte) frame {
	f := frame{raw: string(raw)}
	if json.Unmarshal(raw, &f) != nil {
		return frame{}
	}
	return f
}

// want takes the client's next frame, which must have this method.
func (c *conversation) want(method string) frame {
	c.t.Helper()
	f := c.take()
	if f.Method != method {
		c.t.Fatalf("want the client to send %s, got %s", method, f.raw)
	}
	return f
}

// write sends raw frames.
func (c *conversation) write(frames ...string) {
	c.t.Helper()
	for _, f := range frames {
		if err := c.peer.Send(c.ctx, []byte(f)); err != nil {
			c.t.Fatalf("write %.80q: %v", f, err)
		}
	}
}

// answer sends a result for f.
func (c *conversation) answer(f frame, result string) {
	c.t.Helper()
	c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, f.ID, result))
}

// refuse sends an error for f.
func (c *conversation) refuse(f frame, code int, message string) {
	c.t.Helper()
	c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, f.ID, code, message))
}

// hangUp ends the conversation.
func (c *conversation) hangUp() { close(c.hungUp) }

// Results of handshakes.
const (
	discovered = `{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}},` +
		`"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"modern","version":"1"}}}`
	initialized = `{"protocolVersion":"%s","capabilities":{"tools":{}},"serverInfo":{"name":"legacy","version":"1"}}`
	textResult  = `{"content":[{"type":"text","text":%q}]}`
)

// modern answers the probe.
func (c *conversation) modern() *conversation {
	c.t.Helper()
	c.answer(c.want(mcp.MethodDiscover), discovered)
	return c
}

// legacy refuses the probe and answers initialize with a version.
func (c *conversation) legacy(v mcp.Version) *conversation {
	c.t.Helper()
	c.refuse(c.want(mcp.MethodDiscover), mcp.CodeMethodNotFound, "Method not found")
	return c.initialize(v)
}

func (c *conversation) initialize(v mcp.Version) *conversation {
	c.t.Helper()
	c.answer(c.want(mcp.MethodInitialize), fmt.Sprintf(initialized, v))
	c.want(mcp.NotificationInitialized)
	return c
}

// bubble runs f in a bubble with a client of a script. The client is stopped at the end, and everything it started must
// have ended by then.
func bubble(t *testing.T, o *Options, f func(t *testing.T, s *script, c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		c, err := New(s, Checked(t, o))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.Stop(context.Background()); err != nil {
				t.Errorf("stop: %v", err)
			}
		}()
		f(t, s, c)
	})
}

// ready is bubble with a client that is ready, on a server of 2026-07-28.
func ready(t *testing.T, o *Options, f func(t *testing.T, s *script, v *conversation, c *Client)) {
	t.Helper()
	bubble(t, o, func(t *testing.T, s *script, c *Client) {
		v := s.next(t).modern()
		await(t, c)
		f(t, s, v, c)
	})
}

func await(t *testing.T, c *Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if err := c.Await(ctx); err != nil {
		t.Fatalf("await: %v", err)
	}
}

// probed looks into the core of a client.
func probed(c *Client) conn.Probe { return conn.Probe{C: &c.core} }

// opened gives the client an open subscription, without a listener, and returns the _meta of the notifications that
// belong to it.
func opened(c *Client) string {
	cl := c.newCall(mcp.MethodSubscriptionsListen, nil)
	return ofSubscription(strconv.FormatInt(probed(c).Open(&cl.Request), 10))
}

// ofSubscription is the _meta of the notifications of a subscription.
func ofSubscription(id string) string {
	return fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`, id)
}

// outcomeOf runs a call in the background.
func background(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

func text(r *mcp.CallToolResult) string { return strings.TrimSpace(r.Text()) }
