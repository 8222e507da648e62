package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// newLegacyTaskServer returns a task server with additional tools that ask or notify their client, with or without a
// task.
func newLegacyTaskServer(t testing.TB, o mcpserver.Options) *mcpserver.Server {
	t.Helper()
	o.Logging = true
	s := newTaskServer(t, o)
	for _, err := range []error{
		mcpserver.AddTool(s, &mcp.Tool{Name: "interview"}, interview, mcpserver.TaskTool()),
		mcpserver.AddTool(s, &mcp.Tool{Name: "survey"}, survey, mcpserver.TaskTool()),
		mcpserver.AddTool(s, &mcp.Tool{Name: "dig"}, dig, mcpserver.TaskTool()),
		mcpserver.AddTool(s, &mcp.Tool{Name: "visit"}, func(context.Context, struct{}) (string, error) {
			return "", mcpserver.URLElicitationRequired("pay first",
				&mcp.ElicitParams{Message: "pay", URL: "https://example.com/pay", ElicitationID: "e1"})
		}, mcpserver.TaskTool()),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// interview asks several questions, one after the other.
func interview(ctx context.Context, _ struct{}) (string, error) {
	said, err := mcpserver.RequestFrom(ctx).Elicit(ctx,
		&mcp.ElicitParams{Message: "Who are you?", RequestedSchema: nameForm})
	if err != nil {
		return "", err
	}
	roots, err := mcpserver.RequestFrom(ctx).ListRoots(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(said.Content["name"], " at ", roots[0].URI), nil
}

// survey asks two questions at once.
func survey(ctx context.Context, _ struct{}) (string, error) {
	var said mcp.ElicitResult
	var roots mcp.ListRootsResult
	err := mcpserver.RequestFrom(ctx).AskAll(ctx, mcpserver.AskElicit("",
		&mcp.ElicitParams{Message: "Who are you?", RequestedSchema: nameForm}, &said),
		mcpserver.AskListRoots("", &roots))
	if refused, ok := errors.AsType[*mcpserver.ClientError](err); ok {
		return fmt.Sprint("refused: ", refused.Code, " ", refused.Message), nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprint(said.Action, " ", len(roots.Roots)), nil
}

// dig reports its progress in every way that a handler can use.
func dig(ctx context.Context, _ struct{}) (string, error) {
	r := mcpserver.RequestFrom(ctx)
	for i := range 3 {
		if err := r.Progress(ctx, float64(i+1), 3, "digging"); err != nil {
			return "", err
		}
		if err := r.Log(ctx, mcp.LevelInfo, "dig", i); err != nil {
			return "", err
		}
		time.Sleep(time.Second)
	}
	return "a hole", nil
}

// A task asks several questions at once. The first refusal ends the other questions.
func TestLegacyTaskSendsSeveralRequestsAtOnce(t *testing.T) {
	for refuse, want := range map[bool]string{false: "cancel 0", true: "refused: -1 no"} {
		inLegacyBubble(t, func(t *testing.T, c *talk) {
			id := c.begin("survey", "")
			c.send(c.request("tasks/result", about(id)))
			asked := map[string]any{}
			for _, frame := range c.news() {
				m := decoded(t, frame)
				if !strings.Contains(frame, fmt.Sprintf(`"io.modelcontextprotocol/related-task":{"taskId":%q}`, id)) {
					t.Errorf("the request %s does not name its task", frame)
				}
				asked[m.Method] = m.ID
			}
			if len(asked) != 2 {
				t.Fatalf("the task asks %v, want two things at once", asked)
			}
			if refuse {
				c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"error":{"code":-1,"message":"no"}}`, asked[mcp.MethodListRoots]))
			} else {
				c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"roots":[]}}`, asked[mcp.MethodListRoots]))
			}
			if more := c.news(); len(more) > 0 {
				t.Errorf("before all is answered the server sent %q, want nothing", more)
			}
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"action":"cancel"}}`, asked[mcp.MethodElicit]))
			if got := c.news(); len(got) != 1 || !strings.Contains(got[0], want) {
				t.Errorf("the result is %q, want a text with %q", got, want)
			}
		})
	}
}

// inLegacyBubble runs a test with a client of 2025-11-25 that can be asked, on a connection to a new server.
func inLegacyBubble(t *testing.T, test func(t *testing.T, c *talk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newLegacyTaskServer(t, mcpserver.Options{})
		c := speakAble(t, s)
		test(t, c)
		if err := c.finish(); err != nil {
			t.Error(err)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Errorf("Shutdown returned %v, want nil", err)
		}
	})
}

const ableClient = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{"elicitation":{},"roots":{}},"clientInfo":{"name":"c","version":"1"}}}`

// speakAble connects a client of 2025-11-25 that can be asked.
func speakAble(t *testing.T, s *mcpserver.Server) *talk {
	t.Helper()
	c := &talk{wire: serve(t, t.Context(), s), t: t, version: mcp.Version20251125}
	c.send(ableClient, initialized)
	c.taken()
	return c
}

// begin calls a tool as a task, with additional members of params, and returns the task's id.
func (c *talk) begin(tool, more string) string {
	c.t.Helper()
	c.send(c.request("tools/call", fmt.Sprintf(`"name":%q,"arguments":{},"task":{}%s`, tool, more)))
	for _, frame := range c.news() {
		var r mcp.LegacyCreateTaskResult
		if m := decoded(c.t, frame); m.Result != nil {
			if _, err := mcp.Decode(m.Result, &r); err != nil {
				c.t.Fatalf("the call of %s was answered with %s, want a task: %v", tool, frame, err)
			}
			return r.Task.TaskID
		}
	}
	c.t.Fatalf("the call of %s has created no task", tool)
	return ""
}

// news returns the messages that the server has sent, except for the states of tasks.
func (c *talk) news() []string {
	return slices.DeleteFunc(c.taken(),
		func(f string) bool { return strings.Contains(f, mcp.NotificationLegacyTaskStatus) })
}

// about are the params of a request about a task.
func about(id string) string { return fmt.Sprintf(`"taskId":%q`, id) }

// outcome requests the result of a task that has ended.
func (c *talk) outcome(id string) string {
	c.t.Helper()
	c.send(c.request("tasks/result", about(id)))
	out := c.news()
	if len(out) != 1 {
		c.t.Fatalf("tasks/result got %q, want one answer", out)
	}
	return out[0]
}

// A task asks its client in the process in which the client waits for the result. That may be another process that
// shares the tasks.
func TestLegacyTaskSendsRequestsThroughAnyProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := mcpserver.Options{Tasks: &mcpserver.TaskOptions{Store: store.NewMemoryTasks(0, 0)}}
		one, other := newLegacyTaskServer(t, o), newLegacyTaskServer(t, o)
		first := speakAble(t, one)
		id := first.begin("interview", "")
		if err := first.finish(); err != nil {
			t.Error(err)
		}
		second := speakAble(t, other)
		second.send(second.request("tasks/result", about(id)))
		if asked := second.news(); len(asked) != 1 || !strings.Contains(asked[0], "Who are you?") {
			t.Fatalf("the server sent %q, want the question", asked)
		}
		second.send(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"name":"Ada"}}}`)
		if asked := second.news(); len(asked) != 1 || !strings.Contains(asked[0], mcp.MethodListRoots) {
			t.Fatalf("the server sent %q, want the next question", asked)
		}
		second.send(`{"jsonrpc":"2.0","id":2,"result":{"roots":7}}`)
		if got := second.news(); len(got) != 1 || !strings.Contains(got[0], `"isError":true`) {
			t.Errorf("the result is %q, want the error that the answer is broken", got)
		}
		if got := second.outcome(id); !strings.Contains(got, "roots") {
			t.Errorf("the result is %s, want the error in the answer", got)
		}
		if err := second.finish(); err != nil {
			t.Error(err)
		}
		for _, s := range []*mcpserver.Server{one, other} {
			if err := s.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

// Requests for one kind of tasks do not find tasks of the other kind.
func TestLegacyAndModernTasksAreIsolated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLegacyTaskServer(t, mcpserver.Options{})
		old, modern := speakAble(t, s), newTaskerOf(t, s)
		id := old.begin("dig", "")
		for _, method := range []string{"tasks/get", "tasks/cancel"} {
			if m := modern.ask(method, about(id)); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams {
				t.Errorf("%s of a modern client got %+v, want the task unknown", method, m)
			}
		}
		id = modern.call("compute", `{"seconds":1}`).TaskID
		for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/result"} {
			if m := old.refused(method, about(id)); !strings.Contains(m, "unknown task") {
				t.Errorf("%s of a legacy client got %s, want the task unknown", method, m)
			}
		}
		if err := old.finish(); err != nil {
			t.Error(err)
		}
		if err := modern.end(time.Minute); err != nil {
			t.Error(err)
		}
	})
}

// A client gets no tasks, even on request, if the server did not declare tasks to this client.
func TestSessionOpenedBeforeTaskToolsHasNoTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, mcpserver.Options{})
		c := speakAble(t, s)
		if err := mcpserver.AddTool(s, &mcp.Tool{Name: "compute"}, sleep, mcpserver.TaskTool()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		c.taken()
		for _, tool := range []string{`"name":"compute","arguments":{"seconds":0}`,
			`"name":"greet","arguments":{"name":"x"}`} {
			if r := c.result("tools/call", tool+`,"task":{}`); !strings.Contains(r, `"content"`) {
				t.Errorf("the call was answered with %s, want its result", r)
			}
		}
		if got := c.refused("tasks/get", `"taskId":"x"`); !strings.HasPrefix(got, "-32601") {
			t.Errorf("tasks/get was refused with %s, want -32601", got)
		}
		c.bye()
	})
}

// A task that the client has cancelled stays cancelled, whatever its handler returns afterwards.
func TestCancelledLegacyTaskStaysCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLegacyTaskServer(t, mcpserver.Options{})
		for name, err := range map[string]error{"result": nil, "error": errors.New("what now?")} {
			stubborn := func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				time.Sleep(time.Second)
				return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text("half of it")}}, err
			}
			must(t, s.AddTool(&mcp.Tool{Name: name}, stubborn, mcpserver.TaskTool()))
		}
		c := speakAble(t, s)
		for _, name := range []string{"result", "error"} {
			id := c.begin(name, "")
			c.send(c.request("tasks/cancel", about(id)))
			first := c.news()
			time.Sleep(2 * time.Second) // in this time, the handler returns
			c.send(c.request("tasks/get", about(id)))
			for _, got := range [][]string{first, c.news()} {
				if len(got) != 1 || !strings.Contains(got[0], `"status":"cancelled"`) {
					t.Errorf("the server sent %q, want the task cancelled", got)
				}
			}
			if got := c.outcome(id); strings.Contains(got, "half of it") {
				t.Errorf("the result of the task is %s, want none", got)
			}
		}
		c.bye()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// RequestTimeout does not apply to the wait for a task.
func TestWaitingForALegacyTaskHasNoTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLegacyTaskServer(t, mcpserver.Options{RequestTimeout: time.Second})
		c := speakAble(t, s)
		id := c.begin("dig", "")
		c.send(c.request("tasks/result", about(id)))
		time.Sleep(5 * time.Second)
		if got := c.news(); len(got) != 3 || !strings.Contains(got[2], "a hole") {
			t.Errorf("the server sent %q, want two more log messages and the result", got)
		}
		c.bye()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A client that waits for a task gets an error when the task's TTL has passed.
func TestWaitForLegacyTaskFailsAfterTTL(t *testing.T) {
	inLegacyBubble(t, func(t *testing.T, c *talk) {
		c.send(c.request("tools/call", `"name":"compute","arguments":{"seconds":60},"task":{"ttl":5000}`))
		var r mcp.LegacyCreateTaskResult
		if _, err := mcp.Decode(c.reply(t).Result, &r); err != nil {
			t.Fatal(err)
		}
		c.send(c.request("tasks/result", about(r.Task.TaskID)))
		time.Sleep(5100 * time.Millisecond)
		if m := c.reply(t); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams {
			t.Errorf("tasks/result got %+v, want the task unknown", m)
		}
		time.Sleep(time.Minute)
	})
}
