package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Report is what the tool of the examples of tasks takes.
type Report struct {
	Year int `json:"year"`
}

func ExampleAddTaskTool() {
	s := mcpserver.New(mcp.Implementation{Name: "reports", Version: "1.0"}, nil)
	figures := make(chan string)
	err := mcpserver.AddTaskTool(s, &mcp.Tool{Name: "report"}, func(ctx context.Context, in Report) (string, error) {
		select {
		case total := <-figures: // which take hours to come
			return fmt.Sprintf("the total of %d is %s", in.Year, total), nil
		case <-ctx.Done(): // the client has cancelled the task, or its time is up
			return "", ctx.Err()
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	created := askModern(s, `"method":"tools/call","params":{"name":"report","arguments":{"year":2025}`)
	fmt.Println(created.ResultType, created.Status)

	about := fmt.Sprintf(`"params":{"taskId":%q`, created.TaskID)
	fmt.Println(askModern(s, `"method":"tasks/get",`+about).Status)

	figures <- "12,000"
	if err := s.Shutdown(context.Background()); err != nil { // which waits for what still runs
		log.Fatal(err)
	}
	task := askModern(s, `"method":"tasks/get",`+about)
	fmt.Println(task.Status, task.Outcome.Text())
	// Output:
	// task working
	// working
	// completed the total of 2025 is 12,000
}

func ExampleTaskWhenAsked() {
	s := mcpserver.New(mcp.Implementation{Name: "reports", Version: "1.0"}, nil)
	archive := map[int]string{2024: "the report of 2024"}
	err := mcpserver.AddTaskTool(s, &mcp.Tool{Name: "report"}, func(ctx context.Context, in Report) (string, error) {
		if report, ok := archive[in.Year]; ok {
			return report, nil // at once
		}
		if err := mcpserver.RequestFrom(ctx).BeginTask(ctx); err != nil {
			return "", err
		}
		return fmt.Sprintf("the report of %d, after a while", in.Year), nil
	}, mcpserver.TaskWhenAsked())
	if err != nil {
		log.Fatal(err)
	}
	for _, year := range []int{2024, 2025} {
		answer := askModern(s, fmt.Sprintf(`"method":"tools/call","params":{"name":"report","arguments":{"year":%d}`, year))
		fmt.Println(year, answer.ResultType)
	}
	if err := s.Shutdown(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 2024 complete
	// 2025 task
}

// answer is what the examples look at in an answer.
type answer struct {
	ResultType string             `json:"resultType"`
	TaskID     string             `json:"taskId"`
	Status     string             `json:"status"`
	Outcome    mcp.CallToolResult `json:"result"`
}

// askModern sends one request of a client that knows tasks, on a connection of its own. What is given of it ends within
// params.
func askModern(s *mcpserver.Server, request string) answer {
	const meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	in := io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0","id":1,` + request + meta + "}}\n"))
	var out recorded
	if err := s.Serve(context.Background(), mcpserver.NewStreamConn(in, &out, 0)); err != nil {
		log.Fatal(err)
	}
	var response struct {
		Result answer     `json:"result"`
		Error  *mcp.Error `json:"error"`
	}
	if err := json.Unmarshal(out.Bytes(), &response); err != nil || response.Error != nil {
		log.Fatal(err, response.Error)
	}
	return response.Result
}

// recorded keeps what is written to it.
type recorded struct{ bytes.Buffer }

func (*recorded) Close() error { return nil }
