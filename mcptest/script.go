package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Script is a server whose messages the test writes one by one, and a transport to the server, which the test may dial
// any number of times. For each connection, the test calls [Script.Accept], receives the client's messages with
// [Conversation.Expect], and answers them. If a message does not arrive within Patience, the test ends.
//
// Call the methods of Script and Conversation from the test's goroutine, except where noted.
type Script struct {
	transport.Transport

	// Patience bounds the wait for a connection or a message. NewScript sets it to one minute.
	Patience time.Duration

	t       testing.TB
	dialled chan *Conversation
}

// NewScript returns a script. Up to 64 connections may wait for Accept.
func NewScript(t testing.TB) *Script {
	s := &Script{Patience: time.Minute, t: t, dialled: make(chan *Conversation, 64)}
	s.Transport = transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		c := &Conversation{script: s, peer: p, ctx: ctx, hungUp: make(chan struct{})}
		select {
		case s.dialled <- c:
		default:
			return // 64 connections already wait for Accept: the client reconnects, and the test does not accept
		}
		select {
		case <-ctx.Done():
		case <-c.hungUp:
		}
	})
	return s
}

// Accept waits for a client to connect.
func (s *Script) Accept() *Conversation {
	s.t.Helper()
	patience := time.NewTimer(s.Patience)
	defer patience.Stop()
	select {
	case c := <-s.dialled:
		return c
	case <-patience.C:
		s.t.Fatalf("mcptest: the client did not connect within %v", s.Patience)
		return nil
	}
}

// Conversations returns the channel from which Accept receives. Other goroutines than the test's may use the channel.
func (s *Script) Conversations() <-chan *Conversation { return s.dialled }

// Conversation is the server's end of one connection.
type Conversation struct {
	script *Script
	peer   *transport.Peer
	ctx    context.Context
	hungUp chan struct{}
	once   sync.Once // closes hungUp
}

// Message is a message from the client. A member that the message does not have is nil.
type Message struct {
	Raw    string          `json:"-"` // the whole message
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"` // empty for a response
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// Receive waits for the client's next message.
func (c *Conversation) Receive() Message {
	c.script.t.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, c.script.Patience)
	defer cancel()
	raw, err := c.peer.Receive(ctx)
	if err != nil {
		c.script.t.Fatalf("mcptest: want a message of the client, got: %v", err)
	}
	m := Message{Raw: string(raw)}
	if err := json.Unmarshal(raw, &m); err != nil {
		c.script.t.Fatalf("mcptest: the client has sent %q: %v", raw, err)
	}
	return m
}

// Expect waits for the client's next message. If the message has another method, Expect ends the test.
func (c *Conversation) Expect(method string) Message {
	c.script.t.Helper()
	m := c.Receive()
	if m.Method != method {
		c.script.t.Fatalf("mcptest: want the client to send %s, got %s", method, m.Raw)
	}
	return m
}

// Send sends frames unchanged, whether they are JSON or not.
func (c *Conversation) Send(frames ...string) {
	c.script.t.Helper()
	for _, f := range frames {
		if err := c.peer.Send(c.ctx, []byte(f)); err != nil {
			c.script.t.Fatalf("mcptest: send %.80q: %v", f, err)
		}
	}
}

// Answer sends the result of a request. result is JSON.
func (c *Conversation) Answer(request Message, result string) {
	c.script.t.Helper()
	c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, result))
}

// Refuse answers a request with an error.
func (c *Conversation) Refuse(request Message, code int, message string) {
	c.script.t.Helper()
	text, _ := json.Marshal(message) // never fails for a string
	c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, request.ID, code, text))
}

// Parts of a server's answers in a handshake.
const (
	itself     = `{"name":"mcptest","version":"1"}`
	discovered = `{"resultType":"complete","supportedVersions":[%q],"capabilities":{"tools":{}},` +
		`"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":` + itself + `}}`
	initialized = `{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":` + itself + `}`
)

// Handshake answers the client's handshake like a server with tools that supports one revision, and returns c. From
// 2026-07-28 on, the handshake is server/discover. For an older revision, Handshake rejects server/discover and
// answers initialize. A client that is pinned to old revisions starts with initialize.
func (c *Conversation) Handshake(v mcp.Version) *Conversation {
	c.script.t.Helper()
	first := c.Receive()
	if first.Method == mcp.MethodDiscover {
		if v >= mcp.Version20260728 {
			c.Answer(first, fmt.Sprintf(discovered, v))
			return c
		}
		c.Refuse(first, mcp.CodeMethodNotFound, "Method not found")
		first = c.Receive()
	}
	if first.Method != mcp.MethodInitialize {
		c.script.t.Fatalf("mcptest: want the client to open a connection of %s, got %s", v, first.Raw)
	}
	c.Answer(first, fmt.Sprintf(initialized, v))
	c.Expect(mcp.NotificationInitialized)
	return c
}

// Peer returns the server's end of the connection. Other goroutines than the test's may use it.
func (c *Conversation) Peer() *transport.Peer { return c.peer }

// Context returns a context that ends with the connection.
func (c *Conversation) Context() context.Context { return c.ctx }

// Close ends the connection. The client still receives all messages that were sent before.
func (c *Conversation) Close() { c.once.Do(func() { close(c.hungUp) }) }
