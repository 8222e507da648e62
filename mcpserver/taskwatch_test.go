package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// listen opens a subscription to tasks and returns its id and the first messages of the server.
func (c *tasker) listen(ids ...string) (subscription int, first []string) {
	c.last++
	quoted, _ := json.Marshal(ids)
	c.send(asked(c.last, "subscriptions/listen", tasksMeta, `"notifications":{"taskIds":`+string(quoted)+`}`))
	return c.last, c.taken()
}

// statuses returns the task notifications since the last call: id, status, and result or questions.
func (c *tasker) statuses(subscription int) (all []string) {
	c.t.Helper()
	for _, frame := range c.taken() {
		all = append(all, statusOf(c.t, frame, subscription))
	}
	return all
}

func statusOf(t *testing.T, frame string, subscription int) string {
	t.Helper()
	var m struct {
		Method string
		Params json.RawMessage
	}
	if err := json.Unmarshal([]byte(frame), &m); err != nil || m.Method != mcp.NotificationTaskStatus {
		t.Fatalf("the server sent %s (%v), want the status of a task", frame, err)
	}
	var p mcp.TaskStatusParams
	if _, err := mcp.Decode(m.Params, &p); err != nil {
		t.Fatal(err)
	}
	if id, _ := p.Meta.Lookup(mcp.MetaSubscriptionID); string(id) != fmt.Sprint(subscription) {
		t.Errorf("the notification is %s, want it to belong to the subscription %d", frame, subscription)
	}
	return string(p.Status) + p.StatusMessage + fmt.Sprint(len(p.InputRequests)) + fmt.Sprint(p.Payload != nil)
}

func TestSubscriberGetsStatusOfItsTasks(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		mine, other := c.call("confirm", `{"questions":["sure?"]}`).TaskID, c.call("compute", `{"seconds":60}`).TaskID
		done := c.call("compute", `{"seconds":0}`).TaskID
		sub, first := c.listen(mine, "nobody", done, mine)
		if len(first) != 3 || !strings.Contains(first[0], mcp.NotificationSubscriptionsAcknowledged) ||
			strings.Contains(first[0], "nobody") || strings.Count(first[0], mine) != 1 || strings.Contains(first[0], other) {
			t.Fatalf("the server sent %q, want the tasks that it has acknowledged, then how they are", first)
		}
		for _, frame := range first[1:] {
			want := "completed0true"
			if strings.Contains(frame, mine) {
				want = "input_required1false"
			}
			if got := statusOf(t, frame, sub); got != want {
				t.Errorf("at first the server sent %s, want %s", frame, want)
			}
		}
		elsewhere := newTaskerOf(t, c.server)
		elsewhere.respond(mine, `{"1":{"action":"accept"}}`)
		time.Sleep(2 * time.Minute)
		if got := c.statuses(sub); len(got) == 0 || len(got) > 2 || got[len(got)-1] != "completed0true" {
			t.Errorf("then the server sent %q, want that the task works, unless that has been overtaken, and is completed", got)
		}
		talks := elsewhere.call("talk", `{"messages":["a"],"pause":1}`).TaskID
		sub, _ = c.listen(talks)
		time.Sleep(3 * time.Second)
		if got, want := c.statuses(sub), []string{"working1 of 10false",
			"completed0true"}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the server sent %q, want %q", got, want)
		}
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, sub))
		elsewhere.call("talk", `{"messages":["a"],"pause":1}`)
		time.Sleep(3 * time.Second)
		if out := c.taken(); len(out) > 0 {
			t.Errorf("when the client does not listen any more the server sent %q, want nothing", out)
		}
		if err := elsewhere.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestTaskSubscriptionsOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTaskServer(t, mcpserver.Options{})
		w := serveWeb(t, s, nil)
		id := webTask(w, "compute", `{"seconds":60}`)
		listening := w.stream("POST", asked(1, "subscriptions/listen", tasksMeta,
			fmt.Sprintf(`"notifications":{"taskIds":[%q]}`, id)),
			modernHeaders("subscriptions/listen", "")...)
		if m := listening.message(); m.Method != mcp.NotificationSubscriptionsAcknowledged {
			t.Errorf("the first message is %+v, want the acknowledgement", m)
		}
		for _, want := range []string{"working0false", "completed0true"} {
			if got := statusOf(t, string(listening.next().Data), 1); got != want {
				t.Errorf("the server sent %s, want %s", got, want)
			}
		}
		go w.end()
		if m := listening.message(); m.Method != mcp.NotificationCancelled {
			t.Errorf("at the end got %+v, want the cancellation", m)
		}
		if m := listening.message(); m.ID != 1.0 {
			t.Errorf("at the end got %+v, want the result", m)
		}
		listening.over()
		w.end()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// webTask calls a tool over HTTP and returns the id of its task.
func webTask(w *web, tool, arguments string, headers ...string) string {
	w.t.Helper()
	p := w.post(asked(1, "tools/call", tasksMeta, fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments)),
		append(modernHeaders("tools/call", tool), headers...)...)
	var created mcp.CreateTaskResult
	if _, err := mcp.Decode(decoded(w.t, p.body).Result, &created); err != nil || created.TaskID == "" ||
		p.status != http.StatusOK {
		w.t.Fatalf("the call got %d with %s, want a task", p.status, p.body)
	}
	return created.TaskID
}

func TestTasksOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTaskServer(t, mcpserver.Options{Tasks: &mcpserver.TaskOptions{MaxRunning: 2}})
		w := serveWeb(t, s, &mcpserver.HTTPOptions{Principal: func(r *http.Request) string { return r.Header.Get("X-User") }})
		alice := []string{"X-User", "alice"}
		id := webTask(w, "compute", `{"seconds":60}`, alice...)
		about := func(method, name string, headers ...string) page {
			return w.post(asked(2, method, tasksMeta, fmt.Sprintf(`"taskId":%q,"inputResponses":{}`, id)),
				append(modernHeaders(method, name), headers...)...)
		}
		if p := about("tasks/get", id, alice...); p.status != http.StatusOK ||
			!strings.Contains(p.body, `"status":"working"`) {
			t.Errorf("the task is %d with %s, want it at work when its request is over", p.status, p.body)
		}
		for _, user := range []string{"", "bob"} {
			for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
				if p := about(method, id, "X-User", user); !strings.Contains(p.body, "-32602") ||
					!strings.Contains(p.body, "unknown task") {
					t.Errorf("%s of %q got %d with %s, want the task unknown", method, user, p.status, p.body)
				}
			}
		}
		for _, name := range []string{"", "compute", id + "x"} {
			for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
				if p := about(method, name, alice...); p.status != http.StatusBadRequest || !strings.Contains(p.body, "-32020") {
					t.Errorf("%s with Mcp-Name %q got %d with %s, want the headers refused", method, name, p.status, p.body)
				}
			}
		}
		if p := w.post(asked(1, "tasks/get", bothMetas, fmt.Sprintf(`"taskId":%q`, id)),
			modernHeaders("tasks/get", id)...); p.status != http.StatusBadRequest || !strings.Contains(p.body, "-32021") {
			t.Errorf("a client that does not know tasks got %d with %s, want 400 and the capability", p.status, p.body)
		}
		webTask(w, "compute", `{"seconds":60}`)
		p := w.post(asked(1, "tools/call", tasksMeta, `"name":"compute","arguments":{"seconds":1}`),
			modernHeaders("tools/call", "compute")...)
		if p.status != http.StatusTooManyRequests || p.header.Get("Retry-After") == "" {
			t.Errorf("one task more got %d with %s, want 429", p.status, p.body)
		}
		time.Sleep(61 * time.Second)
		if p := about("tasks/get", id, alice...); !strings.Contains(p.body, `"status":"completed"`) {
			t.Errorf("a minute later the task is %s, want it completed", p.body)
		}
		w.end()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
