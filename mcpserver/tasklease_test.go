package mcpserver_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// breakableStore fails while it is broken.
type breakableStore struct {
	store.Tasks
	broken atomic.Bool
}

var errBroken = errors.New("the database is gone")

func (s *breakableStore) Load(ctx context.Context, id string) (*store.Task, error) {
	if s.broken.Load() {
		return nil, errBroken
	}
	return s.Tasks.Load(ctx, id)
}

func (s *breakableStore) Save(ctx context.Context, r *store.Task) error {
	if s.broken.Load() {
		return errBroken
	}
	return s.Tasks.Save(ctx, r)
}

// inTwoServers runs a test with clients of two servers that share a store. view is the first server's access to the
// store.
func inTwoServers(t *testing.T, test func(t *testing.T, one, other *tasker, view *breakableStore)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		shared := store.NewMemoryTasks(0, 0)
		view := &breakableStore{Tasks: shared}
		one := newTasker(t, mcpserver.Options{Tasks: &mcpserver.TaskOptions{Store: view}})
		other := newTasker(t, mcpserver.Options{Tasks: &mcpserver.TaskOptions{Store: shared}})
		defer func() {
			for _, c := range []*tasker{one, other} {
				if err := c.end(time.Hour); err != nil {
					t.Errorf("Shutdown returned %v, want nil", err)
				}
			}
		}()
		test(t, one, other, view)
	})
}

func TestServersHandleEachOthersTasks(t *testing.T) {
	inTwoServers(t, func(t *testing.T, one, other *tasker, _ *breakableStore) {
		id := one.call("confirm", `{"questions":["sure?"]}`).TaskID
		other.is(id, mcp.TaskInputRequired)
		other.respond(id, `{"1":{"action":"accept"}}`)
		if v := other.is(id, mcp.TaskCompleted); !strings.Contains(v.Result.Text(), "accept") {
			t.Errorf("the task is %+v, want the response that came by way of another server", v)
		}
		id = one.call("compute", `{"seconds":600}`).TaskID
		time.Sleep(5 * time.Minute)
		other.is(id, mcp.TaskWorking)
		other.cancel(id)
		other.is(id, mcp.TaskCancelled)
	})
}

func TestTaskOutcomeWaitsForStore(t *testing.T) {
	inTwoServers(t, func(t *testing.T, one, other *tasker, view *breakableStore) {
		id := one.call("compute", `{"seconds":5}`).TaskID
		view.broken.Store(true)
		time.Sleep(10 * time.Second)
		if v := one.get(id); v.Error == nil || v.Error.Code != mcp.CodeInternalError ||
			strings.Contains(v.Error.Message, "database") {
			t.Errorf("while the store is broken tasks/get got %+v, want an internal error", v)
		}
		other.is(id, mcp.TaskWorking)
		view.broken.Store(false)
		time.Sleep(6 * time.Second)
		other.is(id, mcp.TaskCompleted)
		view.broken.Store(true)
		if m := one.ask("tools/call", `"name":"compute","arguments":{"seconds":5}`); m.Error == nil ||
			m.Error.Code != mcp.CodeInternalError {
			t.Errorf("with a broken store a call got %+v, want it refused", m)
		}
		one.send(asked(100, "tools/call", tasksMeta, `"name":"later","arguments":{"begin":true}`))
		time.Sleep(3 * time.Second)
		if m := one.reply(t); m.Error == nil || m.Error.Code != mcp.CodeInternalError ||
			strings.Contains(m.Error.Message, "database") {
			t.Errorf("a handler that cannot begin its task is answered with %+v, want an internal error", m)
		}
	})
}

func TestShutdownFreesTasksInOwnStore(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		const size = 32 << 20
		err := mcpserver.AddTool(c.server, &mcp.Tool{Name: "large"}, func(context.Context, struct{}) (string, error) {
			return strings.Repeat("x", size/8), nil
		}, mcpserver.TaskTool())
		if err != nil {
			t.Fatal(err)
		}
		heap := func() int64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		empty := heap()
		for range 8 {
			c.call("large", `{}`)
		}
		synctest.Wait()
		full := heap()
		if full-empty < size {
			t.Fatalf("8 tasks keep %d bytes, want %d at least", full-empty, size)
		}
		if err := c.server.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // the timers of ended work, which keep memory, have fired; the TTL of tasks is an hour
		left := heap() - empty
		for range 10 { // repeat, because a garbage collection may have been running
			if left <= size/2 {
				break
			}
			left = heap() - empty
		}
		if left > size/2 {
			t.Errorf("after Shutdown %d bytes are left of %d", left, full-empty)
		}
	})
}
