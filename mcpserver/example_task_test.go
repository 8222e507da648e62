package mcpserver_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// Report holds the arguments of the tool in the examples of tasks.
type Report struct {
	Year int `json:"year"`
}

// withTasks returns the options of a client that supports tasks.
func withTasks() *mcpclient.Options {
	return &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}}
}

func ExampleTaskTool() {
	s := mcpserver.New(mcp.Implementation{Name: "reports", Version: "1.0"}, &mcpserver.Options{
		Tasks: &mcpserver.TaskOptions{PollInterval: 100 * time.Millisecond},
	})
	figures := make(chan string)
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "report"}, func(ctx context.Context, in Report) (string, error) {
		select {
		case total := <-figures: // arrives after some hours
			return fmt.Sprintf("the total of %d is %s", in.Year, total), nil
		case <-ctx.Done(): // the client has cancelled the task, or the task has expired
			return "", ctx.Err()
		}
	}, mcpserver.TaskTool())
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	client := clientOf(s, withTasks())
	defer client.Close()

	task, err := client.StartTool(ctx, "report", Report{Year: 2025})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(task.Status().Status)

	figures <- "12,000"
	result, err := task.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text())

	if err := s.Shutdown(ctx); err != nil { // waits for running tasks
		log.Fatal(err)
	}
	// Output:
	// working
	// the total of 2025 is 12,000
}

func ExampleTaskWhenAsked() {
	s := mcpserver.New(mcp.Implementation{Name: "reports", Version: "1.0"}, nil)
	archive := map[int]string{2024: "the report of 2024"}
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "report"}, func(ctx context.Context, in Report) (string, error) {
		if report, ok := archive[in.Year]; ok {
			return report, nil // without a task
		}
		if err := mcpserver.RequestFrom(ctx).BeginTask(ctx); err != nil {
			return "", err
		}
		return fmt.Sprintf("the report of %d, after a while", in.Year), nil
	}, mcpserver.TaskWhenAsked())
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	client := clientOf(s, withTasks())
	defer client.Close()

	for _, year := range []int{2024, 2025} {
		call, err := client.StartTool(ctx, "report", Report{Year: year})
		if err != nil {
			log.Fatal(err)
		}
		result, err := call.Wait(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("task:", call.ID() != "", result.Text())
	}
	// Output:
	// task: false the report of 2024
	// task: true the report of 2025, after a while
}

// Servers that share a store can answer requests for each other's tasks: replicas behind a load balancer, or one server
// before and after a restart.
func ExampleTaskOptions() {
	store := store.NewMemoryTasks(0, 0) // a program with several processes needs a shared store
	server := func() *mcpserver.Server {
		s := mcpserver.New(mcp.Implementation{Name: "reports", Version: "1.0"}, &mcpserver.Options{
			Tasks: &mcpserver.TaskOptions{Store: store, TTL: time.Hour, PollInterval: 100 * time.Millisecond},
		})
		err := mcpserver.AddTool(s, &mcp.Tool{Name: "report"}, func(_ context.Context, in Report) (string, error) {
			return fmt.Sprintf("the report of %d", in.Year), nil
		}, mcpserver.TaskTool())
		if err != nil {
			log.Fatal(err)
		}
		return s
	}
	ctx := context.Background()
	one, other := clientOf(server(), withTasks()), clientOf(server(), withTasks())
	defer one.Close()
	defer other.Close()

	task, err := one.StartTool(ctx, "report", Report{Year: 2025})
	if err != nil {
		log.Fatal(err)
	}
	result, err := other.ResumeTask(task.ID()).Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text())
	// Output: the report of 2025
}
