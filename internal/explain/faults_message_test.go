package explain_test

import (
	"context"
	"errors"
	"strings"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

func small(o *mcpclient.Options) { o.Limits.Frame = 4096 }
func skip(o *mcpclient.Options)  { o.Limits.Frame, o.Limits.SkipOversize = 4096, true }

func oversize(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x",
		5000) + `"}]}}`
}

// Messages that break the protocol.
var messages = []fault{
	{"garbage instead of an answer", "message_invalid_json", "", false,
		sent(func(string) string { return "Segmentation fault" })},
	{"an answer that is nested too deeply", "message_too_deep", "", false, sent(func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":` + strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}",
			20_000) + "}"
	})},
	{"a batch", "message_batch", "", false,
		sent(func(id string) string { return `[{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[]}}]` })},
	{"JSON that is not a message", "message_invalid_envelope", "", false, sent(func(string) string { return `"hello"` })},
	{"another version of JSON-RPC", "message_invalid_version", "", false,
		sent(func(id string) string { return `{"jsonrpc":"1.0","id":` + id + `,"result":{"content":[]}}` })},
	{"a duplicate member", "message_duplicate_member", "", false,
		sent(func(id string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"id":` + id + `,"result":{"content":[]}}`
		})},
	{"a result and an error", "message_mixed_members", "", false, sent(func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[]},"error":{"code":1,"message":"x"}}`
	})},
	{"an invalid id", "message_invalid_id", "", false,
		sent(func(string) string { return `{"jsonrpc":"2.0","id":true,"result":{"content":[]}}` })},
	{"a null id", "message_null_id", "", false,
		sent(func(string) string { return `{"jsonrpc":"2.0","id":null,"result":{"content":[]}}` })},
	{"an answer without an id", "message_missing_id", "", false,
		sent(func(string) string { return `{"jsonrpc":"2.0","result":{"content":[]}}` })},
	{"an invalid method", "message_invalid_method", "", false,
		sent(func(string) string { return `{"jsonrpc":"2.0","id":1,"method":7}` })},
	{"invalid params", "message_invalid_params", "", false,
		sent(func(string) string { return `{"jsonrpc":"2.0","id":"x","method":"ping","params":7}` })},
	{"an invalid result", "message_invalid_result", "", false,
		sent(func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":7}` })},
	{"an invalid error", "message_invalid_error", "", false,
		sent(func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"error":"no"}` })},
	{"an answer that is too large", "answer_too_large", "4096", false, sent(oversize, small)},
	{"an answer that is too large, which the client skips", "answer_skipped", "4096", false, sent(oversize, skip)},
	{"endless garbage", "garbage", "", false, answered(func(c *mcptest.Conversation, _ mcptest.Message) {
		for range 1000 {
			c.Send("hello")
		}
	})},
	{"two answers", "duplicate_answer", "", false, answered(func(c *mcptest.Conversation, call mcptest.Message) {
		c.Answer(call, `{"content":[]}`)
		c.Answer(call, `{"content":[]}`)
	})},
	{"a request from a modern server, which must not send any", "message_unexpected_request", "", false, func(l *lab) {
		script := mcptest.NewScript(l)
		c := l.client(script, mcpclient.Options{})
		server := script.Accept().Handshake(mcp.Version20260728)
		if err := c.WaitForReady(l.Context()); err != nil {
			l.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- l.call(c, "forecast", nil, mcpclient.WithTimeout(5*time.Second)) }()
		server.Expect(mcp.MethodCallTool)
		server.Send(`{"jsonrpc":"2.0","id":"x","method":"sampling/createMessage","params":{}}`)
		<-done
	}},
}

// Connections that end, and calls without a connection.
var connections = []fault{
	{"the server hangs up", "connection_closed", "", false, answered(
		func(c *mcptest.Conversation, _ mcptest.Message) { c.Close() })},
	{"the server is killed", "server_killed", "SIGKILL", false, func(l *lab) {
		s := l.server(mcpserver.Options{})
		c := l.ready(s, mcpclient.Options{})
		time.AfterFunc(time.Second, s.Kill)
		l.fails(c, "stuck", nil)
	}},
	{"between two attempts", "not_connected", "", false, func(l *lab) {
		s := l.server(mcpserver.Options{})
		c := l.ready(s, mcpclient.Options{Backoff: mcpclient.Backoff{Min: time.Hour, Max: time.Hour}})
		s.Kill()
		time.Sleep(time.Second)
		l.fails(c, "forecast", nil)
	}},
	{"while the client connects", "connecting", "", false, func(l *lab) {
		script := mcptest.NewScript(l)
		c := l.client(script, mcpclient.Options{})
		script.Accept().Expect(mcp.MethodDiscover)
		l.fails(c, "forecast", nil)
	}},
	{"no connection in time, because nothing listens", "nothing_listens", "never sent", false, func(l *lab) {
		s := l.server(mcpserver.Options{})
		c := l.ready(s, mcpclient.Options{})
		s.Refuse(errors.New("connect to mcp.example.com: connection refused"))
		s.Kill()
		synctest.Wait()
		l.fails(c, "forecast", oslo, mcpclient.WaitForReady(), mcpclient.WithTimeout(5*time.Second))
	}},
	{"no connection in time, because the server is silent", "never_sent", "waited 2.00s", false, func(l *lab) {
		script := mcptest.NewScript(l)
		c := l.client(script, mcpclient.Options{})
		script.Accept().Expect(mcp.MethodDiscover)
		l.fails(c, "forecast", oslo, mcpclient.WaitForReady(), mcpclient.WithTimeout(2*time.Second))
	}},
	{"the caller cancels while it waits for a connection", "never_sent", "its caller cancelled it", false, func(l *lab) {
		script := mcptest.NewScript(l)
		c := l.client(script, mcpclient.Options{})
		script.Accept().Expect(mcp.MethodDiscover)
		ctx, cancel := context.WithCancel(l.ctx)
		time.AfterFunc(time.Second, cancel)
		_, _ = c.CallTool(ctx, "forecast", oslo, mcpclient.WaitForReady())
	}},
	{"the client is closed", "client_stopped", "", false, func(l *lab) {
		c := l.ready(l.server(mcpserver.Options{}), mcpclient.Options{})
		_ = c.Close()
		l.fails(c, "forecast", nil)
	}},
	{"the client is closed during the call", "client_stopped", "in flight", false, func(l *lab) {
		c := l.ready(l.server(mcpserver.Options{}), mcpclient.Options{})
		time.AfterFunc(time.Second, func() { _ = c.Close() })
		l.fails(c, "stuck", nil)
	}},
	{"the server does not answer pings", "connection_silent", "", false, func(l *lab) {
		script := mcptest.NewScript(l)
		c := l.client(script, mcpclient.Options{KeepAlive: 10 * time.Second})
		server := script.Accept().Handshake(mcp.Version20251125)
		if err := c.WaitForReady(l.Context()); err != nil {
			l.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- l.call(c, "forecast", nil, mcpclient.WithTimeout(time.Hour)) }()
		server.Expect(mcp.MethodCallTool)
		<-done
	}},
}

// Calls that succeed, but late or after retries.
var successes = []fault{
	{"a slow server", "server_slow", "2.00s", false, func(l *lab) {
		s := l.server(mcpserver.Options{})
		c := l.ready(s, mcpclient.Options{})
		s.Delay(2*time.Second, mcp.MethodCallTool)
		if err := l.call(c, "forecast", oslo); err != nil {
			l.Error(err)
		}
	}},
	{"rejected at first", "retried", "2", false, func(l *lab) {
		s := l.server(mcpserver.Options{})
		c := l.ready(s, mcpclient.Options{})
		s.Busy(2, 0)
		if err := l.call(c, "forecast", oslo); err != nil {
			l.Error(err)
		}
	}},
	{"a call that needs input first", "server_slow", "1.00s of its 1.00s", false, func(l *lab) {
		s := l.server(mcpserver.Options{})
		l.asking(s, func(ctx context.Context) error {
			if err := form(ctx); err != nil {
				return err
			}
			time.Sleep(time.Second)
			return nil
		})
		accept := mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"name": "Ada"}}, nil
		})
		if err := l.call(l.ready(s, mcpclient.Options{Features: []mcpclient.Feature{accept}}), "asks", nil); err != nil {
			l.Error(err)
		}
	}},
	{"a call that waits for the connection", "waited_for_connection", "", false, func(l *lab) {
		s := l.server(mcpserver.Options{})
		s.Delay(3*time.Second, mcp.MethodDiscover)
		c := l.client(s, mcpclient.Options{Timeouts: mcpclient.Timeouts{Init: time.Minute}})
		if err := l.call(c, "forecast", oslo, mcpclient.WaitForReady()); err != nil {
			l.Error(err)
		}
	}},
}
