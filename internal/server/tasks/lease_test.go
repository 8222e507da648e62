package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/tasks"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// countingStore counts the saved revisions, and fails while it is broken.
type countingStore struct {
	store.Tasks
	saves  atomic.Int64
	broken atomic.Bool
	deaf   atomic.Bool // Watch fails
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

// inTwoServers runs a test with two servers that share a store. The first server uses the store through view.
func inTwoServers(t *testing.T, test func(t *testing.T, one, other *bakery, view *countingStore)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		shared := store.NewMemoryTasks(0, 0)
		view := &countingStore{Tasks: shared}
		test(t, newBakery(t, tasks.Options{Store: view}), newBakery(t, tasks.Options{Store: shared}), view)
	})
}

func TestTaskOfLostServerFails(t *testing.T) {
	inTwoServers(t, func(t *testing.T, one, other *bakery, view *countingStore) {
		lost, unwanted := one.bake("rye"), one.bake("rye")
		time.Sleep(time.Minute)
		view.broken.Store(true)
		if _, err := other.keeper.Cancel(t.Context(), baker, unwanted); err != nil {
			t.Fatal(err)
		}
		time.Sleep(19 * time.Second)
		other.is(lost, mcp.TaskWorking)
		time.Sleep(12 * time.Second)
		if v := other.is(lost, mcp.TaskFailed); v.Error == nil || v.Error.Code != mcp.CodeInternalError ||
			!strings.Contains(v.Error.Message, "has ended") {
			t.Errorf("the task is %+v, want status failed because its server has ended", v)
		}
		other.is(unwanted, mcp.TaskCancelled)
		view.broken.Store(false) // the store was only unreachable
		time.Sleep(time.Minute)
		other.is(lost, mcp.TaskFailed)
		start := time.Now()
		if err := one.keeper.Shutdown(context.Background()); err != nil || time.Since(start) > 0 {
			t.Errorf("Shutdown returned %v after %v, want handlers to have ended with their leases", err, time.Since(start))
		}
	})
}

func TestServerRenewsLeaseAfterStoreOutage(t *testing.T) {
	inTwoServers(t, func(t *testing.T, one, other *bakery, view *countingStore) {
		id := one.bake("rye")
		view.broken.Store(true)
		time.Sleep(time.Minute + 500*time.Millisecond)
		view.broken.Store(false)
		one.is(id, mcp.TaskWorking)
		synctest.Wait()
		other.is(id, mcp.TaskWorking) // the lease is renewed
		time.Sleep(5 * time.Minute)
		other.is(id, mcp.TaskCompleted)
	})
}

func TestServerPollsWithoutStoreSignals(t *testing.T) {
	inTwoServers(t, func(t *testing.T, one, other *bakery, view *countingStore) {
		view.deaf.Store(true)
		id := one.bake("custom")
		if err := other.keeper.Update(t.Context(), baker, id, mcp.InputResponses{"1": []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		other.is(id, mcp.TaskWorking)
		time.Sleep(11 * time.Second)
		other.is(id, mcp.TaskCompleted)
	})
}

func TestFrequentStatusMessagesAreThrottled(t *testing.T) {
	inTwoServers(t, func(t *testing.T, one, _ *bakery, view *countingStore) {
		id := one.bake("timed")
		time.Sleep(1900 * time.Millisecond)
		one.is(id, mcp.TaskWorking)
		if n := view.saves.Load(); n > 10 {
			t.Errorf("1,000 messages in 2 s were saved %d times, want 4 times a second", n)
		}
		time.Sleep(time.Second)
	})
}

func TestListIncludesTasksOfLostServers(t *testing.T) {
	inTwoServers(t, func(t *testing.T, one, other *bakery, view *countingStore) {
		one.ask("bake", `"recipe":"rye","legacy":true`)
		view.broken.Store(true) // so the server does not renew the lease
		time.Sleep(time.Minute)
		page, next, err := other.keeper.List(t.Context(), old, store.TaskPlace{}, 10)
		if err != nil || len(page) != 1 || page[0].Status != mcp.TaskFailed || next != nil {
			t.Errorf("List returned %v, %v, %v, want one page with the task failed", page, next, err)
		}
		view.broken.Store(false)
		time.Sleep(time.Minute) // the server learns that the task has failed
	})
}

func TestWatchIncludesTasksOfOtherServers(t *testing.T) {
	inTwoServers(t, func(t *testing.T, one, other *bakery, view *countingStore) {
		done, lost := one.bake("bread"), one.bake("rye")
		group := rpc.NewGroup(0)
		defer rpc.CloseGroup(group)
		var got []string
		watch := func(id string) *tasks.Watch {
			w := other.keeper.NewWatch(t.Context(), group, []string{id}, func(params json.RawMessage) bool {
				status, _ := mcp.Object(params).Lookup("status")
				got = append(got, string(status))
				return true
			})
			w.Start()
			synctest.Wait()
			return w
		}
		w := watch(done)
		time.Sleep(time.Minute + time.Second)
		w.Stop()
		w = watch(lost)
		view.broken.Store(true)
		time.Sleep(time.Minute + time.Second)
		w.Stop()
		if want := `["working" "completed" "working" "failed"]`; fmt.Sprint(got) != want {
			t.Errorf("the watch sent %v, want %s", got, want)
		}
		view.broken.Store(false)
		time.Sleep(time.Minute)
	})
}

// leapingStore presents the tasks as if the server's wall clock had jumped forward.
type leapingStore struct {
	store.Tasks
	leap atomic.Int64 // nanoseconds
}

// moved returns a copy of the task with its lease moved by d.
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

func (s *leapingStore) Save(ctx context.Context, r *store.Task) error {
	return s.Tasks.Save(ctx, moved(r, time.Duration(s.leap.Load())))
}

func TestTaskSurvivesClockJump(t *testing.T) {
	for name, free := range map[string]func(){"a store that others may share": nil, "a store of its own": func() {}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &leapingStore{Tasks: store.NewMemoryTasks(0, 0)}
				b := newBakery(t, tasks.Options{Store: s, Free: free})
				id := b.bake("bread")
				s.leap.Store(int64(time.Hour))
				for range 5 {
					b.is(id, mcp.TaskWorking)
					time.Sleep(11 * time.Second)
				}
				time.Sleep(6 * time.Second)
				b.is(id, mcp.TaskCompleted)
			})
		})
	}
}
