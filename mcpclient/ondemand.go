package mcpclient

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/health"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/running"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/drift"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// onDemand owns the client of a group's member that starts at its first use, that stops when it is idle, or both. Each
// start creates a new [Client], so the states of a connection are the same as for any other client.
//
// A user of the client holds it from use to release. Starting, holding and stopping are steps under one mutex, so a
// client stops only if nobody holds it, and concurrent first users start one client. No step waits: a new client dials
// when the previous one has ended.
type onDemand struct {
	name      string
	transport transport.Transport
	options   *Options // of each client, with the handlers of the group
	idle      time.Duration
	lists     *listCache
	life      context.Context // ends with close
	end       context.CancelFunc
	number    uint64 // in the set of running members

	tasks sync.WaitGroup // goroutines that refresh lists and stop clients; Go is called only with mu held

	mu         sync.Mutex
	client     *Client       // guarded by mu; nil if the server does not run
	previous   chan struct{} // guarded by mu; closed when the previous client has ended; nil before the first stop
	closed     bool          // guarded by mu
	users      int           // guarded by mu
	pinned     bool          // guarded by mu; the client stays until close
	used       time.Time     // guarded by mu; end of the latest use
	timer      *time.Timer   // guarded by mu; calls expire; nil if idle is zero, and before the first use
	starts     int           // guarded by mu
	since      time.Time     // guarded by mu; time of the latest start or stop; zero before
	refreshing *Client       // guarded by mu; a goroutine reads the lists of this client; nil for none
	again      bool          // guarded by mu; the lists changed while they were read
}

// newOnDemand returns the owner of a member's client. It returns an error if the options are invalid.
func newOnDemand(m Member, o *Options, lists *listCache) (*onDemand, error) {
	if err := check(m.Transport, o); err != nil {
		return nil, err
	}
	d := &onDemand{name: m.Name, transport: m.Transport, idle: m.Idle, lists: lists}
	d.life, d.end = context.WithCancel(context.Background())
	own := *o
	own.Backoff.Attempts = cmp.Or(o.Backoff.Attempts, connectAttempts)
	own.Features = append(o.Features[:len(o.Features):len(o.Features)],
		HandleToolListChanged(d.listsChanged), HandlePromptListChanged(d.listsChanged),
		HandleResourceListChanged(d.listsChanged))
	d.options, d.number = &own, running.Members.Number()
	running.Enlist(&running.Members, d.number, d)
	return d, nil
}

// use returns the client, and starts one if none is running. The client does not stop before the caller calls release.
func (d *onDemand) use() (c *Client, release func(), _ error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, err := d.start(); c == nil {
		return nil, nil, err
	}
	d.users++
	return d.client, sync.OnceFunc(func() { d.release(true) }), nil
}

// pin returns the client like use, and keeps it until close.
func (d *onDemand) pin() (*Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, err := d.start()
	d.pinned = d.pinned || c != nil
	return c, err
}

// start returns the client, and starts one if none is running, or if the last one has given up or was closed by its user.
// The caller holds mu.
func (d *onDemand) start() (*Client, error) {
	if d.closed {
		return nil, &Error{Kind: KindShutdown, Op: "start " + d.name, Unsent: true, cause: ErrShutdown}
	}
	switch c := d.client; {
	case c == nil:
	case c.State() != connstate.Closing:
		return c, nil
	default:
		d.retire(c)
	}
	t := d.transport
	if d.previous != nil {
		t = afterwards{t, d.previous}
	}
	c, err := New(t, d.options)
	if err != nil {
		return nil, &MemberError{d.name, err}
	}
	c.tasks.open = &openTasks{}
	if c.drift != nil { // the first list of this client is compared with the last list of the previous one
		known, _ := d.lists.load() // update reports the error
		c.drift.expect(known)
	}
	d.client, d.used, d.since = c, time.Now(), time.Now()
	d.starts++
	d.refresh(c, true)
	return c, nil
}

// afterwards is a transport whose server starts when the previous process of the same server has ended, because many
// servers lock files or ports.
type afterwards struct {
	transport.Transport
	ended <-chan struct{}
}

// Dial waits for the end of the previous client, and then dials.
func (a afterwards) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	select {
	case <-a.ended:
		return a.Transport.Dial(ctx, cfg)
	case <-ctx.Done():
		return nil, fmt.Errorf("the previous process has not ended yet: %w", context.Cause(ctx))
	}
}

// release ends a use. If byUser is false, the use was internal, and does not prolong the life of the client.
func (d *onDemand) release(byUser bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users--
	if byUser {
		d.used = time.Now()
	}
	d.arm()
}

// arm sets the timer for the end of an unused client. The caller holds mu.
func (d *onDemand) arm() {
	if d.idle <= 0 || d.users > 0 || d.pinned || d.closed || d.client == nil {
		return
	}
	wait := max(0, time.Until(d.used.Add(d.idle)))
	if d.timer == nil {
		d.timer = time.AfterFunc(wait, d.expire)
		return
	}
	d.timer.Reset(wait)
}

// expire stops the client if nothing has used it for the idle time. The timer calls it, possibly too early: then arm
// sets the timer again.
func (d *onDemand) expire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch c := d.client; {
	case d.users > 0 || d.pinned || d.closed || c == nil:
		return // the next release arms the timer, if necessary
	case time.Since(d.used) < d.idle:
		d.arm()
	case c.busy():
		d.used = time.Now()
		d.arm()
	default:
		d.retire(c)
	}
}

// retire stops the client in the background. The caller holds mu.
func (d *onDemand) retire(c *Client) {
	before, ended := d.previous, make(chan struct{})
	d.client, d.previous, d.since = nil, ended, time.Now()
	d.tasks.Go(func() { // the goroutine ends when the connection is closed
		defer close(ended)
		c.core.StopIdle()
		if before != nil {
			<-before
		}
	})
}

// close ends the client with end, and all goroutines. Later uses fail.
func (d *onDemand) close(end func(*Client) error) (err error) {
	d.mu.Lock()
	d.closed = true
	c := d.client
	if d.timer != nil {
		d.timer.Stop()
	}
	d.mu.Unlock()
	d.end()
	running.Members.Remove(d.number)
	if c != nil {
		err = end(c)
	}
	d.tasks.Wait()
	return err
}

// running returns the client, or nil if none is running.
func (d *onDemand) running() *Client {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.client
}

// busy reports whether the client has work that no caller waits for in the group: operations of callers that hold the
// client itself, subscribed resources, unfinished tasks, and requests of the server.
func (c *Client) busy() bool {
	return c.operations.n.Load() > 0 || c.answering.serving.Len() > 0 || c.subscriptions.watches.some() ||
		c.tasks.open.some()
}

// listsChanged refreshes the cached lists after a notification of the server, and after a gap in the notifications.
func (d *onDemand) listsChanged(context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.client != nil && !d.closed {
		d.refresh(d.client, false)
	}
}

// refresh reads the lists of a running client into the cache. After the start of the client, it also announces
// differences to the cached lists. The caller holds mu.
func (d *onDemand) refresh(c *Client, started bool) {
	if d.refreshing == c {
		d.again = true
		return
	}
	d.refreshing, d.again = c, false
	d.tasks.Go(func() { // the goroutine ends with d.life or with the client
		for ; ; started = false {
			d.update(c, started)
			if !d.goesOn(c) {
				return
			}
		}
	})
}

// goesOn reports whether the lists of c have changed again while they were read.
func (d *onDemand) goesOn(c *Client) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refreshing != c {
		return false // there is a new client
	}
	if again := d.again && !d.closed; again {
		d.again = false
		return true
	}
	d.refreshing = nil
	return false
}

// hold begins an internal use of c. ok is false if c is no longer the client.
func (d *onDemand) hold(c *Client) (release func(), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.client != c || d.closed {
		return nil, false
	}
	d.users++
	return func() { d.release(false) }, true
}

// update compares the lists of the server with the cached lists, and stores them.
func (d *onDemand) update(c *Client, started bool) {
	if c.WaitForReady(d.life) != nil {
		return // the callers that wait for the client get the error
	}
	release, ok := d.hold(c)
	if !ok {
		return
	}
	defer release()
	now, err := readLists(d.life, c)
	if err != nil {
		d.report(err)
		return // the cached lists stay as they are
	}
	before, err := d.lists.load()
	d.report(err)
	changed := before.differences(now)
	if len(changed) == 0 && before != nil {
		return
	}
	d.report(d.lists.save(d.life, now))
	if !started || before == nil {
		return
	}
	if c.drift == nil { // otherwise the feature has compared the tools
		for _, change := range drift.Compare(before.tools(), now.tools()) {
			c.core.Telemetry.ToolChanged(change.Tool, string(change.Kind), partsOf(change), nil)
		}
	}
	for _, method := range changed {
		c.dispatcher.push(&Notification{Method: changeOf[method], client: c, missed: true})
	}
}

// changeOf maps each list to the notification of its changes.
var changeOf = map[string]string{
	mcp.MethodListTools:             mcp.NotificationToolListChanged,
	mcp.MethodListPrompts:           mcp.NotificationPromptListChanged,
	mcp.MethodListResources:         mcp.NotificationResourceListChanged,
	mcp.MethodListResourceTemplates: mcp.NotificationResourceListChanged,
}

// cached returns a list from the cache. ok is false if the client is ready, so that the server answers itself, or if
// the cache has no lists of the server.
func (d *onDemand) cached(method string) (items []byte, ok bool) {
	if c := d.running(); c != nil && c.State() == connstate.Ready {
		return nil, false
	}
	all, err := d.lists.load()
	d.report(err)
	return all[method], all != nil
}

// report logs an error of the cache, each once.
func (d *onDemand) report(err error) {
	if err == nil || d.life.Err() != nil || !d.lists.isNew(err) {
		return
	}
	t := d.options.Telemetry
	if t == nil {
		t = telemetry.New()
	}
	tel := instrument.NewClient(t, cmp.Or(d.options.Name, d.name), instrument.Network(d.transport.Network()),
		instrument.WithGroup(d.options.TelemetryGroup))
	defer tel.Close()
	tel.ListsUncached(err)
}

// Inspect returns the state of the member.
func (d *onDemand) Inspect() inspect.Member {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := inspect.Member{Name: d.name, OnDemand: true, Idle: d.idle, Starts: d.starts, Since: d.since, Users: d.users}
	if d.client != nil {
		i.Client = d.client.number
	}
	return i
}

// health returns the state of the member for probes. A member that is not running is healthy.
func (d *onDemand) health() health.Connection {
	d.mu.Lock()
	c, since := d.client, d.since
	d.mu.Unlock()
	if c != nil {
		return c.core.Health(c.name)
	}
	return health.Connection{Name: cmp.Or(d.options.Name, d.name), State: health.Stopped, Since: since.UTC()}
}

// maxOpenTasks bounds the unfinished tasks that keep a client running. Further tasks do not.
const maxOpenTasks = 1000

// openTasks holds the tasks of a client that have not ended, as far as the client knows. A nil openTasks holds nothing.
type openTasks struct {
	mu  sync.Mutex
	all map[*Task]struct{} // guarded by mu
}

// add adds a task that the server has created.
func (o *openTasks) add(t *Task) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.all) >= maxOpenTasks {
		o.prune()
	}
	if o.all == nil {
		o.all = map[*Task]struct{}{}
	}
	if len(o.all) < maxOpenTasks {
		o.all[t] = struct{}{}
	}
}

// prune removes the tasks that have ended. The caller holds mu.
func (o *openTasks) prune() {
	for t := range o.all {
		if !t.isOpen() {
			delete(o.all, t)
		}
	}
}

// some reports whether a task has not ended.
func (o *openTasks) some() bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.prune()
	return len(o.all) > 0
}
