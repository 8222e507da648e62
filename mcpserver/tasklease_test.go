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

// countingStore counts what is saved, and fails as long as it is broken.
type countingStore struct {
	store.Tasks
	saves  atomic.Int64
	broken atomic.Bool
	deaf   atomic.Bool // tells nothing
}

var errBroken = errors.New("the database is gone")

func (s *countingStore) Load(ctx context.Context, id string) (*store.Task, error) {
	if s.broken.Load() {
		return nil, errBroken
	}
	return s.Tasks.Load(ctx, id)
}

func (s *countingStore) Save(ctx context.Context, r *store.Task) error {
	if s.broken.Load() {
		return errBroken
	}
	s.saves.Add(1)
	return s.Tasks.Save(ctx, r)
}

func (s *countingStore) Watch(ctx context.Context, changed func(string, int64)) (func(), error) {
	if s.deaf.Load() {
		return nil, errBroken
	}
	return s.Tasks.Watch(ctx, changed)
}

// inTwoServers runs a test with clients of two servers that share a store; each server has a view of it that may break.
func inTwoServers(t *testing.T, test func(t *testing.T, one, other *tasker, views [2]*countingStore)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		shared := store.NewMemoryTasks(0, 0)
		var views [2]*countingStore
		var clients [2]*tasker
		for i := range 2 {
			views[i] = &countingStore{Tasks: shared}
			clients[i] = newTasker(t, mcpserver.Options{Tasks: &mcpserver.TaskOptions{Store: views[i]}})
		}
		defer func() {
			for _, c := range clients {
				if err := c.end(time.Hour); err != nil {
					t.Errorf("Shutdown returned %v, want nil", err)
				}
			}
		}()
		test(t, clients[0], clients[1], views)
	})
}

func TestServersAnswerForEachOther(t *testing.T) {
	inTwoServers(t, func(t *testing.T, one, other *tasker, _ [2]*countingStore) {
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

func TestATaskWhoseServerIsGoneFails(t *testing.T) {
	inTwoServers(t, func(t *testing.T, one, other *tasker, views [2]*countingStore) {
		lost, unwanted := one.call("compute", `{"seconds":600}`).TaskID, one.call("compute", `{"seconds":600}`).TaskID
		time.Sleep(time.Minute)
		views[0].broken.Store(true)
		other.cancel(unwanted)
		time.Sleep(19 * time.Second)
		other.is(lost, mcp.TaskWorking)
		time.Sleep(12 * time.Second)
		if v := other.is(lost, mcp.TaskFailed); v.Error == nil || v.Error.Code != mcp.CodeInternalError ||
			!strings.Contains(v.Error.Message, "is gone") {
			t.Errorf("the task is %+v, want it failed because its server is gone", v)
		}
		other.is(unwanted, mcp.TaskCancelled)
		views[0].broken.Store(false) // it was only out of reach
		time.Sleep(time.Minute)
		other.is(lost, mcp.TaskFailed)
		start := time.Now()
		if err := one.server.Shutdown(context.Background()); err != nil || time.Since(start) > 0 {
			t.Errorf("Shutdown returned %v after %v, want handlers to have ended with their leases", err, time.Since(start))
		}
	})
}

func TestAnOutcomeWaitsForTheStore(t *testing.T) {
	inTwoServers(t, func(t *testing.T, one, other *tasker, views [2]*countingStore) {
		id := one.call("compute", `{"seconds":5}`).TaskID
		views[0].broken.Store(true)
		time.Sleep(10 * time.Second)
		if v := one.get(id); v.Error == nil || v.Error.Code != mcp.CodeInternalError ||
			strings.Contains(v.Error.Message, "database") {
			t.Errorf("while the store is broken tasks/get got %+v, want an internal error", v)
		}
		other.is(id, mcp.TaskWorking)
		views[0].broken.Store(false)
		time.Sleep(6 * time.Second)
		other.is(id, mcp.TaskCompleted)
		views[0].broken.Store(true)
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

func TestAServerDoesNotTakeItselfForGone(t *testing.T) {
	inTwoServers(t, func(t *testing.T, one, other *tasker, views [2]*countingStore) {
		id := one.call("compute", `{"seconds":300}`).TaskID
		views[0].broken.Store(true)
		time.Sleep(time.Minute + 500*time.Millisecond)
		views[0].broken.Store(false)
		one.is(id, mcp.TaskWorking)
		synctest.Wait()
		other.is(id, mcp.TaskWorking) // the lease is renewed
		time.Sleep(5 * time.Minute)
		other.is(id, mcp.TaskCompleted)
	})
}

// leapingStore shows its server the store as it would look if the wall clock had leapt forward.
type leapingStore struct {
	store.Tasks
	leap atomic.Int64 // nanoseconds
}

// moved returns the task with its lease moved by d.
func moved(r *store.Task, d time.Duration) *store.Task {
	r = new(*r)
	if !r.Lease.IsZero() {
		r.Lease = r.Lease.Add(d)
	}
	return r
}

func (s *leapingStore) Load(ctx context.Context, id string) (*store.Task, error) {
	r, err := s.Tasks.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	return moved(r, -time.Duration(s.leap.Load())), nil
}

func (s *leapingStore) List(ctx context.Context, principal string, behind store.TaskPlace, limit int) ([]*store.Task,
	error) {
	found, err := s.Tasks.List(ctx, principal, behind, limit)
	for i, r := range found {
		found[i] = moved(r, -time.Duration(s.leap.Load()))
	}
	return found, err
}

func (s *leapingStore) Save(ctx context.Context, r *store.Task) error {
	return s.Tasks.Save(ctx, moved(r, time.Duration(s.leap.Load())))
}

func TestATaskOutlivesALeapOfTheClock(t *testing.T) {
	for name, o := range map[string]mcpserver.TaskOptions{
		"a store that others may share": {Store: store.NewMemoryTasks(0, 0)},
		"a store of its own":            {},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, mcpserver.Options{Tasks: &o}, func(t *testing.T, c *tasker) {
				s := new(leapingStore)
				c.server.WrapTasks(func(kept store.Tasks) store.Tasks {
					s.Tasks = kept
					return s
				})
				id := c.call("compute", `{"seconds":60}`).TaskID
				s.leap.Store(int64(time.Hour))
				for range 5 {
					c.is(id, mcp.TaskWorking)
					time.Sleep(11 * time.Second)
				}
				time.Sleep(6 * time.Second)
				c.is(id, mcp.TaskCompleted)
			})
		})
	}
}

func TestShutdownFreesTheTasksOfAStoreOfItsOwn(t *testing.T) {
	inBubble(t, mcpserver.Options{}, func(t *testing.T, c *tasker) {
		const size = 32 << 20
		err := mcpserver.AddTaskTool(c.server, &mcp.Tool{Name: "large"}, func(context.Context, struct{}) (string, error) {
			return strings.Repeat("x", size/8), nil
		})
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
		time.Sleep(time.Minute) // timers of what has ended keep memory too, but the tasks themselves would stay for an hour
		left := heap() - empty
		for range 10 { // a collection may have been under way
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

func TestAServerThatIsToldNothingLooks(t *testing.T) {
	inTwoServers(t, func(t *testing.T, one, other *tasker, views [2]*countingStore) {
		views[0].deaf.Store(true)
		id := one.call("confirm", `{"questions":["sure?"]}`).TaskID
		other.respond(id, `{"1":{"action":"accept"}}`)
		other.is(id, mcp.TaskWorking)
		time.Sleep(11 * time.Second)
		other.is(id, mcp.TaskCompleted)
	})
}
