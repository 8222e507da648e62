package mcpclient_test

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
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcptest"
)

// script is the server of a test, see [mcptest.Script].
type script struct{ *mcptest.Script }

func newScript(t testing.TB) *script {
	s := &script{mcptest.NewScript(t)}
	s.Patience = time.Hour
	return s
}

// conversation is one connection, as the server sees it.
type conversation struct {
	*mcptest.Conversation
	t *testing.T
}

// frame is a frame that the client sent.
type frame = mcptest.Message

// next waits for the next conversation.
func (s *script) next(t *testing.T) *conversation {
	t.Helper()
	return &conversation{s.Accept(), t}
}

// parseFrame returns the frame of a message, or the zero frame if raw is not a message.
func parseFrame(raw []byte) frame {
	f := frame{Raw: string(raw)}
	if json.Unmarshal(raw, &f) != nil {
		return frame{}
	}
	return f
}

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
	c.Answer(c.Expect(mcp.MethodDiscover), discovered)
	return c
}

// legacy refuses the probe, and answers initialize with a version.
func (c *conversation) legacy(v mcp.Version) *conversation {
	c.t.Helper()
	c.Refuse(c.Expect(mcp.MethodDiscover), mcp.CodeMethodNotFound, "Method not found")
	return c.initialize(v)
}

func (c *conversation) initialize(v mcp.Version) *conversation {
	c.t.Helper()
	c.Answer(c.Expect(mcp.MethodInitialize), fmt.Sprintf(initialized, v))
	c.Expect(mcp.NotificationInitialized)
	return c
}

// bubble runs f in a bubble with a client of a script. At the end, it closes the client, and everything that the client
// has started must have ended.
func bubble(t *testing.T, o *mcpclient.Options, f func(t *testing.T, s *script, c *mcpclient.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		c, err := mcpclient.New(s, checked(t, o))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.Close(); err != nil {
				t.Errorf("stop: %v", err)
			}
		}()
		f(t, s, c)
	})
}

// ready is like bubble, with a ready client and a server of 2026-07-28.
func ready(t *testing.T, o *mcpclient.Options, f func(t *testing.T, s *script, v *conversation, c *mcpclient.Client)) {
	t.Helper()
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).modern()
		await(t, c)
		f(t, s, v, c)
	})
}

func await(t *testing.T, c *mcpclient.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if err := c.WaitForReady(ctx); err != nil {
		t.Fatalf("await: %v", err)
	}
}

// opened gives the client an open subscription without a listener. It returns the _meta of the notifications that
// belong to the subscription.
func opened(c *mcpclient.Client) string {
	return ofSubscription(strconv.FormatInt(mcpclient.OpenSubscription(c), 10))
}

// toolsChanged sends a notification that the list of tools has changed.
func (c *conversation) toolsChanged(of *mcpclient.Client) {
	c.t.Helper()
	c.Send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + opened(of) + `}}`)
	synctest.Wait()
}

// ofSubscription returns the _meta of a subscription's notifications.
func ofSubscription(id string) string {
	return fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`, id)
}

// background runs f in a goroutine, and returns a channel for its error.
func background(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

func text(r *mcp.CallToolResult) string { return strings.TrimSpace(r.Text()) }
