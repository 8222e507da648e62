package mcpproxy

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// A resource that the host watches, and another resource.
const (
	watchedURI = "test://watched"
	otherURI   = "test://other"
)

// catalog holds the features that all processes of a server share: a tool and resources that contain a number.
type catalog struct{ number atomic.Int64 }

var anHour = mcp.CacheHint{TTLMs: new(time.Hour.Milliseconds()), CacheScope: mcp.CachePrivate}

func (l *catalog) ListTools(context.Context, *mcpserver.ListRequest) (*mcp.ListToolsResult, error) {
	return &mcp.ListToolsResult{CacheHint: anHour, Tools: []*mcp.Tool{{Name: fmt.Sprint("tool", l.number.Load())}}}, nil
}

func (l *catalog) CallTool(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, nil
}

func (l *catalog) ListResources(context.Context, *mcpserver.ListRequest) (*mcp.ListResourcesResult, error) {
	return &mcp.ListResourcesResult{Resources: []*mcp.Resource{{URI: watchedURI, Name: "watched"},
		{URI: otherURI, Name: "other"}}}, nil
}

func (l *catalog) ReadResource(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return &mcp.ReadResourceResult{CacheHint: anHour,
		Contents: []*mcp.ResourceContents{{URI: r.URI, Text: fmt.Sprint(l.number.Load())}}}, nil
}

func (l *catalog) SubscribeResource(context.Context, string) error   { return nil }
func (l *catalog) UnsubscribeResource(context.Context, string) error { return nil }

// eventsLost is a store that can lose the events of all sessions.
type eventsLost struct {
	store.SharedEvents
	sessions sync.Map
}

func (s *eventsLost) Latest(ctx context.Context, session string) (int64, error) {
	s.sessions.Store(session, nil)
	return s.SharedEvents.Latest(ctx, session)
}

func (s *eventsLost) lose() {
	for session := range s.sessions.Range {
		s.Forget(session.(string))
	}
}

// deaf is a store with a process that can miss broadcasts.
type deaf struct {
	store.Sessions
	now atomic.Bool
}

func (s *deaf) Receive(ctx context.Context, process string, behind int64) iter.Seq2[store.Message, error] {
	return func(yield func(store.Message, error) bool) {
		for m, err := range s.Sessions.Receive(ctx, process, behind) {
			if (process != "" || !s.now.Load()) && !yield(m, err) {
				return
			}
		}
	}
}

// way is one combination of host, middle, server and transport.
type way struct {
	version mcp.Version
	http    bool
	middle  string // the link between host and server: direct, proxy or gateway
	near    bool   // the event happens between the host and the middle
	event   *linkEvent
}

func (l *way) modern() bool { return l.version.Era() == mcp.Modern }

func (l *way) String() string {
	transport, place := "stdio", "far"
	if l.http {
		transport = "http"
	}
	if l.near {
		place = "near"
	}
	return strings.Join([]string{string(l.version), transport, l.middle, place, l.event.name}, "/")
}

// linkEvent is an event during which a change may be lost.
type linkEvent struct {
	name    string
	options mcpserver.HTTPOptions
	first   bool // nothing changes before the event
	happen  func(w *linked)

	// never returns the reason why the event is impossible on a link. It is empty if the event is possible.
	never func(l *way) string

	// causes returns the causes that clients record for gaps.
	causes func(l *way) []string
}

// linked is a host, a middle and a server that are connected.
type linked struct {
	*way
	t        *testing.T
	catalog  catalog
	servers  []*mcpserver.Server // one for each process
	far      *line               // line to the server
	at       *line               // the line on which the event happens
	host     *mcpclient.Client
	hostTel  *telemetrytest.Recording
	midTel   *telemetrytest.Recording // telemetry of the client in the middle
	gateways []*Gateway               // one for each process; nil if there is no gateway
	deaf     deaf
	events   eventsLost

	mu          sync.Mutex
	tools, text string // guarded by mu; latest values that handlers have read
}

// serveServer starts the processes of the server.
func (w *linked) serveServer() {
	w.servers = nil
	var ends []frontEnd
	for range w.far.options {
		s := mcpserver.New(mcp.Implementation{Name: "catalog", Version: "1"}, &mcpserver.Options{
			Telemetry: telemetry.Off(), Versions: []mcp.Version{w.version}})
		if err := s.Implement(&w.catalog); err != nil {
			w.t.Fatal(err)
		}
		w.servers = append(w.servers, s)
		ends = append(ends, s)
	}
	w.far.serve(ends...)
}

// serveMiddle starts the proxy or the gateway, which then serves the line near.
func (w *linked) serveMiddle(near *line) {
	if w.middle == "proxy" {
		p, err := New(w.far.transport(), &Options{Name: "proxy", Telemetry: w.midTel.Telemetry()})
		if err != nil {
			w.t.Fatal(err)
		}
		near.serve(p)
		return
	}
	w.gateways = nil
	var ends []frontEnd
	for range near.options {
		g, err := NewGateway([]mcpclient.Member{{Name: "m", Transport: w.far.transport()}}, &GatewayOptions{
			Telemetry: w.midTel.Telemetry()})
		if err != nil {
			w.t.Fatal(err)
		}
		w.gateways = append(w.gateways, g)
		ends = append(ends, g)
	}
	near.serve(ends...)
}

// stopGateways stops the processes of the gateway, if there is one.
func (w *linked) stopGateways() {
	for _, g := range w.gateways {
		_ = g.Close()
	}
}

// change changes the tool and the resources. The first process announces the change.
func (w *linked) change() {
	w.catalog.number.Add(1)
	w.servers[0].ToolsChanged()
	w.servers[0].ResourceUpdated(watchedURI)
}

// restart restarts the server, or the proxy or gateway. In between, it makes a change.
func (w *linked) restart() {
	w.at.each(func(f *flow) { f.hold(true) })
	w.change()
	synctest.Wait()
	w.at.stop()
	w.catalog.number.Add(1)
	if w.at == w.far {
		w.serveServer()
	} else {
		w.stopGateways()
		w.serveMiddle(w.at)
	}
	time.Sleep(10 * time.Second)
	w.at.mu.Lock()
	defer w.at.mu.Unlock()
	w.at.down = false
}

// reopen ends the stream for changes, and loses a change on that stream.
func (w *linked) reopen() {
	w.at.each(func(f *flow) { f.hold(true) })
	w.change()
	time.Sleep(time.Second)
	w.at.each(func(f *flow) {
		if w.http {
			f.end(io.EOF)
		} else {
			f.cancel()
		}
	})
}

// resubscribe watches another resource while a change is in flight.
func (w *linked) resubscribe() {
	w.at.each(func(f *flow) { f.hold(true) })
	w.change()
	time.Sleep(time.Second)
	done := make(chan error, 1)
	go func() { done <- w.host.SubscribeResource(context.Background(), otherURI) }()
	time.Sleep(time.Second)
	w.at.each(func(f *flow) { f.hold(false) })
	if err := <-done; err != nil {
		w.t.Errorf("SubscribeResource returned %v", err)
	}
}

// loseMessages loses the broadcasts of one process to the process that has the stream.
func (w *linked) loseMessages() {
	w.deaf.now.Store(true)
	w.change()
	time.Sleep(time.Second)
	w.deaf.now.Store(false)
	w.servers[0].ResourcesChanged() // the loss is noticed with the next message
}

// loseEvents ends the stream for changes and loses its stored events.
func (w *linked) loseEvents() {
	w.at.each(func(f *flow) { f.hold(true) })
	w.change()
	time.Sleep(time.Second)
	w.events.lose()
	w.at.each(func(f *flow) { f.end(io.EOF) })
}

const (
	oneStream  = "the one stream carries everything; when it ends, so does the connection"
	noEventIDs = "there are no event ids: a stream is never resumed"
	noStore    = "over stdio a server is one process"
	ownProcess = "the sessions of a proxy live in its process"
)

// linkEvents lists all events.
var linkEvents = []*linkEvent{{
	name: "reconnect", happen: (*linked).restart,
	causes: func(l *way) []string {
		switch {
		case !l.modern():
			return []string{names.GapSession, names.GapSubscription}
		case l.http: // without a session, only the stream can be lost
			return []string{names.GapStream}
		}
		return []string{names.GapSession}
	},
}, {
	name: "reopen", happen: (*linked).reopen, never: neverReopened, causes: byReopening,
}, {
	name: "reopen before the first message", first: true, happen: (*linked).reopen, never: neverReopened,
	causes: byReopening,
}, {
	name: "reopen without event ids", happen: (*linked).reopen, options: mcpserver.HTTPOptions{NotResumable: true},
	never: func(l *way) string {
		switch {
		case !l.http:
			return oneStream
		case l.modern():
			return noEventIDs
		}
		return ""
	},
	causes: func(*way) []string { return []string{names.GapStream} },
}, {
	name: "resubscribe", happen: (*linked).resubscribe,
	causes: func(*way) []string { return nil },
}, {
	name: "store loses messages", happen: (*linked).loseMessages,
	never:  neverShared,
	causes: func(*way) []string { return nil }, // the server announces everything
}, {
	name: "store loses events", happen: (*linked).loseEvents,
	never: func(l *way) string {
		if why := neverShared(l); why != "" || !l.modern() {
			return why
		}
		return noEventIDs
	},
	causes: func(*way) []string { return []string{names.GapReplay} },
}}

func neverReopened(l *way) string {
	if !l.http && !l.modern() {
		return oneStream
	}
	return ""
}

func byReopening(l *way) []string {
	if l.modern() {
		return []string{names.GapStream}
	}
	return nil // the stream is resumed
}

func neverShared(l *way) string {
	switch {
	case !l.http:
		return noStore
	case l.near && l.middle == "proxy":
		return ownProcess
	}
	return ""
}

// ways returns all combinations that can exist.
func ways(t *testing.T) (all []*way) {
	for _, v := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
		for _, overHTTP := range []bool{false, true} {
			for _, middle := range []string{"direct", "proxy", "gateway"} {
				for _, near := range []bool{false, true} {
					for _, e := range linkEvents {
						l := &way{version: v, http: overHTTP, middle: middle, near: near, event: e}
						switch {
						case near && middle == "direct": // the only link is direct
						case e.never != nil && e.never(l) != "":
							t.Logf("%s: none: %s", l, e.never(l))
						default:
							all = append(all, l)
						}
					}
				}
			}
		}
	}
	return all
}

// The same rule holds for all links: a client calls its handlers for each change, or whenever it may have missed a
// change. A handler that then reads the list or the resource gets the latest change.
func TestChangesReachHandlersOnEveryTransport(t *testing.T) {
	for _, l := range ways(t) {
		t.Run(l.String(), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { l.test(t) }) })
	}
}

func (l *way) test(t *testing.T) {
	w := &linked{way: l, t: t, hostTel: telemetrytest.Recorder(t), midTel: telemetrytest.Recorder(t)}
	near := &line{http: l.http, options: []mcpserver.HTTPOptions{l.event.options}}
	w.far = &line{http: l.http, options: near.options}
	if w.at = w.far; l.near {
		w.at = near
	}
	if strings.HasPrefix(l.event.name, "store") {
		w.events.SharedEvents, w.deaf.Sessions = store.NewMemoryEvents(0, 0), store.NewMemorySessions()
		w.at.options = []mcpserver.HTTPOptions{{Sessions: w.deaf.Sessions, Events: &w.events},
			{Sessions: &w.deaf, Events: &w.events}}
	}
	w.serveServer()
	if l.middle == "direct" {
		near = w.far
	} else {
		w.serveMiddle(near)
	}
	var err error
	w.host, err = mcpclient.New(near.transport(), &mcpclient.Options{
		Versions: []mcp.Version{l.version}, Telemetry: w.hostTel.Telemetry(),
		Features: []mcpclient.Feature{
			mcpclient.HandleToolListChanged(func(ctx context.Context) { w.get(ctx, &w.tools, w.readTools) }),
			mcpclient.HandleResourceUpdated(func(ctx context.Context, uri string) {
				if uri == watchedURI {
					w.get(ctx, &w.text, w.readText)
				}
			}),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = w.host.Close()
		if near != w.far {
			near.stop()
		}
		w.stopGateways()
		w.far.stop()
	}()
	if err := w.host.SubscribeResource(t.Context(), watchedURI, mcpclient.WaitForReady()); err != nil {
		t.Fatal(err)
	}
	w.readTools(t.Context())
	w.readText(t.Context())
	time.Sleep(time.Minute)
	if !l.event.first {
		w.change()
		w.wants("the change before the event")
	}
	before := w.gaps()
	l.event.happen(w)
	w.wants("the change at the event")
	if got, want := since(before, w.gaps()), l.event.causes(l); !slices.Equal(got, want) {
		t.Errorf("clients count gaps with the causes %q, want %q", got, want)
	}
	w.change()
	w.wants("the change after the event")
}

// get reads a value and stores it for the test.
func (w *linked) get(ctx context.Context, into *string, read func(context.Context) string) {
	if got := read(ctx); got != "" {
		w.mu.Lock()
		defer w.mu.Unlock()
		*into = got
	}
}

func (w *linked) readTools(ctx context.Context) (name string) {
	for tool, err := range w.host.Tools(ctx) {
		if err != nil {
			return ""
		}
		name = tool.Name[strings.LastIndex(tool.Name, "tool"):]
	}
	return name
}

func (w *linked) readText(ctx context.Context) string {
	r, err := w.host.ReadResource(ctx, watchedURI)
	if err != nil {
		return ""
	}
	return r.Contents[0].Text
}

// wants waits until all goroutines are idle, and checks the values of the handlers and of the host.
func (w *linked) wants(when string) {
	w.t.Helper()
	time.Sleep(2 * time.Minute)
	w.mu.Lock()
	tools, text := w.tools, w.text
	w.mu.Unlock()
	number := fmt.Sprint(w.catalog.number.Load())
	for what, got := range map[string]string{"the handler of lists": tools, "the list": w.readTools(w.t.Context())} {
		if got != "tool"+number {
			w.t.Errorf("%s: %s has %q, want tool%s", when, what, got, number)
		}
	}
	for what, got := range map[string]string{"the handler of resources": text, "the resource": w.readText(w.t.Context())} {
		if got != number {
			w.t.Errorf("%s: %s has %q, want %s", when, what, got, number)
		}
	}
}

// gaps returns the number of gaps for each cause.
func (w *linked) gaps() map[string]int64 {
	counts := map[string]int64{}
	for _, cause := range []string{names.GapReplacement, names.GapReplay, names.GapSession, names.GapStream,
		names.GapSubscription} {
		for _, rec := range []*telemetrytest.Recording{w.hostTel, w.midTel} {
			counts[cause] += rec.Value(names.MetricMCPClientChangeGap, names.KeyMCPClientGapCause, cause)
		}
	}
	return counts
}

// since returns the causes with higher numbers in after.
func since(before, after map[string]int64) (causes []string) {
	for cause, n := range after {
		if n > before[cause] {
			causes = append(causes, cause)
		}
	}
	slices.Sort(causes)
	return causes
}
