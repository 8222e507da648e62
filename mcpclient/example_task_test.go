package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// printer is a server with a slow tool: it prints three of five pages, and then waits for paper.
func printer(paper <-chan struct{}) transport.Transport {
	s := mcpserver.New(mcp.Implementation{Name: "printer", Version: "1.0"}, &mcpserver.Options{
		Tasks: &mcpserver.TaskOptions{PollInterval: 100 * time.Millisecond},
	})
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "print"}, func(ctx context.Context, _ struct{}) (string, error) {
		if err := mcpserver.RequestFrom(ctx).TaskStatus("page 3 of 5: out of paper"); err != nil {
			return "", err
		}
		select {
		case <-paper:
			return "5 pages printed", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}, mcpserver.TaskTool())
	if err != nil {
		panic(err)
	}
	return inMemory(s)
}

// If the server turns a call into a task, the call waits for the task.
func ExampleUseTasks() {
	ctx := context.Background()
	paper := make(chan struct{})
	client, err := mcpclient.Connect(ctx, printer(paper), &mcpclient.Options{
		Features: []mcpclient.Feature{mcpclient.UseTasks(nil)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	var refill sync.Once
	result, err := client.CallTool(ctx, "print", nil, mcpclient.WithTaskStatus(func(t mcp.Task) {
		if t.Status == mcp.TaskWorking && t.StatusMessage != "" {
			refill.Do(func() {
				fmt.Println(t.Status, t.StatusMessage)
				close(paper)
			})
		}
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// working page 3 of 5: out of paper
	// 5 pages printed
}

// A task continues without its client: another process that has the task's ID can wait for the result.
func ExampleClient_StartTool() {
	ctx := context.Background()
	paper := make(chan struct{})
	server := printer(paper)
	options := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}}
	client, err := mcpclient.Connect(ctx, server, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	task, err := client.StartTool(ctx, "print", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(task.Status().Status)
	id := task.ID() // store it where it survives the program
	_ = client.Close()

	close(paper)

	client, err = mcpclient.Connect(ctx, server, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	result, err := client.ResumeTask(id).Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// working
	// 5 pages printed
}

func ExampleTask_Cancel() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, printer(nil), &mcpclient.Options{
		Features: []mcpclient.Feature{mcpclient.UseTasks(nil)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	task, err := client.StartTool(ctx, "print", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := task.Cancel(ctx); err != nil {
		fmt.Println(err)
		return
	}
	_, err = task.Wait(ctx)
	fmt.Println("cancelled:", errors.Is(err, mcpclient.ErrTaskCancelled))
	// Output: cancelled: true
}
