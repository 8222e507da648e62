package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// Addresses of a greedy and a modest client.
const (
	greedy = "192.0.2.1:1"
	modest = "192.0.2.2:1"
)

// listening returns a function that creates requests for subscriptions.
func listening(t *testing.T, filter, address string) func(context.Context, int) *http.Request {
	return func(ctx context.Context, i int) *http.Request {
		return request(t, ctx, "POST", listenFor(i+1, filter),
			append(modernHeaders("subscriptions/listen", ""), from, address)...)
	}
}

// listen opens a subscription, and returns the part of its filter that the server has granted.
func (w *web) listen(t *testing.T, filter, address string) (s *events, granted mcp.SubscriptionFilter) {
	t.Helper()
	s = w.stream("POST", listenFor(1, filter), append(modernHeaders("subscriptions/listen", ""), from, address)...)
	var p mcp.SubscriptionsAcknowledgedParams
	if err := json.Unmarshal([]byte(s.message().Params), &p); err != nil {
		t.Fatal(err)
	}
	return s, p.Notifications
}

func TestOneAccountLeavesSubscriptionsForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveAddresses(t, newWebServer(t, mcpserver.Options{}),
			&mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Subscriptions: 20}})
		a := w.attack(t, 100, listening(t, toolsFilter, greedy))
		if n := a.answered(http.StatusTooManyRequests); n != 90 {
			t.Errorf("%d subscriptions of one account got 429, want all but half of the places", n)
		}
		first, _ := w.listen(t, toolsFilter, modest)
		second, _ := w.listen(t, toolsFilter, modest)
		first.leave()
		second.leave()
		a.end()
		synctest.Wait()
		again := w.attack(t, 11, listening(t, toolsFilter, greedy))
		if n := again.answered(http.StatusTooManyRequests); n != 1 {
			t.Errorf("afterwards %d of 11 subscriptions got 429, want the places back", n)
		}
		again.end()
		w.end()
	})
}

// watching returns the filter of a subscription to n resources with long URIs.
func watching(n int) string {
	uris := make([]string, n)
	for i := range uris {
		uris[i] = fmt.Sprintf("%q", fmt.Sprintf("test://%d%s", i, strings.Repeat("x", 1000)))
	}
	return `"resourceSubscriptions":[` + strings.Join(uris, ",") + `]`
}

func TestWatchedResourcesOfOneAccountLeaveRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWebServer(t, mcpserver.Options{})
		template := &mcp.ResourceTemplate{URITemplate: "test://{x}", Name: "any"}
		read := func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return nil, nil
		}
		if err := s.AddResourceTemplate(template, read); err != nil {
			t.Fatal(err)
		}
		w := serveAddresses(t, s, &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{WatchedBytes: 100 << 10}})
		for range 3 { // in later rounds, everything that the first client took must be free again
			granted := 0
			var open []*events
			for range 5 {
				s, filter := w.listen(t, watching(30), greedy)
				granted += len(filter.ResourceSubscriptions)
				open = append(open, s)
			}
			if granted < 40 || granted > 50 {
				t.Errorf("one account watches %d resources of 1,1 KiB, want no more than half of 100 KiB allow, and not many less",
					granted)
			}
			session := w.post(initialize, from, greedy).header.Get("Mcp-Session-Id")
			w.post(initialized, "Mcp-Session-Id", session, from, greedy)
			body := `{"jsonrpc":"2.0","id":9,"method":"resources/subscribe","params":{"uri":"test://` + strings.Repeat("y",
				3000) + `"}}`
			p := w.post(body, "Mcp-Session-Id", session, from, greedy)
			if m := decoded(t, p.body); m.Error == nil || !strings.Contains(m.Error.Message, "too many subscriptions") {
				t.Errorf("its session was answered with %s, want an error that says why", p.body)
			}
			other, filter := w.listen(t, watching(10), modest)
			if n := len(filter.ResourceSubscriptions); n != 10 {
				t.Errorf("an honest client watches %d resources, want all 10", n)
			}
			for _, s := range append(open, other) {
				s.leave()
			}
			synctest.Wait()
		}
		w.end()
	})
}

// taskCall returns a call of a tool by a client that supports tasks.
func taskCall(id int, tool, arguments, address string) (body string, headers []string) {
	body = asked(id, "tools/call", tasksMeta, fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments))
	return body, append(modernHeaders("tools/call", tool), from, address)
}

// begin starts n tasks, and returns the ids of the accepted tasks and the number of calls with status 429.
func (w *web) begin(t *testing.T, n int, tool, arguments, address string) (ids []string, refused int) {
	t.Helper()
	for i := range n {
		body, headers := taskCall(i+1, tool, arguments, address)
		p := w.post(body, headers...)
		if p.status == http.StatusTooManyRequests {
			if m := decoded(t, p.body); m.Error == nil || m.Error.Message != "too many requests at once" {
				t.Fatalf("a call got 429 with %s, want an error that says why", p.body)
			}
			refused++
			continue
		}
		var r mcp.CreateTaskResult
		if _, err := mcp.Decode([]byte(decoded(t, p.body).Result), &r); err != nil || r.TaskID == "" {
			t.Fatalf("a call was answered with %d, %s (%v), want a task or 429", p.status, p.body, err)
		}
		ids = append(ids, r.TaskID)
	}
	return ids, refused
}

// task returns the status of a task.
func (w *web) task(t *testing.T, id, address string) mcp.TaskStatus {
	t.Helper()
	body := asked(1, "tasks/get", tasksMeta, fmt.Sprintf(`"taskId":%q`, id))
	p := w.post(body, append(modernHeaders("tasks/get", id), from, address)...)
	var r mcp.GetTaskResult
	if _, err := mcp.Decode([]byte(decoded(t, p.body).Result), &r); err != nil {
		t.Fatalf("tasks/get was answered with %s (%v)", p.body, err)
	}
	return r.Status
}

func TestOneAccountLeavesTasksForOthers(t *testing.T) {
	for name, o := range map[string]mcpserver.TaskOptions{"that run": {MaxRunning: 20}, "that are kept": {MaxKept: 20}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o.TTL = time.Minute
				w := serveAddresses(t, newTaskServer(t, mcpserver.Options{Tasks: &o}), nil)
				for range 3 { // after the tasks have expired, there is room again
					ids, refused := w.begin(t, 50, "compute", `{"seconds":5}`, greedy)
					if len(ids) != 10 || refused != 40 {
						t.Errorf("of one account %d tasks were taken and %d refused, want half of 20 taken", len(ids), refused)
					}
					if ids, _ := w.begin(t, 5, "compute", `{"seconds":5}`, modest); len(ids) != 5 {
						t.Errorf("%d of 5 tasks of an honest client were taken, want all", len(ids))
					}
					time.Sleep(10 * time.Second)
					if ids, _ := w.begin(t, 1, "compute", `{"seconds":5}`, greedy); (len(ids) == 1) != (o.MaxRunning > 0) {
						t.Errorf("when they are completed, %d more are taken; want them kept until their time is up", len(ids))
					}
					time.Sleep(2 * time.Minute)
				}
				w.end()
			})
		})
	}
}

func TestTaskResultsOfOneAccountLeaveRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const room, result = 1 << 20, 100 << 10
		s := newTaskServer(t, mcpserver.Options{Tasks: &mcpserver.TaskOptions{
			MaxKeptBytes: room, TTL: time.Minute, Store: store.NewMemoryTasks(0, room),
		}})
		big := func(context.Context, struct{}) (string, error) { return strings.Repeat("x", result), nil }
		if err := mcpserver.AddTool(s, &mcp.Tool{Name: "big"}, big, mcpserver.TaskTool()); err != nil {
			t.Fatal(err)
		}
		w := serveAddresses(t, s, nil)
		for range 3 {
			completed := 0
			ids, _ := w.begin(t, 20, "big", `{}`, greedy)
			synctest.Wait()
			for _, id := range ids {
				if w.task(t, id, greedy) == mcp.TaskCompleted {
					completed++
				}
			}
			if len(ids) != 20 || completed < 3 || completed > 5 {
				t.Errorf("of %d tasks of one account %d have kept their results, want what half of the room has", len(ids),
					completed)
			}
			own, _ := w.begin(t, 2, "big", `{}`, modest)
			synctest.Wait()
			for _, id := range own {
				if status := w.task(t, id, modest); status != mcp.TaskCompleted {
					t.Errorf("a task of an honest client is %s, want its result kept", status)
				}
			}
			time.Sleep(2 * time.Minute)
		}
		w.end()
	})
}

func TestWaitingHandlersOfOneAccountLeaveRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{}, "roots", rootsTool)
		w := serveAddresses(t, s, &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Waiting: 10}, KeepAlive: -1})
		open := func(address string) string {
			id := w.post(initializeAbleAs("2025-06-18"), from, address).header.Get("Mcp-Session-Id")
			w.post(initialized, "Mcp-Session-Id", id, from, address)
			return id
		}
		one, two := open(greedy), open(greedy)
		a := w.attack(t, 30, func(ctx context.Context, i int) *http.Request {
			session := one
			if i%2 == 1 {
				session = two
			}
			return request(t, ctx, "POST", callOf(100+i, "roots", "{}"), "Mcp-Session-Id", session, from, greedy)
		})
		if n := a.answered(http.StatusTooManyRequests); n != 25 {
			t.Errorf("%d of 30 calls of one account that wait for it got 429, want all but 5", n)
		}
		p := w.post(callOf(7, "roots", "{}"), "Mcp-Session-Id", one, from, greedy)
		if !strings.Contains(p.body, "too many requests at once") {
			t.Errorf("another one was answered with %s, want an error that says why", p.body)
		}
		session := open(modest)
		stream := w.stream("POST", callOf(7, "roots", "{}"), "Mcp-Session-Id", session, from, modest)
		if m := stream.message(); m.Method != "roots/list" {
			t.Errorf("the stream of a modest client brings %+v, want roots/list", m)
		}
		w.post(`{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///a"}]}}`, "Mcp-Session-Id", session, from, modest)
		if m := stream.message(); m.ID != 7.0 || !strings.Contains(string(m.Result), "1 roots") {
			t.Errorf("the stream brings %+v, want the result", m)
		}
		stream.over()
		a.end()
		w.end()
	})
}
