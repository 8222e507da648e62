package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"maps"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func TestTaskRequestsInput(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		id := c.call("confirm", `{"questions":["sure?","really?"]}`).TaskID
		v := c.is(id, mcp.TaskInputRequired)
		if r := v.InputRequests["1"]; len(v.InputRequests) != 1 || r.Method != mcp.MethodElicit ||
			!strings.Contains(string(r.Params), "sure?") {
			t.Errorf("the task asks %v, want the first question", v.InputRequests)
		}
		if again := c.get(id); len(again.InputRequests) != 1 || again.LastUpdatedAt != v.LastUpdatedAt {
			t.Errorf("asked again, the task is %+v, want it unchanged", again)
		}
		c.respond(id, `{"unknown":{"ignored":true},"2":{"ignored":true}}`)
		c.is(id, mcp.TaskInputRequired)
		time.Sleep(time.Second)
		c.respond(id, `{"1":{"action":"accept"}}`)
		v = c.is(id, mcp.TaskInputRequired)
		if r := v.InputRequests["2"]; len(v.InputRequests) != 1 || !strings.Contains(string(r.Params), "really?") {
			t.Errorf("the task asks %v, want the second question under a key of its own", v.InputRequests)
		}
		if v.LastUpdatedAt != "2000-01-01T00:00:01.000Z" {
			t.Errorf("the task was changed at %s, want the time of the response", v.LastUpdatedAt)
		}
		c.respond(id, `{"1":{"action":"cancel"}}`)
		c.respond(id, `{"2":{"action":"decline"}}`)
		v = c.is(id, mcp.TaskCompleted)
		if want := `sure?{"action":"accept"} really?{"action":"decline"}`; v.Result.Text() != want || v.InputRequests != nil {
			t.Errorf("the task is %+v, want the answers %s", v, want)
		}
		c.respond(id, `{"2":{"action":"accept"}}`)
	})
}

func TestTaskWaitsForAllInputResponses(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		id := c.call("both", `{}`).TaskID
		v := c.is(id, mcp.TaskInputRequired)
		keys := slices.Sorted(maps.Keys(v.InputRequests))
		if len(keys) != 2 {
			t.Fatalf("the task asks %v, want two questions at once", v.InputRequests)
		}
		c.respond(id, fmt.Sprintf(`{%q:{"n":1}}`, keys[0]))
		v = c.is(id, mcp.TaskInputRequired)
		if _, open := v.InputRequests[keys[1]]; len(v.InputRequests) != 1 || !open {
			t.Errorf("the task asks %v, want what is not answered yet", v.InputRequests)
		}
		c.respond(id, fmt.Sprintf(`{%q:{"n":2}}`, keys[1]))
		c.is(id, mcp.TaskCompleted)
	})
}

func TestATaskThatWaitsForInputMayBeCancelled(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		id := c.call("confirm", `{"questions":["sure?"]}`).TaskID
		c.is(id, mcp.TaskInputRequired)
		c.cancel(id)
		if v := c.is(id, mcp.TaskCancelled); v.InputRequests != nil {
			t.Errorf("the task asks %v, want nothing any more", v.InputRequests)
		}
	})
}

func TestTaskInputFailsBeforeTaskExists(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		err := mcpserver.AddTool(c.server, &mcp.Tool{Name: "early"},
			func(ctx context.Context, _ struct{}) (string, error) {
				_, err := elicit(ctx, "sure?")
				if !errors.Is(err, mcpserver.ErrNoTask) {
					return "", err
				}
				time.Sleep(time.Minute) // no task may start after the handler got an error
				return "asked", nil
			}, mcpserver.TaskAfter(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		c.send(asked(100, "tools/call", tasksMeta, `"name":"early","arguments":{}`))
		time.Sleep(2 * time.Minute)
		if m := c.reply(t); !strings.Contains(string(m.Result), `"asked"`) {
			t.Errorf("the call got %s, want the answer of the handler and no task", m.Result)
		}
	})
}

func TestTaskReportsStatusMessages(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		id := c.call("talk", `{"messages":["reading","writing"],"pause":10}`).TaskID
		for _, want := range []string{"reading", "1 of 2", "writing", "2 of 2"} {
			time.Sleep(time.Second)
			if v := c.is(id, mcp.TaskWorking); v.StatusMessage != want {
				t.Errorf("the status message: want %q, got %q", want, v.StatusMessage)
			}
			time.Sleep(9 * time.Second)
		}
		time.Sleep(time.Second)
		c.is(id, mcp.TaskCompleted)
		m := c.askAs(bothMetas, "tools/call", `"name":"talk","arguments":{"messages":["x"]}`)
		if !strings.Contains(string(m.Result), "said") {
			t.Errorf("where there is no task, the call got %+v, want its result", m)
		}
	})
}
