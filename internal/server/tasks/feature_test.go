package tasks_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/tasks"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// bakery is a minimal server with tasks, as another package would write it. A call of its method bake may become a
// task.
type bakery struct {
	t        *testing.T
	keeper   *tasks.Keeper
	exchange *rpc.Exchange
	client   *client
	last     int // id of the latest request
}

// recipe configures one kind of bake call.
type recipe struct {
	waits bool          // the call does not become a task immediately
	after time.Duration // time after which the call becomes a task
	ttl   time.Duration
	bake  func(ctx context.Context, r *tasks.Run) (string, error)
}

var recipes = map[string]recipe{
	"bread":  {bake: bakeFor(time.Minute)},
	"rye":    {bake: bakeFor(5 * time.Minute)},
	"roll":   {bake: bakeFor(time.Second), waits: true, after: 10 * time.Second},
	"sponge": {bake: bakeFor(time.Minute), waits: true, after: 10 * time.Second},
	"mould":  {bake: bakeFor(time.Hour), ttl: 5 * time.Second},
	"stone": {bake: func(context.Context, *tasks.Run) (string, error) { // ignores the end of its context
		time.Sleep(time.Hour)
		return "stone", nil
	}},
	"burnt": {bake: func(context.Context, *tasks.Run) (string, error) { panic("fire") }},
	"custom": {bake: func(ctx context.Context, r *tasks.Run) (string, error) {
		if asks, err := r.CanAsk(ctx); !asks || err != nil {
			return "", errors.Join(err, errors.New("the task cannot ask"))
		}
		said, err := r.Ask(ctx, mcp.InputRequests{"it": {Method: "bakery/what"}})
		return string(said["it"]), err
	}},
	"timed": {bake: func(ctx context.Context, r *tasks.Run) (string, error) {
		for i := range 1000 {
			if err := r.Progress(ctx, float64(i+1), 1000, ""); err != nil {
				return "", err
			}
			time.Sleep(2 * time.Millisecond)
		}
		return "timed", nil
	}},
}

func bakeFor(d time.Duration) func(context.Context, *tasks.Run) (string, error) {
	return func(ctx context.Context, _ *tasks.Run) (string, error) {
		select {
		case <-time.After(d):
			return "baked", nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// newBakery returns a server with the store of o, or with a memory store. The test ends the server.
func newBakery(t *testing.T, o tasks.Options) *bakery {
	if o.Store == nil {
		o.Store, o.Free = store.NewMemoryTasks(0, 0), func() {}
	}
	o.PollInterval, o.MaxRunning, o.MaxKept = time.Second, cmp.Or(o.MaxRunning, 100), cmp.Or(o.MaxKept, 100)
	o.MaxKeptBytes, o.MaxResult, o.Lease = 1<<20, 1<<10, 30*time.Second
	o.Stopping = &mcp.Error{Code: mcp.CodeInternalError, Message: "closed for today"}
	b := &bakery{t: t, keeper: tasks.New(o), client: new(client)}
	group := rpc.NewGroup(0)
	b.exchange = &rpc.Exchange{
		Engine: &rpc.Engine{Calls: rpc.NewCalls(100, 0, 1<<20, group, nil), Group: group, FrameLimit: 1 << 20},
		Peer:   new(rpc.Peer), Server: b, Asks: rpc.NewAsks(), Out: b.client, Work: t.Context(), Life: t.Context(),
	}
	t.Cleanup(func() {
		if err := b.keeper.Shutdown(context.Background()); err != nil {
			t.Errorf("Shutdown returned %v, want nil", err)
		}
		rpc.CloseGroup(group)
	})
	return b
}

// ask sends a request and returns the immediate answer.
func (b *bakery) ask(method, params string, args ...any) string {
	b.last++
	b.exchange.Receive(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, b.last, method,
		fmt.Sprintf(params, args...)))
	synctest.Wait()
	return b.client.take()
}

// bake starts a task and returns its id.
func (b *bakery) bake(recipe string) string {
	b.t.Helper()
	answer := b.ask("bake", `"recipe":%q`, recipe)
	var m struct{ Result mcp.CreateTaskResult }
	if err := json.Unmarshal([]byte(answer), &m); err != nil || m.Result.TaskID == "" {
		b.t.Fatalf("bake was answered with %s (%v), want a task", answer, err)
	}
	return m.Result.TaskID
}

// is requires that a task has this status, and returns the task.
func (b *bakery) is(id string, want mcp.TaskStatus) mcp.DetailedTask {
	b.t.Helper()
	result, err := b.keeper.Get(b.t.Context(), baker, id)
	if err != nil {
		b.t.Fatalf("Get returned %v, want the task to be %s", err, want)
	}
	task := result.(*mcp.GetTaskResult).DetailedTask
	if task.Status != want {
		b.t.Errorf("the task is %s, want %s", task.Status, want)
	}
	return task
}

// baker is a modern client; old is the same client with revision 2025-11-25.
var (
	baker = tasks.Client{Principal: "baker", Version: mcp.Version20260728}
	old   = tasks.Client{Principal: "baker", Version: mcp.Version20251125}
)

func (b *bakery) NewCall() *rpc.Call {
	c := &order{bakery: b}
	c.Handler = c
	return &c.Call
}

func (b *bakery) Notified(*jsonrpc.Message) error                          { return nil }
func (b *bakery) Describe(*jsonrpc.Message) instrument.Incoming            { return instrument.Incoming{} }
func (b *bakery) Version() mcp.Version                                     { return "" }
func (b *bakery) Cancellation(reason string) error                         { return rpc.Cancellation(reason) }
func (b *bakery) CountRefused(string, rpc.Answer, bool)                    {}
func (b *bakery) Elsewhere() rpc.Elsewhere                                 { return nil }
func (b *bakery) NotifyTask(method, _ string)                              { _ = b.client.add([]byte(method)) }
func (c *order) Close(error)                                               {}
func (c *order) Outcome(_ any, err, _ error) instrument.Result             { return rpc.ResultOf(err) }
func (c *order) Left(why error) instrument.Result                          { return rpc.ResultOf(why) }
func (c *order) About() (string, mcp.Version)                              { return c.method, "" }
func (c *order) Value() any                                                { return c }
func (c *order) CanAsk() bool                                              { return true }
func (r *baking) Value() any                                               { return r }
func (r *baking) Outcome(*mcp.CallToolResult, error) (o instrument.Result) { return o }

// order is a request, and its handler.
type order struct {
	rpc.Call
	bakery *bakery
	method string
	params struct {
		Recipe, TaskID, Account string
		Legacy                  bool
		InputResponses          mcp.InputResponses
	}
}

func (c *order) Begin(method string, raw json.RawMessage, _ jsonrpc.Params) {
	c.method, c.Refused = method, json.Unmarshal(raw, &c.params)
	c.Start(new(instrument.Incoming))
}

func (c *order) Handle(ctx context.Context) (any, error) {
	k, id, from := c.bakery.keeper, c.params.TaskID, baker
	if c.params.Legacy {
		from = old
	}
	switch c.method {
	case "bake":
		return c.bake(ctx, from)
	case mcp.MethodGetTask:
		return k.Get(ctx, from, id)
	case mcp.MethodUpdateTask:
		return nil, k.Update(ctx, from, id, c.params.InputResponses)
	case mcp.MethodCancelTask:
		return k.Cancel(ctx, from, id)
	case mcp.MethodTaskResult:
		return k.Result(&c.Call, c, from, id)
	}
	panic("no such method")
}

func (c *order) Encode(dst []byte, result any, err error) (frame, rest []byte, wrong error) {
	if err != nil {
		return rpc.AppendError(dst, c.ID, rpc.WireError(err)), nil, err
	}
	raw, err := mcp.AppendResult(nil, result)
	return jsonrpc.AppendAnswer(dst, c.ID, "result", raw), nil, err
}

func (c *order) Ask(ctx context.Context, q rpc.Question) (json.RawMessage, error) {
	asker := &rpc.Inquirer{Exchange: c.Exchange, Out: c.Out, Context: c.Context()}
	return asker.Ask(ctx, q)
}

// baking is a call of bake, and its handler.
type baking struct {
	tasks.Run
	recipe recipe
}

func (c *order) bake(ctx context.Context, from tasks.Client) (any, error) {
	recipe := recipes[c.params.Recipe]
	r := &baking{recipe: recipe, Run: tasks.Run{
		Keeper: c.bakery.keeper, Peer: c.Exchange.Peer, Account: quota.Account{Name: c.params.Account}, Client: from,
		Tool: c.params.Recipe, Waits: recipe.waits, After: recipe.after, TTL: recipe.ttl,
	}}
	if r.Handler = r; c.params.Legacy {
		r.Legacy = &tasks.Legacy{Token: jsonrpc.StringID("oven"), Answered: c.Context(), Session: c.bakery}
	}
	return r.Do(ctx)
}

func (r *baking) Bind(context.Context) error {
	if r.recipe.bake == nil {
		return &mcp.Error{Code: mcp.CodeInvalidParams, Message: "no such recipe"}
	}
	return nil
}

func (r *baking) Handle(ctx context.Context) (*mcp.CallToolResult, error) {
	text, err := r.recipe.bake(ctx, &r.Run)
	return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(text)}}, err
}

func (r *baking) Answer(_ context.Context, cake *mcp.CallToolResult, err error) (*mcp.CallToolResult, error) {
	return cake, err
}

func (r *baking) Encode(cake *mcp.CallToolResult) (json.RawMessage, error) {
	return mcp.AppendResult(nil, cake)
}

// client is a sink that records the frames it gets.
type client struct {
	mu   sync.Mutex
	sent []string
}

func (c *client) add(frame []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if frame != nil {
		c.sent = append(c.sent, string(frame))
	}
	return nil
}

func (c *client) take() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := strings.Join(c.sent, "\n")
	c.sent = nil
	return all
}

func (c *client) Notify(_ context.Context, frame []byte) error { return c.add(frame) }
func (c *client) Answer(_ context.Context, a rpc.Answer) error { return c.add(a.Whole()) }
func (c *client) Ask(_ context.Context, frame []byte) error    { return c.add(frame) }
func (c *client) Reach() rpc.Reach                             { return rpc.Reach{Asks: true, Read: true} }

func TestCustomCallBecomesTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBakery(t, tasks.Options{})
		id := b.bake("bread")
		b.is(id, mcp.TaskWorking)
		time.Sleep(time.Minute)
		synctest.Wait()
		if done := b.is(id, mcp.TaskCompleted); !strings.Contains(string(done.Payload), "baked") {
			t.Errorf("the result of the task is %s, want that of the handler", done.Payload)
		}
		if got := b.ask("bake", `"recipe":"mud"`); !strings.Contains(got, "no such recipe") {
			t.Errorf("a call that cannot be bound was answered with %s, want an error", got)
		}
		if failed := b.is(b.bake("burnt"), mcp.TaskFailed); failed.Error.Code != mcp.CodeInternalError {
			t.Errorf("the task of a panicking handler failed with %v, want an internal error", failed.Error)
		}
		id = b.bake("rye")
		b.ask(mcp.MethodCancelTask, `"taskId":%q`, id)
		b.is(id, mcp.TaskCancelled)
		b.bake("mould")
		time.Sleep(6 * time.Second)
		synctest.Wait()
		b.keeper.Each(func(tool string, _ *store.Task) {
			t.Errorf("%s runs, want no handler after the end of its task", tool)
		})
	})
}

func TestSlowCallBecomesTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBakery(t, tasks.Options{})
		b.ask("bake", `"recipe":"roll"`)
		time.Sleep(2 * time.Second)
		if got := b.client.take(); !strings.Contains(got, "baked") {
			t.Errorf("a quick call was answered with %s, want its result", got)
		}
		b.ask("bake", `"recipe":"sponge"`)
		time.Sleep(11 * time.Second)
		if got := b.client.take(); !strings.Contains(got, "taskId") {
			t.Errorf("a slow call was answered with %s, want a task", got)
		}
		time.Sleep(time.Minute)
	})
}

func TestTaskGetsInputByUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBakery(t, tasks.Options{})
		id := b.bake("custom")
		if asks := b.is(id, mcp.TaskInputRequired).InputRequests["1"]; asks.Method != "bakery/what" {
			t.Errorf("the task asks %+v, want the question of its handler", asks)
		}
		b.ask(mcp.MethodUpdateTask, `"taskId":%q,"inputResponses":{"1":{"cake":"apple"}}`, id)
		if done := b.is(id, mcp.TaskCompleted); !strings.Contains(string(done.Payload), "apple") {
			t.Errorf("the result is %s, want the response in it", done.Payload)
		}
	})
}

func TestLegacyTaskRequestsInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBakery(t, tasks.Options{})
		var m struct{ Result mcp.LegacyCreateTaskResult }
		created, _, _ := strings.Cut(b.ask("bake", `"recipe":"custom","legacy":true`), "\n")
		if err := json.Unmarshal([]byte(created), &m); err != nil {
			t.Fatal(err)
		}
		id := m.Result.Task.TaskID
		got := b.ask(mcp.MethodTaskResult, `"taskId":%q,"legacy":true`, id)
		if !strings.Contains(got, `"method":"bakery/what"`) || !strings.Contains(got, id) {
			t.Errorf("the server sent %s, want the question with the task in its _meta", got)
		}
		b.exchange.Receive([]byte(`{"jsonrpc":"2.0","id":1,"result":{"cake":"plum"}}`))
		synctest.Wait()
		if got = b.client.take(); !strings.Contains(got, "plum") || !strings.Contains(got, mcp.NotificationLegacyTaskStatus) {
			t.Errorf("the server sent %s, want the result and a notification about the task", got)
		}
		status, err := b.keeper.LegacyStatus(t.Context(), id)
		if err != nil || !strings.Contains(string(status), `"completed"`) {
			t.Errorf("the status of the task is %s, %v, want completed", status, err)
		}
		if _, err := b.keeper.Get(t.Context(), baker, id); err == nil {
			t.Error("a client of another kind of tasks can see the task, want it unknown")
		}
	})
}

func TestALegacyTaskReportsItsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBakery(t, tasks.Options{})
		created := b.ask("bake", `"recipe":"timed","legacy":true`)
		_, rest, _ := strings.Cut(created, `"taskId":"`)
		id, _, _ := strings.Cut(rest, `"`)
		time.Sleep(time.Second)
		p, due := b.keeper.DueProgress(id)
		if !due || p.Value < 400 || p.Total != 1000 || p.Token != jsonrpc.StringID("oven") {
			t.Errorf("the progress is %+v, %v, want the latest", p, due)
		}
		time.Sleep(2 * time.Second)
		if p, due := b.keeper.DueProgress(id); due {
			t.Errorf("the progress of a task that has ended is %+v, want none", p)
		}
	})
}

func TestALegacyTaskIsCancelledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBakery(t, tasks.Options{})
		_, rest, _ := strings.Cut(b.ask("bake", `"recipe":"rye","legacy":true`), `"taskId":"`)
		id, _, _ := strings.Cut(rest, `"`)
		if _, err := b.keeper.Cancel(t.Context(), old, id); err != nil {
			t.Errorf("Cancel returned %v, want nil", err)
		}
		if _, err := b.keeper.Cancel(t.Context(), old, id); rpc.WireError(err).Code != mcp.CodeInvalidParams {
			t.Errorf("the second Cancel returned %v, want invalid params", err)
		}
	})
}

func TestShutdownFailsUnfinishedTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBakery(t, tasks.Options{Store: store.NewMemoryTasks(0, 0)})
		id, ignores := b.bake("rye"), b.bake("stone")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := b.keeper.Shutdown(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.HasSuffix(err.Error(), "their contexts have ended: 1") {
			t.Errorf("Shutdown returned %v, want the end of its context and one handler that still runs", err)
		}
		for _, id := range []string{id, ignores} {
			if failed := b.is(id, mcp.TaskFailed); !strings.Contains(failed.StatusMessage, "closed for today") {
				t.Errorf("the task is %+v, want it failed because of the shutdown", failed)
			}
		}
		if got := b.ask("bake", `"recipe":"bread"`); !strings.Contains(got, "closed for today") {
			t.Errorf("a call after Shutdown was answered with %s, want an error", got)
		}
		time.Sleep(time.Hour)
	})
}

func TestOneAccountLeavesTasksForOthers(t *testing.T) {
	for _, test := range []struct {
		name    string
		options tasks.Options
		pause   time.Duration // time after which no task is running
	}{
		{"runs", tasks.Options{MaxRunning: 4}, 0},
		{"kept tasks", tasks.Options{MaxKept: 4}, 2 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBakery(t, test.options)
				var got []bool
				for _, account := range []string{"greedy", "greedy", "greedy", "modest"} {
					answer := b.ask("bake", `"recipe":"bread","account":%q`, account)
					got = append(got, strings.Contains(answer, "taskId"))
					time.Sleep(test.pause)
				}
				if want := []bool{true, true, false, true}; !slices.Equal(got, want) {
					t.Errorf("calls became tasks: %v, want %v", got, want)
				}
				time.Sleep(time.Hour)
			})
		})
	}
}
