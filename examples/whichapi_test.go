package examples

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// The code in docs/guides/which-api.md.

func waysToCall(ctx context.Context, server transport.Transport) (err error) {
	// docs:one
	client, err := mcpclient.Connect(ctx, server, nil) // waits until the server is ready
	// docs:end
	if err != nil {
		return err
	}
	defer client.Close()
	query := Query{City: "Oslo"}
	// docs:calls
	result, err := client.CallTool(ctx, "forecast", query)                           // a *mcp.CallToolResult
	forecast, err2 := mcpclient.CallToolAs[Forecast](ctx, client, "forecast", query) // your type, validated
	task, err3 := client.StartTool(ctx, "forecast", query)                           // a handle: task.Wait(ctx)
	// the JSON text of the result:
	raw, err4 := client.CallToolRaw(ctx, &mcp.CallToolParams{Name: "forecast", Arguments: query})
	var answer json.RawMessage
	err5 := client.Call(ctx, "acme/reindex", map[string]any{"full": true}, &answer) // any method
	// docs:end
	if err = errors.Join(err, err2, err3, err4, err5); err != nil {
		return err
	}
	// docs:lists
	for tool, err := range client.Tools(ctx) { // all pages, loaded on demand
		if err != nil {
			return err
		}
		slog.Info(tool.Name)
	}
	page, err := client.ListTools(ctx, nil) // one page, and the cursor of the next one
	// docs:end
	if err != nil || len(page.Tools) != 1 || forecast.Celsius != 4 || result.IsError || len(raw) == 0 {
		return errors.Join(err, errors.New("want one tool and the weather of Oslo"))
	}
	if result, err = task.Wait(ctx); err != nil {
		return err
	}
	// docs:on
	remove := client.Handle(mcpclient.HandleResourceUpdated(func(_ context.Context, uri string) {
		slog.Info("changed", "uri", uri)
	}))
	defer remove()
	// docs:end
	return result.Err()
}

func laterOrMany(server, other transport.Transport) (*mcpclient.Client, *mcpclient.Group, error) {
	// docs:others
	client, err := mcpclient.New(server, nil) // returns at once, connects in the background
	group, err2 := mcpclient.NewGroup([]mcpclient.Member{{Name: "weather", Transport: other}}, nil)
	// docs:end
	return client, group, errors.Join(err, err2)
}

func features(ask mcpclient.ElicitationHandler) *mcpclient.Options {
	// docs:features
	o := &mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.HandleElicitation(ask),        // Handle: your function answers
		mcpclient.UseTasks(nil),                 // Use: the client does the work
		mcpclient.LogMessagesTo(slog.Default()), // a ready-made handler
	}}
	// docs:end
	return o
}

func waysToServe(s *mcpserver.Server, look, predict func(context.Context, Query) (Forecast, error),
	pass mcpserver.ToolHandler, whole any) error {
	// docs:serve
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "forecast"}, look)                          // a Go function and its types
	err2 := mcpserver.AddTool(s, &mcp.Tool{Name: "climate"}, predict, mcpserver.TaskTool()) // the same for hours of work
	err3 := s.AddTool(&mcp.Tool{Name: "legacy"}, pass)                                      // raw JSON and your own schema
	// docs:end
	if err = errors.Join(err, err2, err3); err != nil {
		return err
	}
	// docs:implement
	err = s.Implement(whole) // one value implements the methods that list and call all tools
	// docs:end
	return err
}

// library implements the resources of a server.
type library struct{}

func (library) ListResources(context.Context, *mcpserver.ListRequest) (*mcp.ListResourcesResult, error) {
	return &mcp.ListResourcesResult{}, nil
}

func (library) ReadResource(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return nil, mcpserver.ResourceNotFound(r.URI)
}

func TestEachAPIOfTheGuideWorks(t *testing.T) {
	look := func(ctx context.Context, in Query) (Forecast, error) { return lookup(ctx, in.City) }
	server := mcptest.NewServer(t, nil)
	err := errors.Join(
		mcpserver.AddTool(server.Server, &mcp.Tool{Name: "forecast"}, look),
		server.HandleRequest("acme/reindex", func(context.Context, *mcpserver.Request) (any, error) {
			return map[string]any{"done": true}, nil
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := waysToCall(t.Context(), server); err != nil {
		t.Error(err)
	}
	client, group, err := laterOrMany(server, server)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(client.WaitForReady(t.Context()), group.WaitForReady(t.Context())); err != nil {
		t.Error(err)
	}
	if err := errors.Join(client.Close(), group.Close()); err != nil {
		t.Error(err)
	}
	if client, err := mcpclient.New(server, features(nil)); err == nil {
		_ = client.Close()
		t.Error("a client accepts no handler")
	}
	pass := func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil }
	if err := waysToServe(mcptest.NewServer(t, nil).Server, look, look, pass, library{}); err != nil {
		t.Error(err)
	}
}
