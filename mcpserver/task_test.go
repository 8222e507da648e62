package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

func TestACallBecomesATask(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		start := time.Now()
		m := c.ask("tools/call", `"name":"compute","arguments":{"seconds":60}`)
		if took := time.Since(start); took > 0 {
			t.Errorf("the call was answered after %v, want at once", took)
		}
		var members map[string]any
		if err := json.Unmarshal(m.Result, &members); err != nil {
			t.Fatal(err)
		}
		id, _ := members["taskId"].(string)
		want := map[string]any{
			"resultType": "task", "status": "working", "taskId": id, "ttlMs": 3600000.0, "pollIntervalMs": 1000.0,
			"createdAt": "2000-01-01T00:00:00.000Z", "lastUpdatedAt": "2000-01-01T00:00:00.000Z",
		}
		delete(members, "_meta")
		if fmt.Sprint(members) != fmt.Sprint(want) || len(id) < 26 {
			t.Errorf("the call was answered with %v, want %v", members, want)
		}
		if v := c.is(id, mcp.TaskWorking); v.Payload != nil || v.InputRequests != nil || v.Error != nil {
			t.Errorf("a task that works is %+v, want it without an outcome", v)
		}
		time.Sleep(61 * time.Second)
		v := c.is(id, mcp.TaskCompleted)
		if v.Result.Text() != "awake" || v.Result.ResultType != mcp.ResultComplete ||
			v.LastUpdatedAt != "2000-01-01T00:01:00.000Z" {
			t.Errorf("the task that is completed is %+v, want the result of the tool", v)
		}
		if strings.Contains(string(v.Payload), "related-task") {
			t.Errorf("the result is %s, want none of another protocol", v.Payload)
		}
		if other := c.call("compute", `{"seconds":0}`); other.TaskID == id {
			t.Errorf("two tasks have the id %s, want each its own", id)
		}
	})
}

func TestTaskOutcomeMatchesCallOutcome(t *testing.T) {
	for _, test := range []struct {
		tool, arguments string
		status          mcp.TaskStatus
		text            string
		isError         bool
		code            int64
	}{
		{"compute", `{"seconds":0}`, mcp.TaskCompleted, "awake", false, 0},
		{"raw", `{"x":1}`, mcp.TaskCompleted, "raw", false, 0},
		{"strict", `{"how":""}`, mcp.TaskCompleted, "", false, 0},
		{"strict", `{"how":"error"}`, mcp.TaskCompleted, "no such city", true, 0},
		{"strict", `{"how":"refuse"}`, mcp.TaskFailed, "", false, -100},
		{"strict", `{"how":"panic"}`, mcp.TaskFailed, "", false, mcp.CodeInternalError},
		{"strict", `{"how":"structured"}`, mcp.TaskFailed, "", false, mcp.CodeInternalError},
	} {
		t.Run(test.tool+test.arguments, func(t *testing.T) {
			inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
				v := c.is(c.call(test.tool, test.arguments).TaskID, test.status)
				if v.Result.Text() != test.text || v.Result.IsError != test.isError || (v.Error != nil) != (test.code != 0) {
					t.Errorf("the task: want text %q, isError %v, code %d; got %+v", test.text, test.isError, test.code, v)
				}
				if e := v.Error; e != nil &&
					(e.Code != test.code || v.StatusMessage != e.Message || strings.Contains(e.Message, "secret")) {
					t.Errorf("the error of the task: want code %d and its message as the status, got %+v, %q", test.code, e,
						v.StatusMessage)
				}
			})
		})
	}
}

func TestInvalidArgumentsCreateNoTask(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		m := c.ask("tools/call", `"name":"compute","arguments":{"seconds":"many"}`)
		if !strings.Contains(string(m.Result), `"resultType":"complete"`) ||
			!strings.Contains(string(m.Result), `"isError":true`) {
			t.Errorf("got %s, want a result with the reason", m.Result)
		}
	})
}

func TestTasksRequireClientCapability(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		if m := c.askAs(bothMetas, "tools/call",
			`"name":"compute","arguments":{"seconds":0}`); !strings.Contains(string(m.Result), "awake") {
			t.Errorf("a client that does not know tasks got %s, want the result", m.Result)
		}
		for method, params := range map[string]string{
			"tools/call": `"name":"strict","arguments":{"how":"error"}`, "tasks/get": `"taskId":"x"`,
			"tasks/cancel":         `"taskId":"x"`,
			"tasks/update":         `"taskId":"x","inputResponses":{}`,
			"subscriptions/listen": `"notifications":{"taskIds":["x"]}`,
		} {
			m := c.askAs(bothMetas, method, params)
			if m.Error == nil || m.Error.Code != mcp.CodeMissingClientCapability ||
				string(m.Error.Data) != `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}` {
				t.Errorf("%s of a client that does not know tasks got %+v, want the capability named", method, m.Error)
			}
		}
		if m := c.askAs(bothMetas, "tools/call",
			`"name":"compute","arguments":{"seconds":0},"task":{"ttl":60000}`); !strings.Contains(string(m.Result), "awake") {
			t.Errorf("a call with the task of another revision got %s, want the result", m.Result)
		}
		for _, method := range []string{"tasks/result", "tasks/list"} {
			if m := c.ask(method, `"taskId":"x"`); m.Error == nil || m.Error.Code != mcp.CodeMethodNotFound {
				t.Errorf("%s got %+v, want it unknown", method, m.Error)
			}
		}
	})
}

func TestTasksAreDeclaredIfEnabled(t *testing.T) {
	const tasks = `"extensions":{"io.modelcontextprotocol/tasks":{}}`
	extended := mcp.ServerCapabilities{Extensions: map[string]mcp.Object{"x/y": mcp.Object("{}")}}
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			server *mcpserver.Server
			want   bool
		}{
			"task tools":  {newTaskServer(t, mcpserver.Options{}), true},
			"options":     {newServer(t, mcpserver.Options{Tasks: &mcpserver.TaskOptions{}}), true},
			"neither":     {newServer(t, mcpserver.Options{}), false},
			"a setting":   {newTaskServer(t, mcpserver.Options{Capabilities: extended}), true},
			"old clients": {newTaskServer(t, mcpserver.Options{Versions: []mcp.Version{mcp.Version20250618}}), false},
		} {
			w := serve(t, t.Context(), test.server)
			if name == "old clients" {
				w.send(initializeAs("2025-06-18"))
			} else {
				w.send(asked(1, "server/discover", bothMetas, ""))
			}
			m := w.reply(t)
			got := strings.Contains(string(m.Result), `"io.modelcontextprotocol/tasks":{}`)
			if got != test.want || strings.Contains(string(m.Result), `"tasks":{"`) {
				t.Errorf("%s: the server declares %s, want %s among it: %v", name, m.Result, tasks, test.want)
			}
			if err := w.finish(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestLegacyClientsGetResultsWithoutTasks(t *testing.T) {
	for _, version := range mcp.SupportedVersions() {
		if version.Era() != mcp.Legacy {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			s := newTaskServer(t, mcpserver.Options{})
			w := serve(t, t.Context(), s)
			w.send(initializeAs(string(version)))
			w.reply(t)
			w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"compute","arguments":{"seconds":5}}}`)
			time.Sleep(6 * time.Second)
			if m := w.reply(t); !strings.Contains(string(m.Result), "awake") {
				t.Errorf("%s: the call got %+v, want its result", version, m)
			}
			w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"strict","arguments":{"how":"error"}}}`)
			if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeMethodNotFound {
				t.Errorf("%s: a tool that runs as a task only got %+v, want it refused", version, m)
			}
			w.send(`{"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{"taskId":"x"}}`)
			want := int64(mcp.CodeMethodNotFound)
			if version == mcp.Version20251125 {
				want = mcp.CodeInvalidParams
			}
			if m := w.reply(t); m.Error == nil || m.Error.Code != want {
				t.Errorf("%s: tasks/get got %+v, want it refused with %d", version, m, want)
			}
			if err := w.finish(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestUnknownTasksAreRefused(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		for _, params := range []string{`"taskId":"nobody"`, `"taskId":""`, `"taskId":7`, ``} {
			for method, more := range map[string]string{"tasks/get": "", "tasks/cancel": "",
				"tasks/update": `"inputResponses":{}`} {
				if more != "" && params != "" {
					more = "," + more
				}
				if m := c.ask(method, params+more); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams {
					t.Errorf("%s with %s got %+v, want it refused with %d", method, params, m, mcp.CodeInvalidParams)
				}
			}
		}
		if m := c.ask("tasks/update", `"taskId":"nobody"`); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams {
			t.Errorf("tasks/update without responses got %+v, want it refused", m)
		}
	})
}

func TestATaskMayBeCancelled(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		id := c.call("compute", `{"seconds":60}`).TaskID
		c.cancel(id)
		if v := c.is(id, mcp.TaskCancelled); v.Payload != nil || v.Error != nil {
			t.Errorf("the task is %+v, want it without an outcome", v)
		}
		c.cancel(id)
		done := c.call("compute", `{"seconds":0}`).TaskID
		c.cancel(done)
		c.is(done, mcp.TaskCompleted)
	})
}

func TestHandlerDecidesOutcomeOfCancelledTask(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		err := c.server.AddTool(&mcp.Tool{Name: "stubborn"},
			func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				time.Sleep(time.Second)
				return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text("half of it")}}, nil
			}, mcpserver.TaskTool())
		if err != nil {
			t.Fatal(err)
		}
		err = c.server.AddTool(&mcp.Tool{Name: "annoyed"},
			func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				return nil, errors.New("what now?")
			}, mcpserver.TaskTool())
		if err != nil {
			t.Fatal(err)
		}
		annoyed := c.call("annoyed", `{}`).TaskID
		c.cancel(annoyed)
		c.is(annoyed, mcp.TaskCancelled)
		id := c.call("stubborn", `{}`).TaskID
		c.cancel(id)
		c.is(id, mcp.TaskWorking)
		time.Sleep(2 * time.Second)
		if v := c.is(id, mcp.TaskCompleted); v.Result.Text() != "half of it" {
			t.Errorf("the task is %+v, want the handler's result", v)
		}
	})
}

func TestATaskOutlivesItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := newTasker(t, mcpserver.Options{})
		id := first.call("compute", `{"seconds":60}`).TaskID
		if err := first.finish(); err != nil {
			t.Fatal(err)
		}
		second := newTaskerOf(t, first.server)
		second.is(id, mcp.TaskWorking)
		time.Sleep(61 * time.Second)
		second.is(id, mcp.TaskCompleted)
		if err := second.end(time.Minute); err != nil {
			t.Errorf("Shutdown returned %v, want nil", err)
		}
	})
}

func TestHandlerTurnsCallIntoTask(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		c.send(asked(100, "tools/call", tasksMeta, `"name":"later","arguments":{"begin":false}`))
		time.Sleep(3 * time.Second)
		if m := c.reply(t); !strings.Contains(string(m.Result), `"task: false"`) ||
			!strings.Contains(string(m.Result), `"resultType":"complete"`) {
			t.Errorf("a handler that begins no task is answered with %s, want its result", m.Result)
		}
		c.send(asked(101, "tools/call", tasksMeta, `"name":"later","arguments":{"begin":true}`))
		time.Sleep(1500 * time.Millisecond)
		var created mcp.CreateTaskResult
		if _, err := mcp.Decode(c.reply(t).Result, &created); err != nil || created.ResultType != mcp.ResultTask {
			t.Fatalf("want a task, got %+v, %v", created, err)
		}
		c.is(created.TaskID, mcp.TaskWorking)
		time.Sleep(time.Second)
		if v := c.is(created.TaskID, mcp.TaskCompleted); v.Result.Text() != "task: true" {
			t.Errorf("the task is %+v, want its result", v)
		}
		if m := c.askAs(bothMetas, "tools/call", `"name":"greet","arguments":{"name":"x"}`); m.Error != nil {
			t.Error(m.Error)
		}
		c.send(asked(102, "tools/call", bothMetas, `"name":"later","arguments":{"begin":true}`))
		time.Sleep(3 * time.Second)
		if m := c.reply(t); !strings.Contains(string(m.Result), `"task: false"`) {
			t.Errorf("a client that does not know tasks is answered with %s, want the result", m.Result)
		}
	})
}

func TestSlowCallBecomesTask(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		c.send(asked(100, "tools/call", tasksMeta, `"name":"patient","arguments":{"seconds":9}`))
		time.Sleep(9500 * time.Millisecond)
		if m := c.reply(t); !strings.Contains(string(m.Result), "awake") {
			t.Errorf("a quick answer is %s, want the result", m.Result)
		}
		c.send(asked(101, "tools/call", tasksMeta, `"name":"patient","arguments":{"seconds":60}`))
		time.Sleep(9500 * time.Millisecond)
		if out := c.taken(); len(out) > 0 {
			t.Errorf("before its time the server sent %q, want nothing", out)
		}
		time.Sleep(time.Second)
		var created mcp.CreateTaskResult
		if _, err := mcp.Decode(c.reply(t).Result, &created); err != nil || created.ResultType != mcp.ResultTask {
			t.Fatalf("want a task, got %+v, %v", created, err)
		}
		time.Sleep(time.Minute)
		c.is(created.TaskID, mcp.TaskCompleted)
	})
}

func TestCancellationStopsCallBeforeItBecomesTask(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		c.send(asked(100, "tools/call", tasksMeta, `"name":"patient","arguments":{"seconds":60}`))
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":100}}`)
		time.Sleep(time.Minute)
		if out := c.taken(); len(out) > 0 {
			t.Errorf("after the client has cancelled, the server sent %q, want nothing", out)
		}
	})
}

func TestTaskIsDeletedAfterItsTTL(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		quick, slow := c.call("brief", `{"seconds":0}`), c.call("brief", `{"seconds":60}`)
		if *quick.TTLMs != 5000 {
			t.Errorf("the time to live is %d ms, want the TTL of the tool", *quick.TTLMs)
		}
		time.Sleep(4900 * time.Millisecond)
		c.is(quick.TaskID, mcp.TaskCompleted)
		c.is(slow.TaskID, mcp.TaskWorking)
		time.Sleep(200 * time.Millisecond)
		for _, id := range []string{quick.TaskID, slow.TaskID} {
			if v := c.get(id); v.Error == nil || v.Error.Code != mcp.CodeInvalidParams {
				t.Errorf("an expired task is %+v, want it unknown", v)
			}
		}
		start := time.Now()
		if err := c.server.Shutdown(context.Background()); err != nil || time.Since(start) > 0 {
			t.Errorf("Shutdown returned %v after %v, want nothing to run any more", err, time.Since(start))
		}
	})
}

func TestTaskTTLMayBeUnlimited(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		m := c.ask("tools/call", `"name":"forever","arguments":{"seconds":0}`)
		if !strings.Contains(string(m.Result), `"ttlMs":null`) {
			t.Errorf("the call got %s, want a time to live of null", m.Result)
		}
		var created mcp.CreateTaskResult
		if _, err := mcp.Decode([]byte(m.Result), &created); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1000 * time.Hour)
		c.is(created.TaskID, mcp.TaskCompleted)
	})
}

func TestTasksAreBounded(t *testing.T) {
	inBubble(t, mcpserver.Options{Tasks: &mcpserver.TaskOptions{MaxRunning: 2, MaxResult: 1000}},
		func(t *testing.T, c *tasker) {
			first := c.call("compute", `{"seconds":1}`).TaskID
			c.call("compute", `{"seconds":1}`)
			if m := c.ask("tools/call", `"name":"compute","arguments":{"seconds":1}`); m.Error == nil ||
				m.Error.Message != "too many requests at once" {
				t.Errorf("one more got %+v, want it refused", m)
			}
			time.Sleep(2 * time.Second)
			c.is(first, mcp.TaskCompleted)
			large := c.call("raw", `{"x":"`+strings.Repeat("x", 1000)+`"}`).TaskID
			if v := c.is(large, mcp.TaskFailed); v.Error == nil || !strings.Contains(v.Error.Message, "too large") {
				t.Errorf("a task with a result above the limit is %+v, want it failed for that", v)
			}
		})
	inBubble(t, mcpserver.Options{Tasks: &mcpserver.TaskOptions{Store: store.NewMemoryTasks(2, 2000)}},
		func(t *testing.T, c *tasker) {
			large := c.call("raw", `{"x":"`+strings.Repeat("x", 3000)+`"}`).TaskID
			c.is(large, mcp.TaskFailed)
			c.call("compute", `{"seconds":0}`)
			if m := c.ask("tools/call", `"name":"compute","arguments":{"seconds":0}`); m.Error == nil ||
				m.Error.Message != "too many requests at once" {
				t.Errorf("with a store that is full a call got %+v, want it refused", m)
			}
			c.is(large, mcp.TaskFailed)
			time.Sleep(time.Hour)
			c.call("compute", `{"seconds":0}`)
		})
}

func TestShutdownWaitsForTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := store.NewMemoryTasks(0, 0)
		c := newTasker(t, mcpserver.Options{Tasks: &mcpserver.TaskOptions{Store: store}})
		block := make(chan struct{})
		err := c.server.AddTool(&mcp.Tool{Name: "deaf"},
			func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				<-block
				return nil, nil
			}, mcpserver.TaskTool())
		if err != nil {
			t.Fatal(err)
		}
		quick, slow, deaf := c.call("compute", `{"seconds":5}`).TaskID, c.call("compute",
			`{"seconds":60}`).TaskID, c.call("deaf", `{}`).TaskID
		start := time.Now()
		err = c.end(10 * time.Second)
		if !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "although their contexts have ended: 1") {
			t.Errorf("Shutdown returned %v, want the cause of its context and how many are left", err)
		}
		if took := time.Since(start); took != 11*time.Second {
			t.Errorf("Shutdown took %v, want its time and a second for handlers", took)
		}
		for id, want := range map[string]mcp.TaskStatus{quick: mcp.TaskCompleted, slow: mcp.TaskFailed,
			deaf: mcp.TaskFailed} {
			r, err := store.Load(context.Background(), id)
			if err != nil || r.Status != want {
				t.Errorf("want a task that is %s, got %+v, %v", want, r, err)
			}
		}
		close(block)
		synctest.Wait()
		if r, _ := store.Load(context.Background(), deaf); r.Status != mcp.TaskFailed {
			t.Errorf("the task that was given up is %+v, want it to stay so", r)
		}
		again := newTaskerOf(t, c.server)
		if m := again.ask("tools/call", `"name":"compute","arguments":{"seconds":0}`); m.Error == nil ||
			!strings.Contains(m.Error.Message, "shutting down") {
			t.Errorf("a call of a server that has shut down got %+v, want it refused", m)
		}
		if err := again.end(0); err != nil {
			t.Errorf("the second Shutdown returned %v, want nil", err)
		}
	})
}

func TestInvalidTaskToolsAreRefused(t *testing.T) {
	s := newServer(t, mcpserver.Options{})
	for name, err := range map[string]error{
		"no handler":     mcpserver.AddTool[struct{}, string](s, &mcp.Tool{Name: "x"}, nil, mcpserver.TaskTool()),
		"no raw handler": s.AddTool(&mcp.Tool{Name: "x"}, nil, mcpserver.TaskTool()),
		"no tool":        s.AddTool(nil, echo, mcpserver.TaskTool()),
		"an invalid schema": s.AddTool(&mcp.Tool{Name: "x", InputSchema: json.RawMessage(`7`)}, echo,
			mcpserver.TaskTool()),
		"forbidden": s.AddTool(&mcp.Tool{
			Name: "x", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskForbidden},
		}, echo, mcpserver.TaskTool()),
		"the name of another tool": s.AddTool(&mcp.Tool{Name: "echo"}, echo, mcpserver.TaskTool()),
	} {
		if err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
	own := newServer(t, mcpserver.Options{})
	if err := own.HandleRequest("tasks/get", who); err != nil {
		t.Fatal(err)
	}
	if err := own.AddTool(&mcp.Tool{Name: "x"}, echo, mcpserver.TaskTool()); err == nil {
		t.Error("methods of tasks with handlers of one's own: got no error, want one")
	}
	for name, o := range map[string]mcpserver.TaskOptions{
		"PollInterval": {PollInterval: -1}, "MaxRunning": {MaxRunning: -1}, "MaxResult": {MaxResult: -1},
		"Lease": {Lease: -1},
	} {
		func() {
			defer func() {
				if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "Tasks."+name) {
					t.Errorf("a negative %s: got %v, want New to panic", name, v)
				}
			}()
			newServer(t, mcpserver.Options{Tasks: &o})
		}()
	}
}

func TestUndecodableResultFailsTask(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		must(t, c.server.AddTool(&mcp.Tool{Name: "broken"},
			func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: mcp.ContentList{(*mcp.TextContent)(nil)}}, nil
			}, mcpserver.TaskTool()))
		v := c.is(c.call("broken", `{}`).TaskID, mcp.TaskFailed)
		if v.Error == nil || v.Error.Code != mcp.CodeInternalError || v.Error.Message != "internal error" {
			t.Errorf("the error of the task is %+v, want a neutral one", v.Error)
		}
	})
}

// The result of a handler is the final result, even if it looks like a task or like a request for input.
// (tasks extension, "Polymorphic Results"; specification 2026-07-28, basic/patterns/mrtr, "Supported Requests")
func TestServerSendsEveryHandlerResultAsComplete(t *testing.T) {
	for _, pretended := range []mcp.ResultType{mcp.ResultTask, mcp.ResultInputRequired} {
		inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
			result := mcp.Result{ResultType: pretended}
			call := func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Result: result}, nil
			}
			must(t, c.server.AddTool(&mcp.Tool{Name: "plain"}, call))
			must(t, c.server.AddTool(&mcp.Tool{Name: "task"}, call, mcpserver.TaskTool()))
			must(t, c.server.AddPrompt(&mcp.Prompt{Name: "p"}, saying(&mcp.GetPromptResult{Result: result}, nil)))
			must(t, c.server.AddResource(&mcp.Resource{URI: "test://a", Name: "a"},
				reading(&mcp.ReadResourceResult{Result: result}, nil)))
			for method, params := range map[string]string{
				"tools/call": `"name":"plain"`, "prompts/get": `"name":"p"`, "resources/read": `"uri":"test://a"`,
			} {
				if m := c.ask(method, params); !strings.Contains(string(m.Result), `"resultType":"complete"`) {
					t.Errorf("%s got %s, %v, want a complete result", method, m.Result, m.Error)
				}
			}
			if v := c.get(c.call("task", `{}`).TaskID); v.Result.ResultType != mcp.ResultComplete {
				t.Errorf("the result of the task is %s, want a complete one", v.Payload)
			}
		})
	}
}

func TestTaskSendsNoLogMessages(t *testing.T) {
	inBubble(t, mcpserver.Options{Logging: true}, func(t *testing.T, c *tasker) {
		said := make(chan error, 3)
		must(t, c.server.AddTool(&mcp.Tool{Name: "log"},
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				time.Sleep(time.Second)
				for _, info := range []*mcpserver.RequestInfo{r.RequestInfo, mcpserver.RequestFrom(ctx)} {
					said <- info.Log(ctx, mcp.LevelAlert, "", "x")
					if info.Logger("").Enabled(ctx, 100) {
						t.Error("a logger is enabled, want it disabled")
					}
				}
				said <- r.Log(ctx, "loud", "", "x")
				return nil, nil
			}, mcpserver.TaskTool()))
		const loud = tasksMeta + `,"io.modelcontextprotocol/logLevel":"debug"`
		if m := c.askAs(loud, "tools/call", `"name":"log"`); !strings.Contains(string(m.Result), `"resultType":"task"`) {
			t.Fatalf("the call was answered with %s, want a task", m.Result)
		}
		time.Sleep(2 * time.Second)
		for i := range 2 {
			if err := <-said; err != nil {
				t.Errorf("log message %d: got the error %v, want none: it does nothing", i, err)
			}
		}
		if err := <-said; err == nil {
			t.Error("an unknown level got no error")
		}
		if out := c.taken(); len(out) != 0 {
			t.Errorf("the client got %q, want nothing", out)
		}
	})
}
