package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

const (
	tasksMeta = versionMeta + `,"io.modelcontextprotocol/clientCapabilities":` +
		`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	tasksFilter = `"taskIds":[%s]`
)

// newTaskServer returns a server with task tools whose handlers use tasks in different ways.
func newTaskServer(t testing.TB, o mcpserver.Options) *mcpserver.Server {
	t.Helper()
	s := newServer(t, o)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "compute"}, sleep, mcpserver.TaskTool()))
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "later"}, later, mcpserver.TaskWhenAsked()))
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "patient"}, sleep, mcpserver.TaskAfter(10*time.Second)))
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "brief"}, sleep, mcpserver.TaskTTL(5*time.Second)))
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "forever"}, sleep, mcpserver.TaskTTL(-1)))
	must(mcpserver.AddTool(s, &mcp.Tool{
		Name: "strict", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskRequired},
	}, fail, mcpserver.TaskTool()))
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "talk"}, chatter, mcpserver.TaskTool()))
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "confirm"}, confirm, mcpserver.TaskTool()))
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "both"}, confirmBoth, mcpserver.TaskTool()))
	must(s.AddTool(&mcp.Tool{Name: "raw"}, echo, mcpserver.TaskTool()))
	return s
}

// later begins a task during the call, if the arguments ask for a task.
func later(ctx context.Context, in struct {
	Begin bool `json:"begin"`
}) (string, error) {
	time.Sleep(time.Second)
	if in.Begin {
		if err := mcpserver.RequestFrom(ctx).BeginTask(ctx); err != nil {
			return "", err
		}
	}
	time.Sleep(time.Second)
	return "task: " + fmt.Sprint(mcpserver.RequestFrom(ctx).TaskID() != ""), ctx.Err()
}

// chatter reports its progress and its status.
func chatter(ctx context.Context, in struct {
	Messages []string `json:"messages"`
	Pause    float64  `json:"pause,omitzero"`
}) (string, error) {
	request := mcpserver.RequestFrom(ctx)
	for i, m := range in.Messages {
		if err := request.TaskStatus(m); err != nil {
			return "", err
		}
		time.Sleep(time.Duration(in.Pause * float64(time.Second)))
		if err := request.Progress(ctx, float64(i+1), float64(len(in.Messages)), ""); err != nil {
			return "", err
		}
		time.Sleep(time.Duration(in.Pause * float64(time.Second)))
	}
	return "said", nil
}

func elicit(ctx context.Context, question string) (string, error) {
	params, _ := json.Marshal(&mcp.ElicitParams{Message: question})
	answers, err := mcpserver.AskInTask(ctx, mcp.InputRequests{"it": {Method: mcp.MethodElicit, Params: params}})
	if err != nil {
		return "", err
	}
	return string(answers["it"]), nil
}

// confirm asks two questions, the second after the answer to the first.
func confirm(ctx context.Context, in struct {
	Questions []string `json:"questions"`
}) (string, error) {
	var answers []string
	for _, q := range in.Questions {
		a, err := elicit(ctx, q)
		if err != nil {
			return "", err
		}
		answers = append(answers, q+a)
	}
	return strings.Join(answers, " "), nil
}

// confirmBoth asks two questions at the same time.
func confirmBoth(ctx context.Context, _ struct{}) (string, error) {
	var answers [2]string
	var errs [2]error
	var both sync.WaitGroup
	for i := range 2 {
		both.Go(func() { answers[i], errs[i] = elicit(ctx, fmt.Sprint("question ", i)) })
	}
	both.Wait()
	return strings.Join(answers[:], " "), errors.Join(errs[:]...)
}

// tasker is a client that supports tasks, on its own connection. It works in a bubble.
type tasker struct {
	*wire
	t      *testing.T
	server *mcpserver.Server
	last   int
}

// newTasker returns a client of a new server; both end with the test.
func newTasker(t *testing.T, o mcpserver.Options) *tasker {
	t.Helper()
	return newTaskerOf(t, newTaskServer(t, o))
}

func newTaskerOf(t *testing.T, s *mcpserver.Server) *tasker {
	t.Helper()
	return &tasker{wire: serve(t, t.Context(), s), t: t, server: s}
}

// end ends the connection. The server must end within d.
func (c *tasker) end(d time.Duration) error {
	c.t.Helper()
	if err := c.finish(); err != nil {
		c.t.Error(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return c.server.Shutdown(ctx)
}

// ask sends a request of a client that supports tasks, and returns the answer.
func (c *tasker) ask(method, params string) message {
	c.t.Helper()
	return c.askAs(tasksMeta, method, params)
}

func (c *tasker) askAs(meta, method, params string) message {
	c.t.Helper()
	c.last++
	c.send(asked(c.last, method, meta, params))
	return c.reply(c.t)
}

// taskView is the part of an answer that describes a task.
type taskView struct {
	mcp.GetTaskResult
	Result mcp.CallToolResult
	Error  *mcp.Error
}

// call calls a tool and returns the task that the call has become.
func (c *tasker) call(tool, arguments string) mcp.CreateTaskResult {
	c.t.Helper()
	m := c.ask("tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments))
	var r mcp.CreateTaskResult
	if m.Error != nil {
		c.t.Fatalf("the call of %s was refused: %v", tool, m.Error)
	}
	if _, err := mcp.Decode([]byte(m.Result), &r); err != nil || r.ResultType != mcp.ResultTask {
		c.t.Fatalf("the call of %s was answered with %s (%v), want a task", tool, m.Result, err)
	}
	return r
}

// get returns the current state of a task.
func (c *tasker) get(id string) taskView {
	c.t.Helper()
	m := c.ask("tasks/get", fmt.Sprintf(`"taskId":%q`, id))
	v := taskView{Error: m.Error}
	if m.Error != nil {
		return v
	}
	if _, err := mcp.Decode([]byte(m.Result), &v.GetTaskResult); err != nil {
		c.t.Fatalf("tasks/get was answered with %s: %v", m.Result, err)
	}
	if v.ResultType != mcp.ResultComplete {
		c.t.Errorf("tasks/get: want a result of the type %q, got %q", mcp.ResultComplete, v.ResultType)
	}
	v.Error = v.DetailedTask.Error
	if v.Payload != nil {
		if _, err := mcp.Decode(v.Payload, &v.Result); err != nil {
			c.t.Fatalf("the result of the task is %s: %v", v.Payload, err)
		}
	}
	return v
}

// is checks the status of a task and returns the task.
func (c *tasker) is(id string, want mcp.TaskStatus) taskView {
	c.t.Helper()
	v := c.get(id)
	if v.Status != want {
		c.t.Errorf("the status of the task: want %q, got %q, %+v", want, v.Status, v.Error)
	}
	return v
}

// acknowledged checks that an answer is an empty result.
func (c *tasker) acknowledged(m message) {
	c.t.Helper()
	want := `{"_meta":{"io.modelcontextprotocol/serverInfo"`
	if m.Error != nil || !strings.HasPrefix(string(m.Result), want) ||
		!strings.HasSuffix(string(m.Result), `}},"resultType":"complete"}`) {
		c.t.Errorf("want an empty result, got %s, error %v", m.Result, m.Error)
	}
}

func (c *tasker) cancel(id string) {
	c.t.Helper()
	c.acknowledged(c.ask("tasks/cancel", fmt.Sprintf(`"taskId":%q`, id)))
}

func (c *tasker) respond(id, responses string) {
	c.t.Helper()
	c.acknowledged(c.ask("tasks/update", fmt.Sprintf(`"taskId":%q,"inputResponses":%s`, id, responses)))
}

// inBubble runs a test with a client of a new server. At the end, the server must be idle.
func inBubble(t *testing.T, o mcpserver.Options, test func(t *testing.T, c *tasker)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newTasker(t, o)
		defer func() {
			if err := c.end(time.Minute); err != nil {
				t.Errorf("Shutdown returned %v, want nil", err)
			}
		}()
		test(t, c)
	})
}
