package simulation

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// Settings of the clients in all worlds.
const (
	requestTimeout = 20 * time.Second
	backoffMin     = 100 * time.Millisecond
	backoffMax     = 2 * time.Second
)

// client is a client of a world, or the only member of a group.
type client struct {
	*mcpclient.Client
	w       *world
	number  int
	group   *mcpclient.Group // nil for none
	release func()

	mu       sync.Mutex
	heard    map[string]int // revision of the latest handler call; mu guards this and all fields below
	watching map[string]int // by URI, or by the constant tools: changes after this revision must be received
	leaving  bool           // the simulation is closing the client
}

const member = "g"

// newClient starts a client.
func (w *world) newClient(draw *rand.Rand) *client {
	c := &client{w: w, number: len(w.clients), heard: map[string]int{}, watching: map[string]int{}}
	t, release := w.atFront.transport(draw.IntN(2) == 0)
	c.release = release
	o := &mcpclient.Options{
		Versions: []mcp.Version{w.version}, Backoff: mcpclient.Backoff{Min: backoffMin, Max: backoffMax},
		RequestTimeout: requestTimeout,
		CacheSize:      []int{-1, 0, 0}[draw.IntN(3)], Telemetry: w.near.Telemetry(), Features: []mcpclient.Feature{
			mcpclient.HandleElicitation(c.answer), mcpclient.UseTasks(nil),
			mcpclient.HandleResourceUpdated(func(_ context.Context, uri string) { c.hear(uri) }),
			mcpclient.HandleToolListChanged(func(context.Context) { c.hear(tools) }),
		},
	}
	t = w.broken(draw, t)
	var err error
	if draw.IntN(4) == 0 {
		c.group, err = mcpclient.NewGroup([]mcpclient.Member{{Name: member, Transport: t, Options: o}}, nil)
		if err == nil {
			c.Client, err = c.group.Client(member)
		}
	} else {
		c.Client, err = mcpclient.New(t, o)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// answer answers an elicitation with its message.
func (c *client) answer(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	time.Sleep(time.Millisecond)
	return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"id": p.Message}}, nil
}

// hear records the revision at a handler call, and then reads the current revision. At the beginning of a session, a
// handler may be called before the server can notify the client of the next change. The client then does not hear of
// this change, but it reads later than the change.
func (c *client) hear(what string) {
	note := func(how string, revision int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.heard[what] = max(c.heard[what], revision)
		c.w.note("client %d %s %s at %d", c.number, how, what, revision)
	}
	note("hears of", c.w.things.now(what))
	c.w.ended.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for ctx.Err() == nil {
			if revision, err := c.ask(ctx, what); err == nil {
				note("gets", revision)
				return
			}
			time.Sleep(backoffMin)
		}
	})
}

// ask requests a resource or the list of tools, and returns its revision.
func (c *client) ask(ctx context.Context, what string) (revision int, err error) {
	if what == tools {
		for t, failed := range c.Tools(ctx, mcpclient.WaitForReady()) {
			if failed != nil {
				return 0, failed
			}
			revision = max(revision, editionOf(t.Name))
		}
		return revision, nil
	}
	r, err := c.ReadResource(ctx, what, mcpclient.WaitForReady())
	if err == nil {
		_, number, _ := strings.Cut(r.Contents[0].Text, " ")
		revision, err = strconv.Atoi(number)
	}
	return revision, err
}

// call calls a tool.
func (c *client) call(ctx context.Context, tool string, q question, options ...mcpclient.CallOption) (a answer,
	err error) {
	var r *mcp.CallToolResult
	if c.group != nil {
		r, err = c.group.CallTool(ctx, member+"_"+tool, q, options...)
	} else {
		r, err = c.CallTool(ctx, tool, q, options...)
	}
	if err == nil {
		err = r.Decode(&a)
	}
	return a, err
}

// leave closes the client.
func (c *client) leave() {
	c.w.inTime("a client is closed", closing(c.Close))
	if c.group != nil {
		c.w.inTime("a group is closed", closing(c.group.Close))
	}
	c.release()
}

// settle makes the program's default HTTP client use the front.
func (w *world) settle() (restore func()) {
	old := http.DefaultTransport
	if w.front != stream {
		http.DefaultTransport = w.atFront.pool()
	}
	return func() { http.DefaultTransport = old }
}

// hasTool lists the tools and reports whether a tool is among them. n is the number of tools.
func (c *client) hasTool(ctx context.Context, name string) (has bool, n int, err error) {
	for t, err := range c.Tools(ctx) {
		if err != nil {
			return has, n, err
		}
		n++
		has = has || strings.HasSuffix(t.Name, name)
	}
	return has, n, nil
}
