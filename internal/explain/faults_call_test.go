package explain_test

import (
	"context"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// Calls that the server answers with an error, although it has understood them.
var answers = []fault{
	{"the tool reports an error", "tool_error", "", false, called("refuses", nil)},
	{"a handler panics", "handler_panicked", "", false, called("panics", nil)},
	{"an internal error of the server", "server_failed", "-32603", false, refused(-32603, "database is down")},
	{"an unknown tool", "unknown_tool", "", false, called("forcast", nil)},
	{"invalid arguments", "invalid_params", "-32602", false, refused(-32602, "city: want a string")},
	{"an unknown method", "unknown_method", "", false, func(l *lab) {
		_ = l.ready(l.server(mcpserver.Options{}), mcpclient.Options{}).Call(l.ctx, "sales/forecast", nil, nil)
	}},
	{"an invalid request", "invalid_request", "-32600", false, refused(-32600, "Invalid Request")},
	{"invalid JSON", "request_unreadable", "-32700", false, refused(-32700, "Parse error")},
	{"an unknown resource", "unknown_resource", "", false, func(l *lab) {
		s := l.server(mcpserver.Options{})
		_ = s.AddResource(&mcp.Resource{URI: "file:///a", Name: "a"}, func(context.Context, *mcpserver.ReadResourceRequest) (
			*mcp.ReadResourceResult, error) {
			return nil, nil
		})
		c := l.ready(s, mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125}})
		_, _ = c.ReadResource(l.ctx, "file:///b")
	}},
	{"the user must visit a URL", "url_needed", "", false, refused(-32042, "sign in first")},
	{"headers that contradict the body", "headers_contradict", "", false, refused(-32020, "header mismatch")},
	{"an unsupported version", "version_unsupported", "", false, refused(-32022, "unsupported version")},
	{"a server-defined error", "server_error", "-32050", false, refused(-32050, "out of paper")},
	{"an undeclared capability", "capability_missing", "", false, asked(form)},
	{"the user rejects", "user_rejected", "", false, refused(-1, "User rejected sampling request")},
	{"a handler of the client fails", "client_handler_failed", "elicitation/create", false,
		asked(form, mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return nil, errors.New("no terminal")
		}))},
	{"too many rounds of input requests", "asked_too_often", "", false, asked(func(ctx context.Context) error {
		return mcpserver.RequestFrom(ctx).RequireInput(mcp.InputRequests{"roots": {Method: mcp.MethodListRoots}}, "state")
	}, mcpclient.UseRoots())},
}

// oslo are the arguments of forecast.
var oslo = map[string]any{"city": "Oslo"}

// asked calls a tool that sends a request to the client.
func asked(ask func(ctx context.Context) error, features ...mcpclient.Feature) func(*lab) {
	return func(l *lab) {
		s := l.server(mcpserver.Options{})
		l.asking(s, ask)
		l.fails(l.ready(s, mcpclient.Options{Features: features}), "asks", nil)
	}
}

// asking adds a tool that sends a request to the client.
func (l *lab) asking(s *mcptest.Server, ask func(ctx context.Context) error) {
	l.Helper()
	err := mcpserver.AddTool(s.Server, &mcp.Tool{Name: "asks"}, func(ctx context.Context, _ struct{}) (string, error) {
		return "", ask(ctx)
	})
	if err != nil {
		l.Fatal(err)
	}
}

func form(ctx context.Context) error {
	_, _, err := mcpserver.ElicitAs[struct {
		Name string `json:"name"`
	}](ctx, "Who are you?")
	return err
}

// Calls without an answer, or without an answer in time.
var silences = []fault{
	{"a slow tool", "server_slow", "stuck", false, called("stuck", nil, mcpclient.WithTimeout(time.Second))},
	{"a frozen server", "no_answer", "", false, answered(func(*mcptest.Conversation, mcptest.Message) {})},
	{"a late answer", "answered_late", "", false, answered(
		func(c *mcptest.Conversation, call mcptest.Message) {
			time.Sleep(6 * time.Second)
			c.Answer(call, `{"content":[]}`)
		})},
	{"an answer to another request", "answer_of_another_id", "", false,
		sent(func(string) string { return `{"jsonrpc":"2.0","id":4711,"result":{"content":[]}}` })},
	{"the caller cancels", "caller_left", "", false, func(l *lab) {
		c := l.ready(l.server(mcpserver.Options{}), mcpclient.Options{})
		ctx, cancel := context.WithCancel(l.ctx)
		time.AfterFunc(time.Second, cancel)
		_, _ = c.CallTool(ctx, "stuck", nil)
	}},
	{"the time limit of the server", "server_timeout", "", false, func(l *lab) {
		c := l.ready(l.server(mcpserver.Options{RequestTimeout: time.Second}), mcpclient.Options{})
		l.fails(c, "stuck", nil)
	}},
	{"a call under way", "under_way", "", false, func(l *lab) {
		c := l.ready(l.server(mcpserver.Options{}), mcpclient.Options{})
		go func() { _ = l.call(c, "stuck", nil) }()
		time.Sleep(3 * time.Second)
	}},
	{"a user who does not answer", "waits_for_client", "elicitation/create", false, func(l *lab) {
		s := l.server(mcpserver.Options{})
		l.asking(s, form)
		waiting := mcpclient.HandleElicitation(func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		l.fails(l.ready(s, mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125},
			Features: []mcpclient.Feature{waiting}}), "asks", nil, mcpclient.WithTimeout(time.Minute))
	}},
	{"the server is full", "server_busy", "", false, func(l *lab) {
		s := l.server(mcpserver.Options{Limits: mcpserver.Limits{Concurrent: 1, Queued: -1}})
		c := l.ready(s, mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125}})
		go func() { _, _ = c.CallTool(l.Context(), "stuck", nil) }()
		time.Sleep(time.Second)
		l.fails(c, "forecast", oslo)
	}},
	{"rejected on every retry", "turned_away", "", false, func(l *lab) {
		s := l.server(mcpserver.Options{})
		c := l.ready(s, mcpclient.Options{})
		s.Busy(100, 0)
		l.fails(c, "forecast", oslo)
	}},
	{"a call that loop detection stops", "loop", "", false, func(l *lab) {
		c := l.ready(l.server(mcpserver.Options{}), mcpclient.Options{Features: []mcpclient.Feature{
			mcpclient.UseLoopDetection(&mcpclient.LoopOptions{Repeats: 2, Break: true})}})
		for range 5 {
			_ = l.call(c, "forecast", oslo)
		}
	}},
}
