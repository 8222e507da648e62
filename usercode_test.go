package mcpotel_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// failing is a case for one callback: a way in which this module calls code of the user. The code fails the first time.
type failing struct {
	name      string
	callbacks []string // names as in callbacksOf
	legacy    bool     // client and server use revision 2025-11-25
	ends      ends
	observe   func(w *world) telemetry.Option // nil for none
	server    func(w *world)                  // sets options of the server; nil for none
	set       func(w *world)                  // installs the failing code
	do        func(w *world) error            // makes the module call the code, each time; nil means a Ping
}

// ends is the expected outcome of the operation in which the user's code fails.
type ends int

const (
	goesOn   ends = iota // it returns, with or without an error
	fails                // it returns an error
	likewise             // it panics or its goroutine ends, because it runs the code itself
	exits                // after a panic it returns an error; after a Goexit its goroutine ends too
	anyhow               // any outcome, because it may or may not run the code itself
)

// world is a client, a server, and failing code between them.
type world struct {
	t        *testing.T
	rec      *telemetrytest.Recording
	fail     func()
	struck   atomic.Int32 // number of calls of the code
	profiled bool         // set labels for profiles

	so        mcpserver.Options
	co        mcpclient.Options
	server    *mcpserver.Server
	wrap      func(mcpserver.Conn) mcpserver.Conn
	transport func(transport.Transport) transport.Transport
	around    func(http.Handler) http.Handler // wraps the server's HTTP handler
	client    *mcpclient.Client
	made      atomic.Pointer[mcpclient.Client] // client, for other goroutines
	closing   []func() error                   // functions that end the parts between client and server
}

// strike calls fail on the first call, and does nothing later.
func (w *world) strike() {
	if w.struck.Add(1) == 1 {
		w.fail()
	}
}

// ctx returns the context of an operation, with a deadline that no operation should reach.
func (w *world) ctx() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Hour)
	w.t.Cleanup(cancel)
	return ctx
}

// TestFailingUserCodeDoesNotStopTheRest makes each callback panic, and in another run end its goroutine. The operation
// must end in time, and the next equal operation must succeed. Client and server must then end in time without leaving
// a goroutine, an open span or a gauge above 0.
func TestFailingUserCodeDoesNotStopTheRest(t *testing.T) {
	for _, c := range allCases() {
		for name, fail := range map[string]func(){"panic": func() { panic("oops") }, "exit": runtime.Goexit} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := &world{t: t, fail: fail}
					w.run(&c)
				})
			})
		}
	}
}

// prepare creates the client and the server for a case.
func (w *world) prepare(c *failing) {
	var options []telemetry.Option
	if w.profiled {
		options = append(options, telemetry.WithProfileLabels())
	}
	if c.observe != nil {
		options = append(options, c.observe(w))
	}
	w.rec = telemetrytest.Recorder(w.t, options...)
	w.so.Telemetry, w.co.Telemetry, w.so.Logging = w.rec.Telemetry(), w.rec.Telemetry(), true
	if c.server != nil {
		c.server(w)
	}
	w.server = mcpserver.New(mcp.Implementation{Name: "server", Version: "1"}, &w.so)
	w.co.Versions = []mcp.Version{mcp.SupportedVersions()[0]}
	if c.legacy {
		w.co.Versions = []mcp.Version{mcp.Version20251125}
	}
	w.co.RequestTimeout = 10 * time.Second
	if c.set != nil {
		c.set(w)
	}
	w.connect()
}

// operation returns the function that makes the module call the code.
func (c *failing) operation() func(w *world) error {
	if c.do != nil {
		return c.do
	}
	return func(w *world) error { return w.client.Ping(w.ctx(), mcpclient.WaitForReady()) }
}

func (w *world) run(c *failing) {
	w.prepare(c)
	do := c.operation()
	w.first(c, do)
	time.Sleep(time.Minute) // for background work, and for a reconnection if the connection was lost
	before := w.struck.Load()
	if failure := usercode.Apart(func() {
		if err := w.client.WaitForReady(w.ctx()); err != nil {
			w.t.Errorf("want the client ready again, got %v", err)
		}
		if err := do(w); err != nil {
			w.t.Errorf("want the next operation to succeed, got %v", err)
		}
	}); failure != nil {
		w.t.Errorf("the next operation: %v\n%s", failure, failure.Stack)
	}
	time.Sleep(time.Minute)
	w.end()
	if w.struck.Load() == 0 || before == 0 {
		w.t.Error("want the code to be called, it was not")
	}
	w.quiet()
}

// first performs the operation in which the code fails.
func (w *world) first(c *failing, do func(w *world) error) {
	var err error
	begun := time.Now()
	failure := usercode.Apart(func() { err = do(w) })
	if took := time.Since(begun); took > w.co.RequestTimeout+time.Second {
		w.t.Errorf("the operation took %v, want its outcome within %v", took, w.co.RequestTimeout)
	}
	exit := fmt.Sprint(w.t.Name())[len(w.t.Name())-4:] == "exit"
	wantFailure := c.ends == likewise || c.ends == exits && exit
	switch {
	case c.ends == anyhow:
	case wantFailure != (failure != nil):
		w.t.Errorf("the operation ended with %v, want such an end only if it runs the code itself", failure)
	case failure != nil && failure.Exited() != exit:
		w.t.Errorf("the operation ended with %v, want the same end as the code", failure)
	case failure == nil && c.ends != goesOn && err == nil:
		w.t.Error("the operation succeeded, want an error")
	}
}

// connect creates the client and the server's end of its connections.
func (w *world) connect() {
	w.co.Backoff.Min = 100 * time.Millisecond
	var err error
	if w.client, err = mcpclient.New(w.again(), &w.co); err != nil {
		w.t.Fatal(err)
	}
	w.made.Store(w.client)
}

// again returns a transport to the server.
func (w *world) again() transport.Transport {
	var tr transport.Transport = transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		conn := mcpserver.Conn(p)
		if w.wrap != nil {
			conn = w.wrap(conn)
		}
		_ = w.server.Serve(ctx, conn)
	})
	if w.transport != nil {
		tr = w.transport(tr)
	}
	return tr
}

// end closes the client and then the server.
func (w *world) end() {
	begun := time.Now()
	if err := w.client.Close(); err != nil {
		w.t.Errorf("stop: %v", err)
	}
	if took := time.Since(begun); took > time.Second {
		w.t.Errorf("the client took %v to stop, want a second at most", took)
	}
	for _, end := range w.closing {
		if err := end(); err != nil {
			w.t.Errorf("close: %v", err)
		}
	}
	begun = time.Now()
	if err := w.server.Shutdown(w.ctx()); err != nil {
		w.t.Errorf("shut down: %v", err)
	}
	if took := time.Since(begun); took > time.Minute {
		w.t.Errorf("the server took %v to shut down, want a minute at most", took)
	}
	time.Sleep(time.Minute)
	synctest.Wait()
}

// quiet checks that no gauge counts anything as active. The Recorder checks that no span is open.
func (w *world) quiet() {
	for _, m := range w.rec.Metrics() {
		sum, ok := m.Data.(metricdata.Sum[int64])
		if !ok || sum.IsMonotonic {
			continue
		}
		for _, p := range sum.DataPoints {
			if p.Value != 0 {
				w.t.Errorf("%s is %d of %v, want 0", m.Name, p.Value, p.Attributes.ToSlice())
			}
		}
	}
}

// isReady reports whether the client is ready.
func (w *world) isReady() bool {
	c := w.made.Load()
	return c != nil && c.State() == connstate.Ready
}

var errOops = errors.New("oops")

// allCases returns the cases of the client, its transports, the server and telemetry.
func allCases() []failing {
	return slices.Concat(clientCases, transportCases, serverCases, telemetryCases)
}
