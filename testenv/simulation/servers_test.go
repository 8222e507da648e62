package simulation

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// question has the arguments of each tool, and answer has the result.
type (
	question struct {
		ID   string        `json:"id"`
		Wait time.Duration `json:"wait,omitzero"`
	}
	answer struct {
		ID   string `json:"id"`
		Tool string `json:"tool"`
	}
)

// The tools. Each counts its runs.
const (
	toolEcho   = "echo"
	toolPeek   = "peek" // annotated as read-only
	toolSlow   = "slow"
	toolReport = "report" // sends progress reports
	toolAsk    = "ask"    // asks the user for the id
	toolJob    = "job"    // may become a task
)

// reports is how many reports of progress a call of toolReport makes.
const reports = 5

// ledger counts the runs of tools by the id of the call.
type ledger struct {
	mu   sync.Mutex
	runs map[string]int // guarded by mu
}

func (l *ledger) note(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[id]++
}

func (l *ledger) times(id string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.runs[id]
}

// things are the resources and the list of tools of the servers. Only [world.direct] changes them, immediately before
// it makes a server send notifications.
type things struct {
	mu       sync.Mutex
	revision map[string]int // revisions of the resources; guarded by mu
	edition  int            // edition of the list of tools; guarded by mu
}

// uris are the URIs of the resources.
var uris = []string{"thing://1", "thing://2", "thing://3"}

// tools stands for the list of tools where the URI of a resource is expected.
const tools = "tools"

// now returns the revision of a resource, or the edition of the list of tools.
func (t *things) now(what string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if what == tools {
		return t.edition
	}
	return t.revision[what]
}

// change creates the next revision or edition.
func (t *things) change(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if what == tools {
		t.edition++
		return
	}
	t.revision[what]++
}

// edition returns the name of the tool that exists only in one edition of the list.
func edition(n int) string { return editionPrefix + strconv.Itoa(n) }

const editionPrefix = "edition-"

// editionOf returns the edition in a tool's name, 0 for any other tool.
func editionOf(tool string) int {
	number, _ := strings.CutPrefix(tool, editionPrefix)
	n, _ := strconv.Atoi(number)
	return n
}

// process is one process of the server. The processes of one world share their stores.
type process struct {
	server  *mcpserver.Server
	handler *mcpserver.HTTPHandler
	reach   *reach
}

// stores are the stores that the processes share.
type stores struct {
	sessions store.Sessions // nil if each process has its own sessions
	events   store.SharedEvents
	tasks    store.Tasks
}

func newStores(shared bool) (s stores) {
	s.tasks = store.NewMemoryTasks(0, 0)
	if shared {
		s.sessions, s.events = store.NewMemorySessions(), store.NewMemoryEvents(0, 0)
	}
	return s
}

// newProcess starts a process.
func (w *world) newProcess() *process {
	r := newReach(w.stores)
	s := mcpserver.New(mcp.Implementation{Name: "world", Version: "1"}, &mcpserver.Options{
		PageSize: 3, Cache: mcpserver.Cache{TTL: time.Hour}, StateKeys: [][]byte{make([]byte, 32)},
		Telemetry: w.servers.Telemetry(),
		Tasks:     &mcpserver.TaskOptions{Store: reachedTasks{r}, PollInterval: 200 * time.Millisecond},
	})
	p := &process{server: s, reach: r}
	add := func(name string, hints *mcp.ToolAnnotations, before func(context.Context, *question) error) error {
		return mcpserver.AddTool(s, &mcp.Tool{Name: name, Annotations: hints}, w.tool(name, before))
	}
	err := errors.Join(
		add(toolEcho, nil, func(context.Context, *question) error { return nil }),
		add(toolPeek, &mcp.ToolAnnotations{ReadOnlyHint: new(true)}, func(context.Context, *question) error { return nil }),
		add(toolSlow, nil, wait),
		add(toolReport, nil, report),
		add(toolAsk, nil, ask),
		mcpserver.AddTool(s, &mcp.Tool{Name: toolJob}, w.tool(toolJob, wait), mcpserver.TaskTool()),
		p.edit(w.things.now(tools)),
	)
	for _, uri := range uris {
		err = errors.Join(err, s.AddResource(&mcp.Resource{URI: uri, Name: uri}, w.read))
	}
	if err != nil {
		panic(err)
	}
	o := &mcpserver.HTTPOptions{}
	if w.stores.sessions != nil {
		o.Sessions, o.Events = reachedSessions{r}, reachedEvents{r}
	}
	p.handler = s.HTTPHandler(o)
	return p
}

// edit replaces the tool that represents the edition of the list.
func (p *process) edit(n int) error {
	p.server.RemoveTools(edition(n - 1))
	return mcpserver.AddTool(p.server, &mcp.Tool{Name: edition(n)},
		func(context.Context, question) (answer, error) { return answer{}, nil })
}

// stop ends the process, immediately if ctx has ended.
func (p *process) stop(ctx context.Context) error {
	return errors.Join(p.handler.Shutdown(ctx), p.server.Shutdown(ctx))
}

// tool returns the handler of a tool.
func (w *world) tool(name string, before func(context.Context, *question) error) func(context.Context, question) (
	answer, error) {
	return func(ctx context.Context, q question) (answer, error) {
		if name != toolAsk {
			w.ledger.note(q.ID)
		}
		asked := q.ID
		if err := before(ctx, &q); err != nil {
			return answer{}, err
		}
		if name == toolAsk { // earlier rounds do not count as runs
			w.ledger.note(asked)
		}
		return answer{q.ID, name}, nil
	}
}

func wait(ctx context.Context, q *question) error {
	select {
	case <-time.After(q.Wait):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func report(ctx context.Context, q *question) error {
	for i := range reports {
		if err := mcpserver.RequestFrom(ctx).Progress(ctx, float64(i+1), reports, q.ID); err != nil {
			return err
		}
		if err := wait(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// ask asks the user to repeat the id in the message.
func ask(ctx context.Context, q *question) error {
	said, action, err := mcpserver.ElicitAs[struct {
		ID string `json:"id"`
	}](ctx, q.ID)
	if err == nil && action != mcp.ElicitAccept {
		err = fmt.Errorf("the user says %s", action)
	}
	q.ID = said.ID
	return err
}

// read reads a resource.
func (w *world) read(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	text := fmt.Sprint(r.URI, " ", w.things.now(r.URI))
	return &mcp.ReadResourceResult{
		CacheHint: mcp.CacheHint{TTLMs: new(time.Hour.Milliseconds()), CacheScope: mcp.CachePrivate},
		Contents:  []*mcp.ResourceContents{{URI: r.URI, Text: text}},
	}, nil
}
