package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func TestCheckedHandlerIsValidatedAgainstToolSchemas(t *testing.T) {
	tool := &mcp.Tool{
		Name: "double",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"by":{"type":"integer",` +
			`"default":2}},"required":["n"]}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
	}
	var got, answer string
	handler := func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
		got = r.Name + string(r.Arguments)
		if answer == "" {
			return &mcp.CallToolResult{IsError: true}, nil
		}
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(answer)}, nil
	}
	for _, test := range []struct{ name, version, arguments, answer, got, want string }{
		{"all fits", "2025-11-25", `{"n":1}`, `{"n":2}`, `double{"by":2,"n":1}`, `"structuredContent":{"n":2}`},
		{"an error needs no content", "2025-11-25", `{"n":1}`, ``, `double{"by":2,"n":1}`, `"isError":true`},
		{"arguments", "2025-11-25", `{"n":"x"}`, `{"n":2}`, ``, `"isError":true`},
		{"arguments, before", "2025-06-18", `{"n":"x"}`, `{"n":2}`, ``, `-32602`},
		{"no arguments", "2025-11-25", `{}`, `{"n":2}`, ``, `"isError":true`},
		{"output", "2025-11-25", `{"n":1}`, `{"n":"x"}`, `double{"by":2,"n":1}`,
			"the tool's output does not match its output schema"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, answer = "", test.answer
				s := newServer(t, mcpserver.Options{})
				if err := s.AddTool(tool, handler, mcpserver.CheckArguments()); err != nil {
					t.Fatal(err)
				}
				w := openedAble(t, s, test.version)
				w.send(callOf(7, "double", test.arguments))
				synctest.Wait()
				if sent := strings.Join(w.taken(), ""); got != test.got || !strings.Contains(sent, test.want) {
					t.Errorf("the handler got %q and the client %s, want %q and %q", got, sent, test.got, test.want)
				}
				if err := w.finish(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestToolWithUncheckableSchemaIsRefused(t *testing.T) {
	s := newServer(t, mcpserver.Options{})
	h := func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil }
	bad := &mcp.Tool{Name: "bad", OutputSchema: json.RawMessage(`{"type":7}`)}
	for want, err := range map[string]error{
		"output schema": s.AddTool(bad, h, mcpserver.CheckArguments()),
		"no handler":    s.AddTool(bad, nil, mcpserver.CheckArguments()),
		"no tool":       s.AddTool(nil, h, mcpserver.CheckArguments()),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
