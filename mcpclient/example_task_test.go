package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// printer is a server that takes its time to print: it answers the call of its tool with a task, of which it says at the
// first poll that it works, and at the second that it is done.
func printer() transport.Transport {
	state := func(resultType, status, more string) string {
		return fmt.Sprintf(`{"resultType":%q,"taskId":"job-7","status":%q,"createdAt":"2026-08-01T10:00:00Z",`+
			`"lastUpdatedAt":"2026-08-01T10:00:00Z","ttlMs":null,"pollIntervalMs":1%s}`, resultType, status, more)
	}
	return transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
		polls := 0
		answerEach(ctx, peer, func(method string) string {
			switch method {
			case mcp.MethodDiscover:
				return `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":` +
					`{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"ttlMs":0,"cacheScope":"private"}`
			case mcp.MethodCallTool:
				return state("task", "working", "")
			}
			if polls++; polls < 2 {
				return state("complete", "working", `,"statusMessage":"page 3 of 5"`)
			}
			return state("complete", "completed", `,"result":{"content":[{"type":"text","text":"5 pages printed"}]}`)
		})
	})
}

// answerEach answers each request with the result that there is for its method.
func answerEach(ctx context.Context, peer *transport.Peer, result func(method string) string) {
	for {
		raw, err := peer.Receive(ctx)
		if err != nil {
			return
		}
		var request struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal(raw, &request); err != nil {
			return
		}
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, result(request.Method))
		if peer.Send(ctx, []byte(answer)) != nil {
			return
		}
	}
}

// A call waits for the task that the server makes of it.
func ExampleUseTasks() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, printer(), &mcpclient.Options{
		Features: []mcpclient.Feature{mcpclient.UseTasks(nil)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Stop(ctx)

	result, err := client.CallTool(ctx, "print", nil, mcpclient.WithTaskStatus(func(t mcp.Task) {
		fmt.Printf("%s is %s %q\n", t.TaskID, t.Status, t.StatusMessage)
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// job-7 is working ""
	// job-7 is working "page 3 of 5"
	// job-7 is completed ""
	// 5 pages printed
}

// A task goes on without its client; whoever has its id waits for the result.
func ExampleClient_StartTool() {
	ctx := context.Background()
	options := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}}
	client, err := mcpclient.Connect(ctx, printer(), options)
	if err != nil {
		fmt.Println(err)
		return
	}
	task, err := client.StartTool(ctx, "print", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	id := task.ID() // to be kept where it survives the program
	fmt.Println(id, task.Status().Status)
	_ = client.Stop(ctx)

	client, err = mcpclient.Connect(ctx, printer(), options)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Stop(ctx)
	result, err := client.ResumeTask(id).Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// job-7 working
	// 5 pages printed
}
