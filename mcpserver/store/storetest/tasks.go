package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// TasksHarness provides the store and the clock for [TestTasks].
type TasksHarness struct {
	// Open returns two views of one new, empty store, as if for two processes. If the store supports only one process,
	// Open returns the same view twice. Open must close the views at the end of the test.
	Open func(t *testing.T) (one, other store.Tasks)

	// Pass advances the store's clock by d.
	Pass func(t *testing.T, d time.Duration)

	// Around wraps each test; nil calls the test directly. Use [testing/synctest.Test] for a store that uses the bubble's
	// clock.
	Around func(t *testing.T, test func(t *testing.T))

	// Unit is the resolution of expiry times in the store. Zero means 1 s.
	Unit time.Duration
}

// TestTasks tests a store of tasks, with a subtest for each requirement.
func TestTasks(t *testing.T, h TasksHarness) {
	if h.Around == nil {
		h.Around = func(t *testing.T, test func(*testing.T)) { test(t) }
	}
	if h.Unit == 0 {
		h.Unit = time.Second
	}
	for name, test := range map[string]func(*rig){
		"AllProcessesLoadASavedTask":     found,
		"UnknownTask":                    missing,
		"SeparatesIDsOfAnyKind":          anyTaskIDs,
		"RevisionsAreConsecutive":        revisions,
		"OneOfConcurrentSavesSucceeds":   contended,
		"NoChangeIsLost":                 counted,
		"CallerMayChangeItsRecord":       owned,
		"TaskIsKeptUntilItExpires":       expiring,
		"SaveMayChangeTheExpiry":         postponed,
		"ListReturnsTasksOfOnePrincipal": listed,
		"PlacesInAListAreStable":         paged,
		"WatchReportsChanges":            watched,
		"EndedContextEndsTheCall":        ended,
	} {
		t.Run(name, func(t *testing.T) {
			h.Around(t, func(t *testing.T) {
				one, other := h.Open(t)
				test(&rig{T: t, TasksHarness: h, one: one, other: other})
			})
		})
	}
}

type rig struct {
	*testing.T
	TasksHarness
	one, other store.Tasks
}

// task returns a new task with all fields set.
func (r *rig) task(id string) *store.Task {
	now := time.Now().UTC().Truncate(time.Millisecond)
	return &store.Task{
		ID: id, Revision: 1, Change: 1, Principal: "alice@example.com", Version: mcp.Version20260728,
		Method: mcp.MethodCallTool,
		Target: "compute", Status: mcp.TaskInputRequired, Message: "»waiting«", Created: now,
		Updated:  now.Add(time.Millisecond),
		Expires:  now.Add(time.Hour),
		Requests: mcp.InputRequests{"1": {Method: mcp.MethodElicit, Params: json.RawMessage(`{"message":"sure?"}`)}},
		Responses: mcp.InputResponses{
			"2": json.RawMessage(`{"action":"accept"}`), "3": json.RawMessage(`{"action":"decline"}`),
		},
		Asked: 3, Result: json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("x", 1<<20) + `"}]}`),
		Error: &mcp.Error{Code: mcp.CodeInternalError, Message: "broken",
			Data: json.RawMessage(`{"why":[1,null]}`)},
		CancelRequested: true, Owner: "server", Lease: now.Add(30 * time.Second),
	}
}

// save saves t and requires success.
func (r *rig) save(s store.Tasks, t *store.Task) {
	r.Helper()
	if err := s.Save(r.Context(), t); err != nil {
		r.Fatalf("Save of revision %d: want no error, got %v", t.Revision, err)
	}
}

// load loads a task and requires success.
func (r *rig) load(s store.Tasks, id string) *store.Task {
	r.Helper()
	t, err := s.Load(r.Context(), id)
	if err != nil {
		r.Fatalf("Load of %s: want no error, got %v", id, err)
	}
	return t
}

// fails checks the error of a call.
func (r *rig) fails(what string, got, want error) {
	r.Helper()
	if !errors.Is(got, want) {
		r.Errorf("%s: want the error %q, got %v", what, want, got)
	}
}

// same checks that two records are equal.
func (r *rig) same(got, want *store.Task) {
	r.Helper()
	g, err := json.Marshal(got)
	if err != nil {
		r.Fatal(err)
	}
	w, err := json.Marshal(want)
	if err != nil {
		r.Fatal(err)
	}
	if string(g) != string(w) {
		r.Errorf("the task: want %.600s, got %.600s", w, g)
	}
}

func found(r *rig) {
	full, bare := r.task("full"), &store.Task{ID: "bare", Revision: 1, Status: mcp.TaskWorking}
	for _, t := range []*store.Task{full, bare} {
		r.save(r.one, t)
		for _, s := range []store.Tasks{r.one, r.other} {
			r.same(r.load(s, t.ID), t)
		}
	}
}

func missing(r *rig) {
	_, err := r.one.Load(r.Context(), "nobody")
	r.fails("Load of a task that was never saved", err, store.ErrNoTask)
	t := r.task("nobody")
	t.Revision = 2
	r.fails("Save of the second revision of an unknown task", r.one.Save(r.Context(), t), store.ErrNoTask)
}

func revisions(r *rig) {
	t := r.task("t")
	r.save(r.one, t)
	r.fails("Save of the first revision again", r.other.Save(r.Context(), t), store.ErrConflict)
	second := r.load(r.other, "t")
	second.Revision, second.Message = 2, "second"
	r.save(r.other, second)
	r.fails("Save of a stored revision", r.one.Save(r.Context(), second), store.ErrConflict)
	second.Revision = 4
	r.fails("Save of a revision that skips one", r.one.Save(r.Context(), second), store.ErrConflict)
	second.Revision = 2
	r.same(r.load(r.one, "t"), second)
}

func contended(r *rig) {
	r.save(r.one, r.task("t"))
	var won atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s := []store.Tasks{r.one, r.other}[i%2]
			t := r.task("t")
			t.Revision, t.Message = 2, fmt.Sprint(i)
			switch err := s.Save(r.Context(), t); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, store.ErrConflict):
				r.Errorf("concurrent Save of a revision: want the error %q or none, got %v", store.ErrConflict, err)
			}
		})
	}
	all.Wait()
	if n := won.Load(); n != 1 {
		r.Errorf("concurrent Saves of the same revision: want one to succeed, got %d", n)
	}
}

func counted(r *rig) {
	const writers, each = 4, 10
	first := r.task("t")
	first.Asked, first.Result = 0, nil
	r.save(r.one, first)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			s := []store.Tasks{r.one, r.other}[i%2]
			for range each {
				for {
					t, err := s.Load(r.Context(), "t")
					if err != nil {
						r.Errorf("Load: want no error, got %v", err)
						return
					}
					t.Revision++
					t.Asked++
					if err = s.Save(r.Context(), t); err == nil {
						break
					}
					if !errors.Is(err, store.ErrConflict) {
						r.Errorf("Save: want the error %q or none, got %v", store.ErrConflict, err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	if t := r.load(r.one, "t"); t.Asked != writers*each || t.Revision != writers*each+1 {
		r.Errorf("want %d additions in as many further revisions, got %d in revision %d", writers*each, t.Asked, t.Revision)
	}
}

func owned(r *rig) {
	t := r.task("t")
	r.save(r.one, t)
	t.Message = "changed by who saved it"
	loaded := r.load(r.one, "t")
	loaded.Message, loaded.Requests = "changed by who loaded it", nil
	want := r.task("t")
	got := r.load(r.one, "t")
	if got.Message != want.Message || len(got.Requests) != 1 {
		r.Errorf("after the caller changed its own record: want %q in the store, got %q", want.Message,
			got.Message)
	}
}

func expiring(r *rig) {
	t, forever := r.task("t"), r.task("forever")
	t.Expires = t.Created.Add(4 * r.Unit)
	forever.Expires = time.Time{}
	r.save(r.one, t)
	r.save(r.one, forever)
	r.Pass(r.T, r.Unit)
	r.load(r.other, "t")
	r.Pass(r.T, 4*r.Unit)
	_, err := r.other.Load(r.Context(), "t")
	r.fails("Load of a task that has expired", err, store.ErrNoTask)
	t.Revision = 2
	r.fails("Save of a task that has expired", r.one.Save(r.Context(), t), store.ErrNoTask)
	r.load(r.other, "forever")
}

func postponed(r *rig) {
	later, never := r.task("later"), r.task("never")
	for _, t := range []*store.Task{later, never} {
		t.Expires = t.Created.Add(4 * r.Unit)
		r.save(r.one, t)
		t.Revision = 2
	}
	later.Expires = later.Created.Add(time.Hour)
	never.Expires = time.Time{}
	r.save(r.other, later)
	r.save(r.other, never)
	r.Pass(r.T, 5*r.Unit)
	r.load(r.one, "later")
	r.load(r.one, "never")
	later.Revision, later.Expires = 3, later.Created.Add(7*r.Unit)
	r.save(r.one, later)
	r.Pass(r.T, 3*r.Unit)
	_, err := r.one.Load(r.Context(), "later")
	r.fails("Load of an expired task whose expiry was changed twice", err, store.ErrNoTask)
}

// list returns the ids that the store lists.
func (r *rig) list(s store.Tasks, principal string, behind store.TaskPlace, limit int) (ids []string) {
	r.Helper()
	found, err := s.List(r.Context(), principal, behind, limit)
	if err != nil {
		r.Fatalf("List for %q: want no error, got %v", principal, err)
	}
	for _, t := range found {
		if t.Principal != principal {
			r.Errorf("List for %q: want no task of others, got one of %q", principal, t.Principal)
		}
		ids = append(ids, t.ID)
	}
	return ids
}

// lists checks the ids that the store lists.
func (r *rig) lists(principal string, behind store.TaskPlace, limit int, want ...string) {
	r.Helper()
	for _, s := range []store.Tasks{r.one, r.other} {
		if got := r.list(s, principal, behind, limit); !slices.Equal(got, want) {
			r.Errorf("List of at most %d for %q behind %v: want %q, got %q", limit, principal, behind, want, got)
		}
	}
}

func listed(r *rig) {
	begin := store.TaskPlace{}
	r.lists("alice", begin, 10)
	t := r.task("mine")
	t.Principal, t.Owner = "alice", "x"
	r.save(r.one, t)
	for i, principal := range []string{"bob", "alic", "alice2", "*", "{alice}"} {
		other := r.task(fmt.Sprint("other", i))
		other.Principal, other.Result = principal, nil
		r.save(r.other, other)
		r.lists(principal, begin, 10, other.ID)
	}
	t.Revision, t.Message, t.Status = 2, "second", mcp.TaskCompleted
	r.save(r.other, t)
	r.lists("alice", begin, 10, "mine")
	found, err := r.one.List(r.Context(), "alice", begin, 1)
	if err != nil || len(found) != 1 {
		r.Fatalf("List: want the task, got %v and %v", found, err)
	}
	want := new(*t)
	for _, t := range []*store.Task{found[0], want} { // fields that a list may omit
		t.Requests, t.Responses, t.Result, t.Error = nil, nil, nil, nil
	}
	r.same(found[0], want)

	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	_, err = r.one.List(ctx, "alice", begin, 1)
	r.fails("List with a context that has ended", err, context.Canceled)
}

func paged(r *rig) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	var ids []string
	var places []store.TaskPlace
	for i, c := range []struct {
		id  string
		age time.Duration
	}{{"z", 3 * time.Second}, {"b", time.Second}, {"b\x00", time.Second}, {"ä", time.Second}, {"a", 0},
		{"short", -time.Millisecond}} {
		t := r.task(c.id)
		t.Created, t.Result = now.Add(-c.age), nil
		if c.id == "short" {
			t.Expires = time.Now().Add(r.Unit)
		}
		ids, places = append(ids, c.id), append(places, t.Place())
		r.save([]store.Tasks{r.one, r.other}[i%2], t)
	}
	const alice = "alice@example.com"
	r.lists(alice, store.TaskPlace{}, 3, ids[:3]...)
	r.lists(alice, places[0], 2, ids[1:3]...)
	r.lists(alice, places[2], 1, ids[3])
	r.lists(alice, store.TaskPlace{Created: places[1].Created, ID: "a task that is gone"}, 2, ids[1:3]...)
	r.Pass(r.T, 2*r.Unit)
	r.lists(alice, places[2], 10, ids[3:5]...)
	r.lists(alice, places[4], 10)
	t := r.task("new")
	t.Created, t.Result, t.Expires = now.Add(time.Second), nil, time.Time{}
	r.save(r.one, t)
	r.lists(alice, places[3], 10, "a", "new")
}

func watched(r *rig) {
	type change struct {
		id       string
		revision int64
	}
	told := make(chan change, 100)
	stop, err := r.one.Watch(r.Context(), func(id string, revision int64) { told <- change{id, revision} })
	if err != nil {
		r.Fatalf("Watch: want no error, got %v", err)
	}
	hear := func(want change) {
		r.Helper()
		for {
			select {
			case got := <-told:
				if got == want {
					return
				}
			case <-time.After(patience):
				r.Fatalf("want Watch to report %v, got nothing in %v", want, patience)
			}
		}
	}
	a, b := r.task("a"), r.task("b")
	r.save(r.one, a)
	hear(change{"a", 1})
	r.save(r.other, b)
	hear(change{"b", 1})
	a.Revision = 2
	r.save(r.other, a)
	hear(change{"a", 2})
	stop()
	for len(told) > 0 {
		<-told
	}
	a.Revision = 3
	r.save(r.one, a)
	again := make(chan change, 100)
	if stop, err = r.one.Watch(r.Context(), func(id string, revision int64) {
		again <- change{id, revision}
	}); err != nil {
		r.Fatalf("second Watch: want no error, got %v", err)
	}
	defer stop()
	a.Revision = 4
	r.save(r.one, a)
	select {
	case <-again: // the stopped watch would have got a call too
	case <-time.After(patience):
		r.Fatalf("second Watch: want a call, got none in %v", patience)
	}
	if n := len(told); n > 0 {
		r.Errorf("after stop: want no calls, got %d", n)
	}
}

func ended(r *rig) {
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	r.save(r.one, r.task("t"))
	_, err := r.one.Load(ctx, "t")
	r.fails("Load with a context that has ended", err, context.Canceled)
	r.fails("Save with a context that has ended", r.one.Save(ctx, r.task("u")), context.Canceled)
}

// anyTaskIDs checks that long and unusual ids do not share a task. Clients can send any id.
func anyTaskIDs(r *rig) {
	long := strings.Repeat("x", 1<<20)
	ids := []string{
		"a", "{a}", "a}", "{a", "a}:{a", "a\x00", "a\x00a", "a\r\n", "a ", "a*", "ä\u202e", "{}", "*",
		long, long + "{a}", strings.Repeat("}", 1<<20),
	}
	for i, id := range ids {
		_, err := r.one.Load(r.Context(), id)
		r.fails(fmt.Sprintf("Load of %.40q before Save", id), err, store.ErrNoTask)
		t := r.task(id)
		t.Result, t.Target = nil, fmt.Sprint(i)
		r.save(r.one, t)
	}
	for i, id := range ids {
		if t := r.load(r.other, id); t.ID != id || t.Target != fmt.Sprint(i) {
			r.Errorf("Load of %.40q: want its own task, got %.40q", id, t.ID)
		}
	}
}
