package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// binder is a server of 2025-11-25 with a tool that must be called as a task.
func binder() transport.Transport {
	const state = `{"taskId":"job-8","status":%q,"createdAt":"2026-08-01T10:00:00Z",` +
		`"lastUpdatedAt":"2026-08-01T10:00:00Z","ttl":null,"pollInterval":1}`
	return transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
		results := map[string]string{
			mcp.MethodInitialize: `{"protocolVersion":"2025-11-25","serverInfo":{"name":"binder","version":"1"},` +
				`"capabilities":{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}}`,
			mcp.MethodListTools: `{"tools":[{"name":"bind","inputSchema":{"type":"object"},` +
				`"execution":{"taskSupport":"required"}}]}`,
			mcp.MethodCallTool:   `{"task":` + fmt.Sprintf(state, "working") + `}`,
			mcp.MethodListTasks:  `{"tasks":[` + fmt.Sprintf(state, "working") + `]}`,
			mcp.MethodGetTask:    fmt.Sprintf(state, "completed"),
			mcp.MethodTaskResult: `{"content":[{"type":"text","text":"1 book bound"}]}`,
		}
		for {
			raw, err := peer.Receive(ctx)
			if err != nil {
				return
			}
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if json.Unmarshal(raw, &m) != nil || m.ID == nil {
				continue // a notification
			}
			if peer.Send(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, results[m.Method])) != nil {
				return
			}
		}
	})
}

// The example lists the tasks that a server of 2025-11-25 stores, and waits for one of them.
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
	defer client.Close()

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
