package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/audit"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// auditLog returns an audit log without a file.
func auditLog(t *testing.T) *audit.Log {
	t.Helper()
	l, err := audit.Open("", []byte("a key for the tests, of 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// taskMetas are the members of _meta of a client that declares tasks.
var taskMetas = strings.Replace(bothMetas, `"io.modelcontextprotocol/clientCapabilities":{`,
	`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}`, 1)

// TestAuditKnowsWhetherToolWasReached calls tools over HTTP, as a client with a principal.
func TestAuditKnowsWhetherToolWasReached(t *testing.T) {
	refuse := func(next mcpserver.RequestHandler) mcpserver.RequestHandler {
		return func(ctx context.Context, r *mcpserver.Request) (any, error) {
			if r.Method == mcp.MethodCallTool {
				return nil, &mcp.Error{Code: -1, Message: "not for you"}
			}
			return next(ctx, r)
		}
	}
	late := func(next mcpserver.RequestHandler) mcpserver.RequestHandler {
		return func(ctx context.Context, r *mcpserver.Request) (any, error) {
			if _, err := next(ctx, r); err != nil {
				return nil, err
			}
			return nil, errors.New("not for you, after all")
		}
	}
	type in struct {
		N int `json:"n" keywords:"maximum=5"`
	}
	for _, test := range []struct {
		name       string
		middleware func(mcpserver.RequestHandler) mcpserver.RequestHandler
		params     string
		want       string
	}{
		{"result", nil, `"name":"typed","arguments":{"n":1}`, "ran"},
		{"arguments do not fit the schema", nil, `"name":"typed","arguments":{"n":9}`, "did_not_run"},
		{"raw arguments do not fit the schema", nil, `"name":"checked","arguments":{"n":"x"}`, "did_not_run"},
		{"input is required", nil, `"name":"asks","arguments":{}`, "may_have_run"},
		{"task", nil, `"name":"task","arguments":{"n":1}`, "may_have_run"},
		{"task with arguments that do not fit", nil, `"name":"task","arguments":{"n":9}`, "did_not_run"},
		{"middleware refuses", refuse, `"name":"typed","arguments":{"n":1}`, "did_not_run"},
		{"middleware refuses the result", late, `"name":"typed","arguments":{"n":1}`, "ran"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rec := telemetrytest.Recorder(t, telemetry.WithAudit(auditLog(t)))
			o := &mcpserver.Options{Telemetry: rec.Telemetry()}
			if test.middleware != nil {
				o.Middleware = append(o.Middleware, test.middleware)
			}
			s := mcpserver.New(mcp.Implementation{Name: "test", Version: "1"}, o)
			must(t, mcpserver.AddTool(s, &mcp.Tool{Name: "typed"},
				func(context.Context, in) (string, error) { return "", nil }))
			must(t, s.AddTool(&mcp.Tool{Name: "checked",
				InputSchema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)},
				func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil },
				mcpserver.CheckArguments()))
			must(t, s.AddTool(&mcp.Tool{Name: "asks"},
				func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
					return nil, r.RequireInput(nil, "state")
				}))
			must(t, mcpserver.AddTool(s, &mcp.Tool{Name: "task"},
				func(context.Context, in) (string, error) { return "", nil }, mcpserver.TaskTool()))
			h := s.HTTPHandler(&mcpserver.HTTPOptions{Principal: func(*http.Request) string { return "ada" }})
			target, _, _ := strings.Cut(strings.TrimPrefix(test.params, `"name":"`), `"`)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, request(t, t.Context(), http.MethodPost, asked(7, mcp.MethodCallTool, taskMetas, test.params),
				modernHeaders(mcp.MethodCallTool, target)...))
			must(t, h.Shutdown(t.Context()))
			must(t, rec.Telemetry().Flush(t.Context()))
			records := rec.Logs(names.EventMCPServerAuditCall)
			if len(records) != 1 {
				t.Fatalf("got %d records, want 1; the answer is %s", len(records), w.Body)
			}
			r := records[0]
			for key, want := range map[string]string{
				names.KeyMCPServerAuditOutcome: test.want, names.KeyMCPServerAuditPrincipal: "ada", names.KeyGenAIToolName: target,
			} {
				if got := r.Text(key); got != want {
					t.Errorf("%s is %q, want %q; the answer is %s", key, got, want, w.Body)
				}
			}
			if got := fmt.Sprint(len(r.Text(names.KeyMCPServerAuditArgumentsHash))); got != "64" {
				t.Errorf("the hash of the arguments has %s digits", got)
			}
		})
	}
}
