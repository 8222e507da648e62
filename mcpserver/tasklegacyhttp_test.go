package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// webTasker is a client of 2025-11-25 over HTTP, with or without a session.
type webTasker struct {
	*web
	headers []string // headers of each request
	last    int
}

// request returns a request and its headers.
func (c *webTasker) request(method, params string) string {
	c.last++
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, c.last, method, params)
}

// ask sends a request and returns the answer, which must be JSON.
func (c *webTasker) ask(method, params string) message {
	c.t.Helper()
	p := c.post(c.request(method, params), c.headers...)
	if got := p.header.Get("Content-Type"); got != "application/json" {
		c.t.Fatalf("%s got %s: %s, want JSON", method, got, p.body)
	}
	return decoded(c.t, p.body)
}

// begin calls a tool as a task and returns its id.
func (c *webTasker) begin(tool, arguments string) string {
	c.t.Helper()
	m := c.ask("tools/call", fmt.Sprintf(`"name":%q,"arguments":%s,"task":{}`, tool, arguments))
	var r mcp.LegacyCreateTaskResult
	if _, err := mcp.Decode([]byte(m.Result), &r); err != nil {
		c.t.Fatalf("the call of %s got %+v, want a task", tool, m)
	}
	synctest.Wait() // until the handler waits
	return r.Task.TaskID
}

// wait opens the stream of a tasks/result request.
func (c *webTasker) wait(id string) *events {
	c.t.Helper()
	return c.stream("POST", c.request("tasks/result", about(id)), c.headers...)
}

// word returns the next message of a stream. It skips events that have no data.
func (e *events) word() message {
	e.t.Helper()
	event := e.next()
	for len(event.Data) == 0 {
		event = e.next()
	}
	return decoded(e.t, string(event.Data))
}

func TestHTTPLegacyTaskSendsRequestsOnResultStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLegacyTaskServer(t, mcpserver.Options{})
		w := serveWeb(t, s, &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Requests: 1},
			KeepAlive: -1}) // the only place stays free while a client waits
		c := &webTasker{web: w, headers: []string{"Mcp-Session-Id", w.openAble("2025-11-25")}}
		id := c.begin("interview", "{}")
		if m := c.ask("tasks/get", about(id)); !strings.Contains(string(m.Result), `"status":"input_required"`) {
			t.Errorf("tasks/get got %s, want a task that waits for input", m.Result)
		}
		waiting := c.wait(id)
		if m := waiting.word(); m.Method != mcp.MethodElicit || m.ID != 1.0 {
			t.Fatalf("the stream brings %+v, want the question", m)
		}
		if m := c.ask("tasks/get", about(id)); m.Error != nil {
			t.Errorf("while the client waits, tasks/get got %v", m.Error)
		}
		c.post(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"name":"Ada"}}}`, c.headers...)
		if m := waiting.word(); m.Method != mcp.MethodListRoots {
			t.Fatalf("the stream brings %+v, want the next question", m)
		}
		c.post(`{"jsonrpc":"2.0","id":2,"result":{"roots":[{"uri":"file:///work"}]}}`, c.headers...)
		if m := waiting.word(); !strings.Contains(string(m.Result), "Ada at file:///work") {
			t.Errorf("the stream brings %+v, want the result", m)
		}
		waiting.over()
		w.end()
	})
}

func TestHTTPLegacyTaskRepeatsRequestAfterReconnect(t *testing.T) {
	for name, store := range map[string]store.Events{"no events": nil, "events": store.NewMemoryEvents(0, 0)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newLegacyTaskServer(t, mcpserver.Options{})
				w := serveWeb(t, s, &mcpserver.HTTPOptions{Events: store, KeepAlive: -1})
				c := &webTasker{web: w, headers: []string{"Mcp-Session-Id", w.openAble("2025-11-25")}}
				id := c.begin("interview", "{}")
				lost := c.wait(id)
				first := lost.word()
				lost.leave()
				synctest.Wait()
				waiting := c.wait(id)
				again := waiting.word()
				if again.Method != first.Method || again.ID == first.ID {
					t.Errorf("after the reconnect, the client got %+v, want %s in a new request", again, first.Method)
				}
				c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"error":{"code":-1,"message":"no"}}`, again.ID), c.headers...)
				if m := waiting.word(); !strings.Contains(string(m.Result), "no (-1)") {
					t.Errorf("the stream brings %+v, want the result", m)
				}
				waiting.over()
				w.end()
			})
		})
	}
}

func TestHTTPSessionGetsStatusOfItsLegacyTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLegacyTaskServer(t, mcpserver.Options{})
		w := serveWeb(t, s, &mcpserver.HTTPOptions{KeepAlive: -1})
		c := &webTasker{web: w, headers: []string{"Mcp-Session-Id", w.openAble("2025-11-25")}}
		first, second := c.begin("compute", `{"seconds":1}`), c.begin("talk", `{"messages":["a","b"],"pause":1}`)
		time.Sleep(time.Minute)
		general := w.stream("GET", "", c.headers...)
		var heard []string
		for range 2 {
			m := general.word()
			var p mcp.LegacyTaskStatusParams
			if _, err := mcp.Decode(m.Params, &p); err != nil || m.Method != mcp.NotificationLegacyTaskStatus ||
				p.Status != mcp.TaskCompleted {
				t.Errorf("the session got %+v, want the latest status of a task", m)
			}
			heard = append(heard, p.TaskID)
		}
		if got, want := fmt.Sprint(heard), fmt.Sprint([]string{second, first}); got != want &&
			got != fmt.Sprint([]string{first, second}) {
			t.Errorf("the session got notifications of %v, want each task once: %v", got, want)
		}
		general.leave()
		w.end()
	})
}

func TestLegacyTasksNeedNoSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLegacyTaskServer(t, mcpserver.Options{})
		w := serveWeb(t, s, &mcpserver.HTTPOptions{Stateless: true})
		c := &webTasker{web: w, headers: []string{"Mcp-Protocol-Version", "2025-11-25"}}
		if p := w.post(initializeAble); !strings.Contains(p.body, `"tasks":{"cancel":{},`) {
			t.Errorf("initialize got %s, want tasks declared", p.body)
		}
		id := c.begin("dig", "{}")
		start := time.Now()
		if m := c.ask("tasks/result", about(id)); !strings.Contains(string(m.Result), "a hole") ||
			time.Since(start) != 3*time.Second {
			t.Errorf("after %v the result is %+v, want it when the task is done", time.Since(start), m)
		}
		if m := c.ask("tasks/cancel", about(c.begin("compute", `{"seconds":60}`))); !strings.Contains(string(m.Result),
			`"status":"cancelled"`) {
			t.Errorf("tasks/cancel got %+v, want the task cancelled", m)
		}
		if m := c.ask("tasks/result", about(c.begin("interview", "{}"))); !strings.Contains(string(m.Result),
			`"isError":true`) {
			t.Errorf("a task that cannot ask has the result %+v, want the error", m)
		}
		w.end()
	})
}

func TestALegacyTaskBelongsToItsPrincipal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLegacyTaskServer(t, mcpserver.Options{})
		w := serveWeb(t, s, &mcpserver.HTTPOptions{Stateless: true,
			Principal: func(r *http.Request) string { return r.Header.Get("User") }})
		client := func(user string) *webTasker {
			return &webTasker{web: w, headers: []string{"Mcp-Protocol-Version", "2025-11-25", "User", user}}
		}
		alice, bob := client("alice"), client("bob")
		id := alice.begin("compute", `{"seconds":0}`)
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
			if m := bob.ask(method, about(id)); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams {
				t.Errorf("%s of another client's task got %+v, want the task unknown", method, m)
			}
		}
		if m := alice.ask("tasks/result", about(id)); m.Error != nil {
			t.Errorf("tasks/result of its own principal got %v, want the result", m.Error)
		}
		w.end()
	})
}

// (specification 2025-11-25, basic/utilities/tasks, "Task Listing" and "Task Isolation and Access Control")
func TestLegacyTasksAreListedForTheirPrincipal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLegacyTaskServer(t, mcpserver.Options{PageSize: 2})
		w := serveWeb(t, s, &mcpserver.HTTPOptions{Stateless: true,
			Principal: func(r *http.Request) string { return r.Header.Get("User") }})
		client := func(user string) *webTasker {
			return &webTasker{web: w, headers: []string{"Mcp-Protocol-Version", "2025-11-25", "User", user}}
		}
		alice, bob := client("alice"), client("bob")
		var made []string
		for range 5 {
			made = append(made, alice.begin("compute", `{"seconds":60}`))
			time.Sleep(time.Second)
		}
		bobs := bob.begin("compute", `{"seconds":60}`)
		listed := func(c *webTasker, cursor string) (ids []string, next *string) {
			t.Helper()
			m := c.ask("tasks/list", cursor)
			var r mcp.LegacyListTasksResult
			if _, err := mcp.Decode(m.Result, &r); m.Error != nil || err != nil {
				t.Fatalf("tasks/list got %+v and %v", m, err)
			}
			for _, task := range r.Tasks {
				if task.Status != mcp.TaskWorking || task.CreatedAt == "" || task.TTL == nil {
					t.Errorf("the list has %+v, want all that tasks/get has", task)
				}
				ids = append(ids, task.TaskID)
			}
			return ids, r.NextCursor
		}
		var all []string
		for cursor, pages := "", 1; ; pages++ {
			ids, next := listed(alice, cursor)
			if all = append(all, ids...); next == nil {
				if pages != 3 {
					t.Errorf("5 tasks are on %d pages of 2, want 3", pages)
				}
				break
			}
			cursor = `"cursor":` + strconv.Quote(*next)
		}
		if !slices.Equal(all, made) {
			t.Errorf("alice got the tasks %v, want her own tasks, the oldest first: %v", all, made)
		}
		if ids, next := listed(bob, ""); !slices.Equal(ids, []string{bobs}) || next != nil {
			t.Errorf("bob got the tasks %v and the cursor %v, want his own tasks", ids, next)
		}
		for _, cursor := range []string{`""`, `"x"`, `"YWZ0ZXI6MQ"`, `"YWZ0ZXI6LTEgeA"`, `"YWZ0ZXI6MDEgeA"`} {
			if m := alice.ask("tasks/list", `"cursor":`+cursor); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams {
				t.Errorf("the cursor %s got %+v, want it refused", cursor, m)
			}
		}
		time.Sleep(2 * time.Hour) // tasks are kept for one hour
		if ids, _ := listed(alice, ""); len(ids) != 0 {
			t.Errorf("alice got the expired tasks %v, want none", ids)
		}

		const list = `"tasks":{"list":{},"cancel":{}`
		for user, want := range map[string]bool{"alice": true, "": false} {
			if p := w.post(initializeAble, "User", user); strings.Contains(p.body, list) != want {
				t.Errorf("initialize of %q got %s, want tasks/list declared only to a known user", user, p.body)
			}
		}
		if m := client("").ask("tasks/list", ""); m.Error == nil || m.Error.Code != mcp.CodeMethodNotFound {
			t.Errorf("tasks/list of a client without a principal got %+v, want it refused", m)
		}
		w.end()
	})
}

func TestTaskWaitingForInputDoesNotDelayShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLegacyTaskServer(t, mcpserver.Options{})
		w := serveWeb(t, s, &mcpserver.HTTPOptions{KeepAlive: -1})
		c := &webTasker{web: w, headers: []string{"Mcp-Session-Id", w.openAble("2025-11-25")}}
		waiting := c.wait(c.begin("interview", "{}"))
		waiting.word()
		start := time.Now()
		go w.end()
		if m := waiting.word(); m.Error == nil || !strings.Contains(m.Error.Message, "shutting down") {
			t.Errorf("the stream has %+v, want the shutdown of the server", m)
		}
		waiting.over()
		w.end()
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("the shutdown took %v, want no wait for the missing answer", took)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown returned %v, want it to have waited for the task", err)
		}
	})
}
