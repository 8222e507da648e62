package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// operation is a call of a client, with its outcome.
type operation struct {
	what    string // name of a tool, or a word for another operation
	id      string // id of a call
	again   bool   // the tool may run again
	retried bool
	err     error
	span    trace.SpanID // parent of the client's spans
}

// operations records all operations of a world.
type operations struct {
	mu  sync.Mutex
	all []*operation // guarded by mu
}

func (o *operations) add(op *operation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, op)
}

// late is the tolerance for the end of an operation after its limit. The clock is virtual.
const late = 10 * time.Millisecond

// do runs an operation and checks its outcome. limit is the timeout of the caller, or of the operation itself.
func (c *client) do(op *operation, limit time.Duration, f func(context.Context) error) error {
	c.w.t.Helper()
	ctx, span := c.w.near.TracerProvider().Tracer("simulation").Start(context.Background(), op.what)
	defer span.End()
	op.span = span.SpanContext().SpanID()
	begun := time.Now()
	op.err = f(ctx)
	if took := time.Since(begun); took > limit+late {
		c.w.t.Errorf("LATE: %s %s took %v of %v: %v", op.what, op.id, took, limit, op.err)
	}
	known := op.err == nil || errors.Is(op.err, mcpclient.ErrNoMember)
	if _, ok := errors.AsType[*mcpclient.Error](op.err); ok {
		known = true
	} else if _, ok := errors.AsType[*mcp.ToolError](op.err); ok {
		known = true
	}
	if !known {
		c.w.t.Errorf("FOREIGN: %s %s failed with a %T: %v", op.what, op.id, op.err, op.err)
	}
	if c.w.calm && op.err != nil {
		c.w.t.Errorf("FAILED: %s %s in a calm world: %v", op.what, op.id, op.err)
	}
	c.w.operations.add(op)
	return op.err
}

// use runs operations until the world's span is over.
func (c *client) use(draw *rand.Rand, caller string) {
	for i, by := 0, time.Now().Add(c.w.span); time.Now().Before(by); i++ {
		time.Sleep(upTo(draw, 500*time.Millisecond))
		switch n := draw.IntN(10); {
		case n < 7:
			c.callOne(draw, caller+"-"+strconv.Itoa(i))
		case n < 8:
			c.list()
		default:
			c.read(pick(draw, uris...))
		}
	}
}

// callOne calls a tool with a random deadline, cancellation or number of attempts.
func (c *client) callOne(draw *rand.Rand, id string) {
	all := []string{toolEcho, toolEcho, toolPeek, toolSlow, toolReport, toolJob}
	w := c.w
	if w.asks() {
		all = append(all, toolAsk)
	}
	op := &operation{what: pick(draw, all...), id: id}
	q := question{ID: id, Wait: upTo(draw, time.Second)}
	limit, options := requestTimeout, []mcpclient.CallOption{mcpclient.WaitForReady()}
	var returned atomic.Bool
	var reported int
	switch op.what {
	case toolReport:
		options = append(options, mcpclient.WithProgress(func(p *mcp.ProgressParams) {
			said := p.Message == id || w.oldest() == mcp.Version20241105           // this revision has no progress messages
			if returned.Load() || !said || w.calm && int(p.Progress) <= reported { // faults may change the order
				c.w.t.Errorf("WRONG: progress of %s: %+v behind %d, returned %v", id, p, reported, returned.Load())
			}
			reported = int(p.Progress)
		}))
	case toolAsk, toolJob:
		limit = 3 * requestTimeout
	}
	if draw.IntN(3) == 0 {
		op.retried, op.again = true, op.what == toolPeek
		options = append(options, mcpclient.Retry(3))
	}
	if !c.w.calm {
		switch draw.IntN(6) {
		case 0:
			options = options[1:]
		case 1:
			limit = upTo(draw, 50*time.Millisecond)
		case 2:
			limit = upTo(draw, time.Second)
		}
	}
	own := draw.IntN(2) == 0 && op.what != toolAsk && op.what != toolJob // their timeout applies to each request
	if own {
		options = append(options, mcpclient.WithTimeout(max(limit, 1)))
	}
	_ = c.do(op, limit, func(ctx context.Context) error {
		if !own {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, limit)
			defer cancel()
		}
		a, err := c.call(ctx, op.what, q, options...)
		returned.Store(true)
		if want := (answer{id, op.what}); err == nil && a != want {
			c.w.t.Errorf("WRONG: %s %s was answered with %+v", op.what, id, a)
		}
		return err
	})
	if c.w.calm && op.what == toolReport && reported != reports {
		c.w.t.Errorf("WRONG: %d reports of progress of %s came, want %d", reported, id, reports)
	}
}

// asks reports whether the server can ask the user. A host of 2026-07-28 cannot be asked by a legacy server.
func (w *world) asks() bool {
	return w.oldest() >= mcp.Version20250618 && (w.inner == w.version || w.version != mcp.Version20260728)
}

// fixed are the permanent tools. A gateway lists them while it reaches the server.
var fixed = []string{toolEcho, toolPeek, toolSlow, toolReport, toolAsk, toolJob}

// list lists all tools, page after page.
func (c *client) list() {
	seen, since := map[string]int{}, c.w.things.now(tools)
	err := c.do(&operation{what: "list"}, requestTimeout, func(ctx context.Context) error {
		for t, err := range c.Tools(ctx, mcpclient.WaitForReady()) {
			if err != nil {
				return err
			}
			seen[t.Name]++
			since = max(since, editionOf(t.Name)) // a client that waits for its first session lists the tools of that time
		}
		return nil
	})
	c.mu.Lock()
	if _, listed := c.watching[tools]; err == nil && !listed {
		c.watching[tools] = since // later changes must be received
	}
	c.mu.Unlock()
	for _, name := range fixed {
		if err == nil && seen[name] != 1 && (c.w.calm || c.w.middle != gateway || len(seen) > 0) {
			c.w.t.Errorf("WRONG: the list of tools has %s %d times: %v", name, seen[name], seen)
		}
	}
}

// read reads a resource, and returns its revision.
func (c *client) read(uri string) (revision int, err error) {
	err = c.do(&operation{what: "read"}, requestTimeout, func(ctx context.Context) error {
		r, err := c.ReadResource(ctx, uri, mcpclient.WaitForReady())
		if err != nil {
			return err
		}
		text := r.Contents[0].Text
		number, ok := strings.CutPrefix(text, uri+" ")
		if revision, err = strconv.Atoi(number); !ok || err != nil || revision > c.w.things.now(uri) {
			c.w.t.Errorf("WRONG: %s reads %q", uri, text)
		}
		return nil
	})
	return revision, err
}

// watch subscribes to resources and unsubscribes from them until the world's span is over.
func (c *client) watch(draw *rand.Rand) {
	for by := time.Now().Add(c.w.span); time.Now().Before(by); time.Sleep(upTo(draw, 2*time.Second)) {
		uri := pick(draw, uris...)
		c.mu.Lock()
		_, watching := c.watching[uri]
		delete(c.watching, uri)
		c.mu.Unlock()
		if watching {
			_ = c.do(&operation{what: "unsubscribe"}, requestTimeout, func(ctx context.Context) error {
				return c.UnsubscribeResource(ctx, uri)
			})
			continue
		}
		err := c.do(&operation{what: "subscribe"}, requestTimeout, func(ctx context.Context) error {
			return c.SubscribeResource(ctx, uri, mcpclient.WaitForReady())
		})
		if err == nil {
			now := c.w.things.now(uri)
			c.mu.Lock()
			c.watching[uri] = now
			c.w.note("client %d watches %s at %d", c.number, uri, now)
			c.mu.Unlock()
		}
	}
}

func (o *operation) String() string { return fmt.Sprintf("%s %s", o.what, o.id) }
