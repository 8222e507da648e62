package explain_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

var legacy = []mcp.Version{mcp.Version20251125}

// scenarios provoke the telemetry that the pages for operators mention and the faults of the laboratory do not. In some
// of them no call fails.
var scenarios = []fault{
	{name: "a call is retried", provoke: func(l *lab) {
		s := l.server(mcpserver.Options{})
		c := l.ready(s, mcpclient.Options{})
		s.Kill()
		synctest.Wait()
		if err := l.call(c, "forecast", oslo, mcpclient.Retry(3)); err != nil {
			l.Error(err)
		}
	}},
	{name: "a handler of the client panics", provoke: asked(form, mcpclient.HandleElicitation(
		func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) { panic("no terminal") }))},
	{name: "a handler of the client fails", provoke: func(l *lab) {
		s := l.server(mcpserver.Options{})
		l.asking(s, form)
		fails := mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return nil, errors.New("no terminal")
		})
		l.fails(l.ready(s, mcpclient.Options{Versions: legacy, Features: []mcpclient.Feature{fails}}), "asks", nil)
	}},
	{name: "repeated failures", provoke: func(l *lab) {
		s := l.server(mcpserver.Options{})
		l.asking(s, form)
		panics := mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			panic("no terminal")
		})
		c := l.ready(s, mcpclient.Options{Versions: legacy, Features: []mcpclient.Feature{panics}})
		for range 8 { // the first five get a log record each, then one per second
			l.fails(c, "asks", nil)
			l.fails(c, "nosuch", nil)
		}
		time.Sleep(2 * time.Second)
		l.fails(c, "asks", nil)
		l.fails(c, "nosuch", nil)
	}},
	{name: "notifications arrive faster than their handler runs", provoke: func(l *lab) {
		script, release := mcptest.NewScript(l), make(chan struct{})
		c := l.client(script, mcpclient.Options{Limits: mcpclient.Limits{Notifications: 1}, Features: []mcpclient.Feature{
			mcpclient.HandleNotification("x/news", func(context.Context, *mcpclient.Notification) { <-release })}})
		server := script.Accept().Handshake(mcp.Version20251125)
		if err := c.WaitForReady(l.Context()); err != nil {
			l.Fatal(err)
		}
		for range 5 {
			server.Send(`{"jsonrpc":"2.0","method":"x/news"}`)
		}
		synctest.Wait()
		close(release)
	}},
	{name: "a connection does not close", provoke: func(l *lab) {
		release := make(chan struct{})
		c := l.client(transport.InMemory(func(context.Context, *transport.Peer) { <-release }), mcpclient.Options{})
		synctest.Wait()
		if err := c.Close(); err != nil {
			l.Error(err)
		}
		close(release)
	}},
	{name: "a resource is missing after a reconnect", provoke: func(l *lab) {
		s := l.server(mcpserver.Options{})
		err := s.AddResource(&mcp.Resource{URI: "file:///a", Name: "a"}, func(context.Context,
			*mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return nil, nil
		})
		if err != nil {
			l.Fatal(err)
		}
		c := l.ready(s, mcpclient.Options{Versions: legacy, Features: []mcpclient.Feature{
			mcpclient.HandleResourceUpdated(func(context.Context, string) {})}})
		if err := c.SubscribeResource(l.ctx, "file:///a"); err != nil {
			l.Fatal(err)
		}
		s.RemoveResources("file:///a")
		s.Kill()
		time.Sleep(time.Minute)
	}},
	{name: "a tool changes", provoke: func(l *lab) {
		s := l.server(mcpserver.Options{})
		c := l.ready(s, mcpclient.Options{Features: []mcpclient.Feature{
			mcpclient.UseDriftDetection(&mcpclient.DriftOptions{})}})
		list := func() {
			for _, err := range c.Tools(l.ctx) {
				if err != nil {
					l.Fatal(err)
				}
			}
		}
		list()
		s.RemoveTools("stuck")
		time.Sleep(time.Hour) // the cache has expired by then
		list()
	}},
	{name: "a tool changes, and the client rejects the change", provoke: func(l *lab) {
		s := l.server(mcpserver.Options{})
		refuse := mcpclient.UseDriftDetection(&mcpclient.DriftOptions{OnChange: func(context.Context,
			[]mcpclient.ToolChange) error {
			return errors.New("not reviewed")
		}})
		c := l.ready(s, mcpclient.Options{Versions: legacy, Features: []mcpclient.Feature{refuse}})
		_ = l.call(c, "forecast", oslo)
		s.RemoveTools("forecast")
		time.Sleep(time.Second) // the server collects changes before it notifies
		l.fails(c, "forecast", oslo)
	}},
	{name: "a server without the requested feature", provoke: func(l *lab) {
		c := l.ready(l.server(mcpserver.Options{}), mcpclient.Options{})
		if _, err := c.ListPrompts(l.ctx, nil); !errors.Is(err, mcpclient.ErrUnsupported) {
			l.Errorf("got %v, want ErrUnsupported", err)
		}
	}},
	{name: "a request from another site", provoke: func(l *lab) {
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader("{}"))
		r.Host = "localhost"
		r.Header.Set("Origin", "https://elsewhere.example")
		w := httptest.NewRecorder()
		l.server(mcpserver.Options{}).HTTPHandler(nil).ServeHTTP(w, r)
		if w.Code != http.StatusForbidden {
			l.Errorf("got %d, want 403", w.Code)
		}
	}},
	{name: "schemas that a client cannot use", provoke: func(l *lab) {
		script := mcptest.NewScript(l)
		c := l.client(script, mcpclient.Options{})
		server := script.Accept().Handshake(mcp.Version20260728)
		done := make(chan error, 1)
		go func() {
			_, err := mcpclient.CallToolAs[map[string]any](l.ctx, c, "odd", nil, mcpclient.WaitForReady())
			done <- err
		}()
		server.Answer(server.Expect(mcp.MethodListTools), `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[
			{"name":"odd","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{
				"code":{"type":"string","pattern":"^(?!x)"}}}},
			{"name":"headers","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}}]}`)
		server.Answer(server.Expect(mcp.MethodCallTool),
			`{"resultType":"complete","content":[],"structuredContent":{"code":"y"}}`)
		if err := <-done; err != nil {
			l.Error(err)
		}
	}},
	{name: "a client sends invalid messages", provoke: func(l *lab) {
		conn, err := l.server(mcpserver.Options{}).Dial(l.ctx, transport.Config{})
		if err != nil {
			l.Fatal(err)
		}
		for _, frame := range []string{`{"jsonrpc":`, `{"jsonrpc":"2.0","id":987654321,"result":{}}`} {
			if err := conn.Send(l.ctx, transport.Message{Data: []byte(frame)}); err != nil {
				l.Error(err)
			}
			synctest.Wait()
		}
		_ = conn.Close(l.ctx)
	}},
	{name: "a session without a stream, behind a handler without deadlines", provoke: func(l *lab) {
		s := l.server(mcpserver.Options{Logging: true})
		h := s.HTTPHandler(nil)
		post := func(session, body string) http.Header {
			r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
			r.Host = "localhost"
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if session != "" {
				r.Header.Set("Mcp-Session-Id", session)
			}
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code/100 != 2 {
				l.Errorf("%s: got %d %s", body, w.Code, w.Body)
			}
			return w.Header()
		}
		session := post("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
			"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`).Get("Mcp-Session-Id")
		post(session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		for range 300 { // more than the queue for a stream holds
			if err := s.Log(mcp.LevelError, "", "x"); err != nil {
				l.Error(err)
			}
		}
		time.Sleep(time.Second)
		_ = h.Shutdown(l.ctx)
	}},
	{name: "the server is stopped during a call", provoke: func(l *lab) {
		s := l.server(mcpserver.Options{})
		c := l.ready(s, mcpclient.Options{Versions: legacy})
		time.AfterFunc(time.Second, func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(l.Context()), time.Second)
			defer cancel()
			_ = s.Shutdown(ctx)
		})
		l.fails(c, "stuck", nil)
	}},
	{name: "the client disconnects during a call", provoke: func(l *lab) {
		conn, err := l.server(mcpserver.Options{}).Dial(l.ctx, transport.Config{})
		if err != nil {
			l.Fatal(err)
		}
		for _, frame := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
				"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"stuck"}}`,
		} {
			frame = strings.Join(strings.Fields(frame), " ")
			if err := conn.Send(l.ctx, transport.Message{Data: []byte(frame)}); err != nil {
				l.Error(err)
			}
			synctest.Wait()
		}
		_ = conn.Close(l.ctx)
		time.Sleep(time.Minute)
	}},
	{name: "an endpoint without POST", real: true, provoke: answering(405, "text/plain", "")},
	{name: "a server without MCP", real: true, provoke: answering(501, "text/plain", "")},
	{name: "a proxy without an upstream", real: true, provoke: answering(503, "text/plain", "")},
	{name: "too many requests from the first request on", real: true, provoke: answering(429, "text/plain", "")},
	{name: "a client exceeds the rate limit", provoke: func(l *lab) {
		s := l.server(mcpserver.Options{Rates: mcpserver.Rates{ToolCalls: mcpserver.Rate{PerSecond: 1, Burst: 1}}})
		c := l.ready(s, mcpclient.Options{Versions: legacy})
		_ = l.call(c, "forecast", oslo)
		l.fails(c, "forecast", oslo)
	}},
	{name: "a server behind pipes", provoke: func(l *lab) {
		s := l.server(mcpserver.Options{})
		fromClient, toServer := io.Pipe()
		fromServer, toClient := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- s.Serve(l.ctx, mcpserver.NewStreamConn(fromClient, toClient, 0)) }()
		c := l.ready(transport.Streams(fromServer, toServer), mcpclient.Options{})
		if err := l.call(c, "forecast", oslo); err != nil {
			l.Error(err)
		}
		if err := c.Close(); err != nil {
			l.Error(err)
		}
		<-served
	}},
	{name: "a task fails", provoke: func(l *lab) {
		s := l.server(mcpserver.Options{Tasks: &mcpserver.TaskOptions{PollInterval: 100 * time.Millisecond}})
		err := mcpserver.AddTool(s.Server, &mcp.Tool{Name: "compute"}, func(context.Context, struct{}) (string, error) {
			panic("no sky")
		}, mcpserver.TaskTool())
		if err != nil {
			l.Fatal(err)
		}
		c := l.ready(s, mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}})
		l.fails(c, "compute", nil)
	}},
}
