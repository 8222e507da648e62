package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// newServer returns a server with tools that show the abilities of handlers.
func newServer(t testing.TB, o mcpserver.Options) *mcpserver.Server {
	t.Helper()
	if o.Telemetry == nil {
		o.Telemetry = checked(t)
	}
	s := mcpserver.New(mcp.Implementation{
		Name: "test", Title: "Test", Version: "1.0", Description: "for tests", WebsiteURL: "https://example.com",
	}, &o)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(mcpserver.AddTool(s, &mcp.Tool{
		Name: "add", Title: "Add", Description: "Adds two numbers.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: new(true)},
		Icons:       []mcp.Icon{{Src: "https://example.com/add.png"}},
		Meta:        mcp.Meta(`{"example.com/x":1}`),
	}, add))
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "split", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskForbidden}},
		split))
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "greet"}, greet))
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "sleep"}, sleep))
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "fail"}, fail))
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "steps"}, steps))
	must(s.AddTool(&mcp.Tool{Name: "echo"}, echo))
	must(s.HandleRequest("example.com/who", who))
	return s
}

type addIn struct {
	A int `json:"a" jsonschema:"the first number"`
	B int `json:"b,omitzero" jsonschema:"the second number"`
}

type addOut struct {
	Sum int `json:"sum"`
}

func add(_ context.Context, in addIn) (addOut, error) { return addOut{in.A + in.B}, nil }

func split(_ context.Context, in struct {
	Text string `json:"text"`
}) ([]string, error) {
	return strings.Fields(in.Text), nil
}

func greet(_ context.Context, in struct {
	Name string `json:"name"`
}) (string, error) {
	return "Hello, " + in.Name + "!", nil
}

// sleep answers after some time, unless its context ends first.
func sleep(ctx context.Context, in struct {
	Seconds float64 `json:"seconds"`
}) (string, error) {
	select {
	case <-time.After(time.Duration(in.Seconds * float64(time.Second))):
		return "awake", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// fail fails in one of several ways.
func fail(_ context.Context, in struct {
	How string `json:"how"`
}) (*mcp.CallToolResult, error) {
	switch in.How {
	case "error":
		return nil, errors.New("no such city")
	case "refuse":
		return nil, fmt.Errorf("wrapped: %w", &mcp.Error{Code: -100, Message: "refused", Data: json.RawMessage(`{"x":1}`)})
	case "panic":
		panic("secret")
	case "structured":
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(`{broken`)}, nil
	}
	return nil, nil
}

// steps reports progress.
func steps(ctx context.Context, in struct {
	Values []float64 `json:"values"`
}) (string, error) {
	for _, v := range in.Values {
		if err := mcpserver.RequestFrom(ctx).Progress(ctx, v, 10, fmt.Sprintf("step %v", v)); err != nil {
			return "", err
		}
	}
	return "done", nil
}

// echo returns its arguments.
func echo(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{
		Content:           mcp.ContentList{mcp.Text(r.Name)},
		StructuredContent: r.Arguments,
		Result:            mcp.Result{Meta: mcp.Meta(`{"example.com/y":2}`)},
	}, nil
}

// who returns the properties of the request.
func who(_ context.Context, r *mcpserver.Request) (any, error) {
	var p struct {
		X int `json:"x"`
	}
	if err := r.Decode(&p); err != nil {
		return nil, err
	}
	return map[string]any{
		"x": p.X, "method": r.Method, "id": r.ID, "version": r.Version, "client": r.Client(),
		"capabilities": r.ClientCapabilities(), "_meta": map[string]int{"example.com/z": 3},
	}, nil
}
