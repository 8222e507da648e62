package mcpclient_test

import (
	"context"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// binder is a server of 2025-11-25 with a tool that has to be called as a task.
func binder() transport.Transport {
	const state = `{"taskId":"job-8","status":%q,"createdAt":"2026-08-01T10:00:00Z","lastUpdatedAt":"2026-08-01T10:00:00Z","ttl":null,"pollInterval":1}`
	return transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
		answerEach(ctx, peer, func(method string) string {
			switch method {
			case mcp.MethodInitialize:
				return `{"protocolVersion":"2025-11-25","serverInfo":{"name":"binder","version":"1"},"capabilities":` +
					`{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}}`
			case mcp.MethodListTools:
				return `{"tools":[{"name":"bind","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`
			case mcp.MethodCallTool:
				return `{"task":` + fmt.Sprintf(state, "working") + `}`
			case mcp.MethodListTasks:
				return `{"tasks":[` + fmt.Sprintf(state, "working") + `]}`
			case mcp.MethodTaskResult:
				return `{"content":[{"type":"text","text":"1 book bound"}]}`
			}
			return fmt.Sprintf(state, "completed")
		})
	})
}

// The tasks that a server of 2025-11-25 keeps are listed, and one is waited for.
func ExampleClient_LegacyTasks() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, binder(), &mcpclient.Options{
		Features: []mcpclient.Feature{mcpclient.UseTasks(nil)},
		Versions: []mcp.Version{mcp.Version20251125},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Stop(ctx)

	if _, err := client.StartTool(ctx, "bind", nil); err != nil {
		fmt.Println(err)
		return
	}
	for task, err := range client.LegacyTasks(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(task.TaskID, task.Status)
		result, err := client.ResumeTask(task.TaskID).Wait(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(result.Text())
	}
	// Output:
	// job-8 working
	// 1 book bound
}
