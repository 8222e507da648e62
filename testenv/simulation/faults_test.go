package simulation

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
)

// breakages are the faults that package chaos injects into messages. None drops a notification and keeps its stream
// open, because no client could detect that.
var breakages = []chaos.Fault{
	{Kind: chaos.Latency, On: chaos.OnAnswer, Delay: 5 * time.Millisecond, Jitter: 300 * time.Millisecond},
	{Kind: chaos.Latency, On: chaos.OnRequest, Delay: 5 * time.Millisecond, Jitter: 300 * time.Millisecond},
	{Kind: chaos.Latency, On: chaos.OnNotification, Delay: 5 * time.Millisecond, Jitter: 300 * time.Millisecond},
	{Kind: chaos.Drop, On: chaos.OnAnswer, Method: "tools/call"},
	{Kind: chaos.Drop, On: chaos.OnRequest, Method: "tools/call"},
	{Kind: chaos.Duplicate, On: chaos.OnAnswer},
	{Kind: chaos.Duplicate, On: chaos.OnNotification},
	{Kind: chaos.Reorder, On: chaos.OnAnswer},
	{Kind: chaos.Truncate, On: chaos.OnAnswer, Method: "tools/call"},
	{Kind: chaos.Garbage, On: chaos.OnAnswer, Method: "tools/call"},
	{Kind: chaos.Oversize, On: chaos.OnAnswer, Method: "tools/call"},
	{Kind: chaos.Error, On: chaos.OnAnswer, Method: "tools/call"},
	{Kind: chaos.Busy, On: chaos.OnRequest, RetryAfter: 100 * time.Millisecond},
	{Kind: chaos.Busy, On: chaos.OnRequest},
	{Kind: chaos.Freeze, On: chaos.OnRequest, Delay: 2 * time.Second},
	{Kind: chaos.Cut, On: chaos.OnRequest},
	{Kind: chaos.Cut, On: chaos.OnAnswer},
	{Kind: chaos.Cut, On: chaos.OnNotification},
	{Kind: chaos.Death, On: chaos.OnRequest},
	{Kind: chaos.Refuse},
	{Kind: chaos.Expire, On: chaos.OnRequest}, // the last entry: only over HTTP
}

// broken draws faults of a transport, or none, for the span of the world.
func (w *world) broken(draw *rand.Rand, t transport.Transport) transport.Transport {
	if w.calm || draw.IntN(2) == 0 {
		return t
	}
	all := breakages
	if t.Network().Protocol != "http" {
		all = all[:len(all)-1]
	}
	plan := &chaos.Plan{Seed: w.seed}
	for range 1 + draw.IntN(3) {
		f := pick(draw, all...)
		f.Probability, f.For = pick(draw, 0.01, 0.05, 0.2), w.span
		if f.Kind == chaos.Expire { // each new session sends requests, so more sessions expire
			f.Probability = min(f.Probability, 0.05)
		}
		plan.Faults = append(plan.Faults, f)
	}
	for _, f := range plan.Faults {
		w.note("%s of %s: %v of all, on %q, %q", f.Kind, t.Name(), f.Probability, f.On, f.Method)
	}
	broken, err := chaos.Wrap(t, plan)
	if err != nil {
		w.t.Fatal(err)
	}
	return broken
}

// direct changes things and injects faults, one after the other, for the span of the world. Then it ends all faults.
func (w *world) direct() {
	draw := w.draw(3)
	for by := time.Now().Add(w.span); time.Now().Before(by); time.Sleep(upTo(draw, time.Second)) {
		switch n := draw.IntN(10); {
		case n < 6:
			w.update(draw, pick(draw, uris...))
		case n < 7:
			w.edit()
		case !w.calm:
			w.fault(draw)
		}
	}
}

// update changes a resource and makes one process announce it.
func (w *world) update(draw *rand.Rand, uri string) {
	w.things.change(uri)
	i := draw.IntN(len(w.processes))
	w.note("process %d says that %s is now at %d", i, uri, w.things.now(uri))
	w.process(i).server.ResourceUpdated(uri)
}

// edit changes the list of tools in all processes.
func (w *world) edit() {
	w.things.change(tools)
	w.note("the list of tools is now at %d", w.things.now(tools))
	for i := range w.processes {
		if err := w.process(i).edit(w.things.now(tools)); err != nil {
			w.t.Error(err)
		}
	}
}

// fault injects a random fault.
func (w *world) fault(draw *rand.Rand) {
	at, where := w.atFront, "the front"
	if draw.IntN(2) == 0 {
		at, where = w.atBack, "the back"
	}
	kinds := 5
	if w.middle == fleet {
		kinds++
	}
	switch draw.IntN(kinds) {
	case 0, 1:
		w.note("all connections to %s are cut", where)
		at.cut()
	case 2:
		w.note("no client can connect to %s", where)
		at.setDown(true)
		if draw.IntN(2) == 0 {
			at.cut()
		}
		time.Sleep(upTo(draw, 3*time.Second))
		at.setDown(false)
		w.note("they can again")
	case 3:
		w.note("requests to %s come to nothing", where)
		at.site.setTrouble(0.3)
		time.Sleep(upTo(draw, 2*time.Second))
		at.site.setTrouble(0)
		w.note("they do not any more")
	case 4:
		w.restart(draw)
	case 5:
		i := draw.IntN(len(w.processes))
		w.note("process %d is cut off from its store", i)
		w.process(i).reach.setCut(true)
		time.Sleep(upTo(draw, 5*time.Second))
		w.process(i).reach.setCut(false)
		w.note("process %d is not any more", i)
	}
}

// restart kills a process or lets it end, and starts another. It first waits until the announced changes have been
// sent, because a change that dies with its process cannot be received.
func (w *world) restart(draw *rand.Rand) {
	time.Sleep(time.Second)
	i := draw.IntN(len(w.processes))
	old, next := w.process(i), w.newProcess()
	w.things.mu.Lock()
	w.processes[i] = next
	w.things.mu.Unlock()
	w.atBack.site.replace(i, next.handler)
	killed, graceful := draw.IntN(2) == 0, patience
	if killed {
		graceful = 0
	}
	w.note("process %d is started anew; killed: %v", i, killed)
	if killed || w.back == stream {
		w.atBack.cut()
	}
	w.ended.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), graceful)
		defer cancel()
		_ = old.stop(ctx)
	})
}

// desert closes or shuts down a client in use, at random.
func (c *client) desert(draw *rand.Rand) {
	if c.w.calm || draw.IntN(4) != 0 {
		return
	}
	time.Sleep(upTo(draw, c.w.span))
	c.mu.Lock()
	c.leaving = true
	c.w.note("client %d leaves", c.number)
	c.mu.Unlock()
	if draw.IntN(2) == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), upTo(draw, patience))
		defer cancel()
		_ = c.Shutdown(ctx)
	}
	c.w.inTime("a client is closed in use", closing(c.Close))
}

// isLeaving reports whether the client is being closed.
func (c *client) isLeaving() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leaving
}
