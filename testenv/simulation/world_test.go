package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpproxy"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// middle is the part of a world between clients and server.
type middle string

const (
	direct  middle = "direct"
	proxy   middle = "proxy"
	gateway middle = "gateway"
	fleet   middle = "fleet" // two processes with shared stores, behind a front that alternates between them
)

// world is one simulated system. All random choices are made before anything runs.
type world struct {
	t      *testing.T
	seed   uint64
	calm   bool // no faults, so no operation may fail
	middle middle
	// The revisions of the clients and of the server; behind a gateway they differ.
	version, inner mcp.Version
	front, back    link
	span           time.Duration // duration of the activity

	things  things
	ledger  ledger
	stores  stores
	clients []*client

	atFront, atBack        *end // equal without a middle
	processes              []*process
	ended                  sync.WaitGroup // killed processes, and reads after notifications
	stopMiddle             func()
	near, between, servers *telemetrytest.Recording // recordings of the clients, of the middle, of the servers
	operations             operations

	begun time.Time
	logMu sync.Mutex
	log   []string // events, shown if the world fails; guarded by logMu
}

// pick draws one of several values.
func pick[T any](draw *rand.Rand, all ...T) T { return all[draw.IntN(len(all))] }

// upTo draws a time below d.
func upTo(draw *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(draw.Int64N(int64(d)))
}

// newWorld draws a world.
func newWorld(t *testing.T, seed uint64) *world {
	draw := rand.New(rand.NewPCG(seed, 0))
	w := &world{t: t, seed: seed, calm: draw.IntN(4) == 0, middle: pick(draw, direct, direct, proxy, gateway, fleet)}
	w.version = pick(draw, mcp.SupportedVersions()...)
	if w.middle == fleet && w.version == mcp.Version20241105 {
		w.version = mcp.Version20250326 // sessions of HTTP+SSE belong to one process
	}
	w.inner = w.version
	if w.middle == gateway {
		w.inner = pick(draw, mcp.SupportedVersions()...)
	}
	w.front, w.back = pick(draw, links(w.version)...), pick(draw, links(w.inner)...)
	switch w.middle {
	case fleet:
		w.back = pick(draw, overHTTP, overH2)
		w.front = w.back
	case direct:
		w.front = w.back
	}
	w.span = time.Duration(5+draw.IntN(40)) * time.Second
	w.things.revision, w.ledger.runs = map[string]int{}, map[string]int{}
	return w
}

// String describes the world.
func (w *world) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s over %s", w.middle, w.version, w.front)
	if w.middle == proxy || w.middle == gateway {
		fmt.Fprintf(&b, " before %s over %s", w.inner, w.back)
	}
	if w.calm {
		b.WriteString(", calm")
	}
	return b.String()
}

// note adds an event to the log.
func (w *world) note(format string, values ...any) {
	w.logMu.Lock()
	defer w.logMu.Unlock()
	w.log = append(w.log, fmt.Sprintf("%9.3f s: ", time.Since(w.begun).Seconds())+fmt.Sprintf(format, values...))
}

// oldest returns the older of the two revisions.
func (w *world) oldest() mcp.Version { return min(w.version, w.inner) }

// draw returns the source of random numbers of an actor.
func (w *world) draw(actor uint64) *rand.Rand { return rand.New(rand.NewPCG(w.seed, actor+1)) }

// latency draws the latency of a network.
func latency(draw *rand.Rand) time.Duration {
	return pick(draw, 0, 50*time.Microsecond, time.Millisecond, 20*time.Millisecond)
}

// begin starts the servers and the middle.
func (w *world) begin() {
	w.begun = time.Now()
	draw := w.draw(0)
	w.near, w.between, w.servers = telemetrytest.Recorder(w.t), telemetrytest.Recorder(w.t), telemetrytest.Recorder(w.t)
	w.stores = newStores(w.middle == fleet)
	s := &site{draw: w.draw(1)}
	for range map[bool]int{false: 1, true: 2}[w.middle == fleet] {
		p := w.newProcess()
		w.processes = append(w.processes, p)
		s.handlers = append(s.handlers, p.handler)
	}
	w.atBack = serve(newNetwork(latency(draw)), w.back, s, func(ctx context.Context, c mcpserver.Conn) error {
		return w.process(0).server.Serve(ctx, c)
	})
	w.atFront, w.stopMiddle = w.atBack, func() {}
	if w.middle != proxy && w.middle != gateway {
		return
	}
	to, release := w.atBack.transport(true)
	to = w.broken(draw, to)
	var h *mcpserver.HTTPHandler
	var stream func(context.Context, mcpserver.Conn) error
	stop := func(context.Context) error { return nil }
	var err error
	// each fault that expires a session leaves the old session behind
	many := &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Sessions: 10_000}}
	if w.middle == proxy {
		var p *mcpproxy.Proxy
		if p, err = mcpproxy.New(to, &mcpproxy.Options{
			Name: "proxy", Telemetry: w.between.Telemetry(),
			Policy: &mcpproxy.Policy{Timeout: 4 * requestTimeout}, // an answer may be lost
		}); err == nil {
			h, stream = p.HTTPHandler(many), p.Serve
		}
	} else {
		var g *mcpproxy.Gateway
		if g, err = mcpproxy.NewGateway([]mcpclient.Member{{Name: "m", Transport: to, Options: &mcpclient.Options{
			Versions: []mcp.Version{w.inner}, Backoff: mcpclient.Backoff{Min: backoffMin, Max: backoffMax},
			RequestTimeout: requestTimeout,
			Telemetry:      w.between.Telemetry(),
		}}}, &mcpproxy.GatewayOptions{NoPrefix: true, Telemetry: w.between.Telemetry()}); err == nil {
			h, stream, stop = g.HTTPHandler(many), g.Serve, closing(g.Close)
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.atFront = serve(newNetwork(latency(draw)), w.front, &site{draw: w.draw(2), handlers: []http.Handler{h}}, stream)
	w.stopMiddle = func() {
		w.inTime("the middle ends", func(ctx context.Context) error {
			err := h.Shutdown(ctx)
			w.atFront.stop()
			return err
		})
		w.inTime("the gateway stops", stop)
		release()
	}
}

// process returns the current process i.
func (w *world) process(i int) *process {
	w.things.mu.Lock()
	defer w.things.mu.Unlock()
	return w.processes[i]
}

// end ends everything, starting with the clients.
func (w *world) end() {
	var all sync.WaitGroup
	for _, c := range w.clients {
		all.Go(c.leave)
	}
	all.Wait()
	w.stopMiddle()
	for _, p := range w.processes {
		w.inTime("a process ends", p.stop)
	}
	w.atBack.stop()
	w.ended.Wait()
}

// patience bounds the time for events that must happen soon.
const patience = 15 * time.Second

// closing returns end with a bound on its time.
func closing(end func() error) func(context.Context) error {
	return func(ctx context.Context) error {
		ended := make(chan error, 1)
		go func() { ended <- end() }()
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// inTime reports an error of f, or that f takes longer than patience.
func (w *world) inTime(what string, f func(context.Context) error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := f(ctx); err != nil {
		w.t.Errorf("%s: %v", what, err)
	}
}
