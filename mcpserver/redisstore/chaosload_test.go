package redisstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Arguments of the tools that addLoad adds.
type (
	unique struct {
		ID string `json:"id"`
	}
	several struct {
		ID string `json:"id"`
		N  int    `json:"n"`
	}
	touched struct {
		ID      string `json:"id"`
		URI     string `json:"uri"`
		Version int    `json:"version"`
	}
)

// uris are the resources of the servers.
var uris = []string{"file:///0", "file:///1"}

// addLoad adds the tools and resources of TestRedisUnderFaults. Each call has a unique id. The process prints "began
// ID" when a handler starts, and "ran ID" when the handler acts. A resource is a file that contains a version number.
func addLoad(s *mcpserver.Server, name, files string) {
	add := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	file := func(uri string) string { return filepath.Join(files, filepath.Base(uri)) }
	began := func(id string) string {
		fmt.Println("began", id)
		return id + " by " + name
	}
	add(mcpserver.AddTool(s, &mcp.Tool{Name: "quick"}, func(_ context.Context, in unique) (string, error) {
		defer fmt.Println("ran", in.ID)
		return began(in.ID), nil
	}))
	add(mcpserver.AddTool(s, &mcp.Tool{Name: "count"}, func(ctx context.Context, in several) (string, error) {
		answer := began(in.ID)
		fmt.Println("ran", in.ID)
		for n := range in.N {
			if err := mcpserver.RequestFrom(ctx).Progress(ctx, float64(n+1), 0, fmt.Sprint(in.ID, " ", n)); err != nil {
				return "", err
			}
			time.Sleep(30 * time.Millisecond)
		}
		return answer, nil
	}))
	// ask returns the id that the client answers. For a modern client, the server runs the handler again with the answer.
	add(mcpserver.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, in unique) (string, error) {
		began(in.ID)
		r, err := mcpserver.RequestFrom(ctx).Elicit(ctx, &mcp.ElicitParams{Message: in.ID, RequestedSchema: json.RawMessage(
			`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`)})
		if err != nil {
			return "", err
		}
		fmt.Println("ran", in.ID)
		return fmt.Sprint(r.Content["id"], " by ", name), nil
	}))
	add(mcpserver.AddTool(s, &mcp.Tool{Name: "touch"}, func(_ context.Context, in touched) (string, error) {
		answer := began(in.ID)
		fmt.Println("ran", in.ID)
		temporary := file(in.URI) + name
		if err := os.WriteFile(temporary, []byte(strconv.Itoa(in.Version)), 0o600); err != nil {
			return "", err
		}
		if err := os.Rename(temporary, file(in.URI)); err != nil {
			return "", err
		}
		s.ResourceUpdated(in.URI)
		return answer, nil
	}))
	add(mcpserver.AddTool(s, &mcp.Tool{Name: "task"}, func(_ context.Context, in several) (string, error) {
		answer := began(in.ID)
		fmt.Println("ran", in.ID)
		time.Sleep(time.Duration(in.N) * time.Millisecond)
		return answer, nil
	}, mcpserver.TaskTool()))
	for _, uri := range uris {
		add(s.AddResource(&mcp.Resource{URI: uri, Name: uri},
			func(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				data, err := os.ReadFile(file(r.URI))
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.URI, Text: string(data)}}}, err
			}))
	}
}

// run records the runs of the handler of one call.
type run struct {
	began []*proc
	ran   int
	safe  error // error of the call, if it means that the server cannot have acted
	asks  bool  // the handler asks; for a modern client it runs more than once
}

// load is a set of clients that use a fleet continuously, with their results.
type load struct {
	t     *testing.T
	f     *fleet
	stop  chan struct{}
	quiet atomic.Bool // resources do not change, so that no later announcement hides a missed one
	users []*user
	work  sync.WaitGroup

	mu      sync.Mutex
	ids     int
	runs    map[string]*run
	strange []string  // lines that processes have printed for no known call
	weather int       // even in fair weather, when calls must not fail; odd in foul weather
	since   time.Time // start of the current weather
	foul    []span    // past periods of foul weather
	lost    []span    // periods whose data Redis has lost
	touches map[string][]touch
	kept    []*keptTask
	count   map[string]int // outcomes, by kind of call
	longest time.Duration  // longest duration of a call
	wrong   int            // number of problems
}

// touch is a successful change of a resource.
type touch struct {
	version int
	by      string
	at      time.Time
}

// keptTask is a finished task whose result a client has received.
type keptTask struct {
	u      *user
	task   *mcpclient.Task
	answer string
	done   time.Time
}

// user is a client with a goroutine for each kind of call.
type user struct {
	l      *load
	name   string
	c      *mcpclient.Client
	modern bool
	dirty  map[string]chan struct{} // by URI: an update was announced

	mu   sync.Mutex
	seen map[string]int // guarded by mu; latest version read, by URI
}

// most is the maximum duration of a call. A call that takes longer counts as hanging.
const most = 25 * time.Second

func (l *load) problem(format string, args ...any) {
	l.t.Helper()
	l.t.Errorf("%s "+format, append([]any{time.Now().Format("15:04:05.000")}, args...)...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong++
}

// said processes a line that a process has printed.
func (l *load) said(p *proc, line string) {
	what, id, _ := strings.Cut(line, " ")
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.runs[id]
	switch {
	case r == nil:
		l.strange = append(l.strange, fmt.Sprintf("process %s prints %q, which no call has asked for", p.name, line))
	case what == "began":
		r.began = append(r.began, p)
	default:
		r.ran++
	}
}

// id returns a new id for a call, and the current weather.
func (l *load) id(u *user, kind string) (id string, weather int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids++
	id = fmt.Sprintf("%s-%s-%d", kind, u.name, l.ids)
	l.runs[id] = &run{asks: u.modern && kind == "ask"}
	return id, l.weather
}

// join connects a client, which uses the fleet until stop is closed.
func (l *load) join(name string, v mcp.Version) *user {
	l.t.Helper()
	u, err := l.connect(name, v)
	if err != nil {
		l.t.Fatal(err)
	}
	l.users = append(l.users, u)
	l.work.Go(func() { u.repeat(30, u.quick) })
	l.work.Go(func() { u.repeat(60, u.counted) })
	l.work.Go(func() { u.repeat(60, u.ask) })
	if u.tasks() {
		l.work.Go(func() { u.repeat(80, u.task) })
	}
	for _, uri := range uris {
		if err := u.c.SubscribeResource(l.t.Context(), uri); err != nil {
			l.t.Fatal(err)
		}
		l.work.Go(func() { u.read(uri) })
	}
	return u
}

func (l *load) connect(name string, v mcp.Version) (*user, error) {
	u := &user{l: l, name: name, modern: v.Era() == mcp.Modern, seen: map[string]int{},
		dirty: map[string]chan struct{}{}}
	for _, uri := range uris {
		u.dirty[uri] = make(chan struct{}, 1)
	}
	ctx, cancel := context.WithTimeout(l.t.Context(), most)
	defer cancel()
	var err error
	u.c, err = mcpclient.Connect(ctx, &transport.HTTP{URL: l.f.url, Header: map[string][]string{"X-Client": {name}}},
		&mcpclient.Options{
			Versions: []mcp.Version{v}, Telemetry: telemetry.Off(), RequestTimeout: most,
			Backoff: mcpclient.Backoff{Min: 50 * time.Millisecond, Max: time.Second, Attempts: -1},
			Features: []mcpclient.Feature{
				mcpclient.UseTasks(nil),
				mcpclient.HandleElicitation(func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"id": p.Message}}, nil
				}),
				mcpclient.HandleResourceUpdated(func(_ context.Context, uri string) {
					select {
					case u.dirty[uri] <- struct{}{}:
					default:
					}
				}),
			},
		})
	return u, err
}

func (u *user) leave() {
	if err := u.c.Close(); err != nil {
		u.l.problem("%s: stop: %v", u.name, err)
	}
}

// tasks reports whether the client's revision supports tasks.
func (u *user) tasks() bool { return u.modern || u.c.ProtocolVersion() == mcp.Version20251125 }

// repeat calls call repeatedly. The pauses are between pause and three times pause, in milliseconds.
func (u *user) repeat(pause int, call func()) {
	for {
		select {
		case <-u.l.stop:
			return
		case <-time.After(time.Duration(pause+rand.IntN(2*pause)) * time.Millisecond):
			call()
		}
	}
}

// call calls a tool that returns the id of the call.
func (u *user) call(kind string, arguments func(id string) any, options ...mcpclient.CallOption) (by string,
	started time.Time, err error) {
	id, weather := u.l.id(u, kind)
	started = time.Now()
	r, err := u.c.CallTool(u.l.t.Context(), kind, arguments(id), options...)
	if err == nil && r.IsError { // the handler was interrupted
		err = errors.New(r.Text())
	}
	return u.judge(kind, id, weather, started, r, err), started, err
}

func (u *user) quick() { u.call("quick", func(id string) any { return unique{id} }) }

func (u *user) ask() { u.call("ask", func(id string) any { return unique{id} }) }

func (u *user) counted() {
	n := 1 + rand.IntN(10)
	var mu sync.Mutex
	var got, want []string
	_, _, err := u.call("count", func(id string) any {
		for i := range n {
			want = append(want, fmt.Sprint(id, " ", i))
		}
		return several{id, n}
	}, mcpclient.WithProgress(func(p *mcp.ProgressParams) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, p.Message)
	}))
	mu.Lock()
	defer mu.Unlock()
	if complete := slices.Equal(got, want); err == nil && !complete || !slices.Equal(got, want[:min(len(got), n)]) {
		u.l.problem("%s: want progress %q, got %q, %v", u.name, want, got, err)
	}
}

// touch changes a resource in one of the processes. Only one goroutine changes a resource.
func (u *user) touch(uri string, version int) {
	by, _, err := u.call("touch", func(id string) any { return touched{id, uri, version} })
	if err == nil {
		u.l.mu.Lock()
		defer u.l.mu.Unlock()
		u.l.touches[uri] = append(u.l.touches[uri], touch{version, by, time.Now()})
	}
}

// read reads a resource after each update notification.
func (u *user) read(uri string) {
	for {
		select {
		case <-u.l.stop:
			return
		case <-u.dirty[uri]:
		}
		if err := u.readOnce(uri); err != nil {
			select {
			case u.dirty[uri] <- struct{}{}:
			default:
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

func (u *user) readOnce(uri string) error {
	r, err := u.c.ReadResource(u.l.t.Context(), uri)
	if err != nil {
		return err
	}
	version, err := strconv.Atoi(r.Contents[0].Text)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.seen[uri] = max(u.seen[uri], version)
	return err
}

// task starts a task and waits for its result. The task may fail only if its process dies or Redis loses its data.
func (u *user) task() {
	l := u.l
	id, weather := l.id(u, "task")
	started := time.Now()
	n := 50 + rand.IntN(300)
	if rand.IntN(10) == 0 {
		n = 3000
	}
	t, err := u.c.StartTool(l.t.Context(), "task", several{id, n})
	if err != nil {
		u.judge("task start", id, weather, started, nil, err)
		return
	}
	ctx, cancel := context.WithTimeout(l.t.Context(), 2*most)
	defer cancel()
	var r *mcp.CallToolResult
	for {
		if r, err = t.Wait(ctx); err == nil || errors.Is(err, mcpclient.ErrTaskFailed) ||
			errors.Is(err, mcpclient.ErrTaskUnknown) || ctx.Err() != nil || l.lostBetween(started, time.Now()) {
			break
		}
		l.mu.Lock()
		l.count["task waited again"]++
		l.mu.Unlock()
		time.Sleep(50 * time.Millisecond)
	}
	ended := time.Now()
	lost := l.lostBetween(started, ended)
	by := u.judge("task", id, weather, started, r, err)
	l.mu.Lock()
	var p *proc
	if c := l.runs[id]; len(c.began) > 0 {
		p = c.began[0]
	}
	if err == nil && !l.hasLost(ended, ended) {
		l.kept = append(l.kept, &keptTask{u, t, id + " by " + by, ended})
	}
	l.mu.Unlock()
	switch {
	case lost || p == nil:
	case p.killed.Load() == nil && err != nil:
		l.problem("%s of process %s, which lives, fails: %v", id, p.name, err)
	case p.killed.Load() != nil && started.Before(*p.killed.Load()):
		l.inTime(id, *p.killed.Load(), chaosTaskLease, err)
	}
}

// visit connects a client for a short time.
func (l *load) visit(name string, v mcp.Version) {
	u, err := l.connect(name, v)
	if err != nil {
		return // allowed in foul weather
	}
	u.quick()
	u.leave()
}

func (u *user) version(uri string) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.seen[uri]
}
