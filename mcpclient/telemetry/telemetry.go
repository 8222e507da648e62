package telemetry

import (
	"log/slog"
	"reflect"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// ScopeName is the name of the instrumentation scope of all spans and metrics.
const ScopeName = "github.com/mcpotel/mcpotel"

// Telemetry is where clients and servers send what they observe. Make it with [New] or [Off]; it is safe for concurrent
// use and may be shared by any number of clients and servers. A nil Telemetry observes nothing.
type Telemetry struct {
	config
	tracer trace.Tracer
	ins    *instruments // nil for Off
	gauges gauges

	tellers tellers
}

// New returns a Telemetry that uses the global OpenTelemetry providers and propagator, and no log, unless options say
// otherwise. It may be called before the providers are set: what is set later counts from then on. Calls without options return
// the same Telemetry as long as the globals are the same.
func New(opts ...Option) *Telemetry {
	c := newConfig(opts)
	if len(opts) > 0 {
		return newTelemetry(c)
	}
	if last := usual.Load(); last != nil && last.sameGlobals(&c) {
		return last
	}
	t := newTelemetry(c)
	usual.Store(t)
	return t
}

// usual is the latest Telemetry that was made without options. A program may well make one for each of a thousand clients.
var usual atomic.Pointer[Telemetry]

// sameGlobals reports whether c has the same providers and propagator.
func (t *Telemetry) sameGlobals(c *config) bool {
	return same(t.tracers, c.tracers) && same(t.meters, c.meters) && same(t.propagator, c.propagator)
}

// same reports whether a and b are the same, as far as that can be said. A propagator that is made of several is a slice.
func same(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case x.Type() != y.Type():
		return false
	case x.Kind() == reflect.Slice:
		return x.Len() == y.Len() && x.Pointer() == y.Pointer()
	}
	return x.Comparable() && y.Comparable() && a == b
}

func newTelemetry(c config) *Telemetry {
	t := &Telemetry{config: c}
	version := moduleVersion()
	meter := t.meters.Meter(ScopeName, metric.WithInstrumentationVersion(version))
	t.tracer = t.tracers.Tracer(ScopeName, trace.WithInstrumentationVersion(version))
	t.ins = instrumentsOf(meter)
	t.gauges.init(meter, t.ins)
	return t
}

// Off returns a Telemetry that observes nothing. Its clients and servers are nil, and cost nothing.
func Off() *Telemetry { return &Telemetry{} }

// Client returns what the client with this name and network tells its telemetry. The name is the value of
// mcp_client.name on everything it emits. Close it when the client has ended.
func (t *Telemetry) Client(name string, n Network, opts ...SideOption) *Client {
	if t == nil || t.ins == nil {
		return nil
	}
	c := &Client{}
	c.side.init(t, name, n, &t.ins.asClient, opts)
	t.gauges.add(c)
	return c
}

// Server returns what the server with this name tells its telemetry about its connections over this network. The name
// is the value of mcp_server.name on everything it emits. A server with several networks has one of these for each, and gives
// all of them one [WithInstanceID]. Close it when the server has ended.
func (t *Telemetry) Server(name string, n Network, opts ...SideOption) *Server {
	if t == nil || t.ins == nil {
		return nil
	}
	s := &Server{}
	s.side.init(t, name, serverNetwork(n), &t.ins.asServer, opts)
	return s
}

// ToolNameLimit returns how many tool and prompt names the metrics of each client or server tell apart.
func (t *Telemetry) ToolNameLimit() int { return t.toolLimit }

// discard is the logger of those who are not observed.
var discard = slog.New(slog.DiscardHandler)

// moduleVersion returns the version of this module in the running program, empty if it is not known.
var moduleVersion = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	if info.Main.Path == ScopeName {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == ScopeName {
			return m.Version
		}
	}
	return ""
})
