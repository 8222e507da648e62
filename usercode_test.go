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

// failing is one way through which this module calls code of the user's, which fails once.
type failing struct {
	name      string
	callbacks []string // as TestEveryCallbackHasAFailureCase finds them
	legacy    bool     // the server is one of the legacy era
	ends      ends
	observe   func(w *world) telemetry.Option // nil for none
	server    func(w *world)                  // sets options of the server; nil for none
	set       func(w *world)                  // sets up what is called
	do        func(w *world) error            // has it called, once more each time; a Ping is made if it is nil
}

// ends is what becomes of the operation in which code of the user's fails.
type ends int

const (
	goesOn   ends = iota // it returns, with an error or without
	fails                // it returns an error
	likewise             // it panics, or its goroutine ends: it runs the code itself
	exits                // it returns an error after a panic, and its goroutine ends with that of the code
	anyhow               // it may be the one that runs the code, or not
)

// world is a client, a server, and code between them that fails.
type world struct {
	t        *testing.T
	rec      *telemetrytest.Recording
	fail     func()
	struck   atomic.Int32 // how often the code was called
	profiled bool         // with labels for profiles

	so        mcpserver.Options
	co        mcpclient.Options
	server    *mcpserver.Server
	wrap      func(mcpserver.Conn) mcpserver.Conn
	transport func(transport.Transport) transport.Transport
	around    func(http.Handler) http.Handler // over HTTP
	client    *mcpclient.Client
	made      atomic.Pointer[mcpclient.Client] // the same, for other goroutines
	closing   []func() error                   // ends what is between client and server
}

// strike fails when it is called for the first time.
func (w *world) strike() {
	if w.struck.Add(1) == 1 {
		w.fail()
	}
}

// ctx is that of an operation: nothing may take so long.
func (w *world) ctx() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Hour)
	w.t.Cleanup(cancel)
	return ctx
}

// TestFailingUserCodeDoesNotStopTheRest lets each callback panic, and end its goroutine: the operation gets
// its outcome in time, the same operation works thereafter, client and server end in time and leave no goroutine, no
// span is open and no gauge above 0.
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

// prepare makes the world in which the case happens.
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

// operation returns what has the code called.
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
	time.Sleep(time.Minute) // for what goes on in the background, and the connection that may have to be made anew
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
		w.t.Errorf("the operation ended by %v, want that only of code that it runs itself", failure)
	case failure != nil && failure.Exited() != exit:
		w.t.Errorf("the operation ended by %v, want the same as the code", failure)
	case failure == nil && c.ends != goesOn && err == nil:
		w.t.Error("the operation succeeded, want an error")
	}
}

// connect connects the client with the server, which serves it as long as it likes.
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

// end ends the client, and the server.
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

// quiet holds what telemetry says of what is going on, which is nothing. That no span is open, the Recorder holds.
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

// allCases are those of the client, of its transports, of the server and of telemetry.
func allCases() []failing {
	return slices.Concat(clientCases, transportCases, serverCases, telemetryCases)
}
