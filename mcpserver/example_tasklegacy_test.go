package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// A task tool also serves clients of 2025-11-25. Such a client requests a task with the call. It gets the questions of
// the handler while it waits for the result.
func ExampleTaskTool_legacy() {
	s := mcpserver.New(mcp.Implementation{Name: "reports", Version: "1.0"}, nil)
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "report"}, func(ctx context.Context, in Report) (string, error) {
		answer, err := mcpserver.RequestFrom(ctx).Elicit(ctx, &mcp.ElicitParams{
			Message:         "Who wants to know?",
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
		})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("the report of %d for %v", in.Year, answer.Content["name"]), nil
	}, mcpserver.TaskTool())
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx,
		transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) }),
		&mcpclient.Options{
			Versions: []mcp.Version{mcp.Version20251125},
			Features: []mcpclient.Feature{
				mcpclient.HandleElicitation(func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					fmt.Println(p.Message)
					return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"name": "Ada"}}, nil
				}),
			},
		})
	if err != nil {
		log.Fatal(err)
	}
	call := &mcp.CallToolParams{Name: "report", Arguments: Report{Year: 2025},
		Task: &mcp.TaskMetadata{TTL: new(int64(60_000))}}
	var created mcp.LegacyCreateTaskResult
	if err := client.Call(ctx, mcp.MethodCallTool, call, &created); err != nil {
		log.Fatal(err)
	}
	fmt.Println(created.Task.Status, *created.Task.TTL)

	var result mcp.CallToolResult
	if err := client.Call(ctx, mcp.MethodTaskResult, &mcp.TaskParams{TaskID: created.Task.TaskID}, &result); err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text())
	if err := client.Close(); err != nil {
		log.Fatal(err)
	}
	if err := s.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// working 60000
	// Who wants to know?
	// the report of 2025 for Ada
}
