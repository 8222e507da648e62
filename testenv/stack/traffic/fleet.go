package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/codes"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/testenv/stack"
	"github.com/mcpotel/mcpotel/testenv/stack/shop"
)

// Options configure a fleet.
type Options struct {
	// OTLP is the address for OTLP over gRPC from the services, and OTLPHTTP the address for OTLP over HTTP from the node
	// server; "host:port" each.
	OTLP, OTLPHTTP string

	// Only names the scenarios to play. Nil means all.
	Only []string

	// Interval is the export interval of the services. Zero means a second.
	Interval time.Duration

	// Log receives a line for each round and for each failure. Nil means no log.
	Log io.Writer
}

// Fleet is a set of running clients and servers, from Start to Stop.
type Fleet struct {
	options Options
	dir     string // contains the command mcpotel
	shop    *mcpserver.Server
	shopURL string // base URL of the shop: /mcp serves it, /busy refuses every other request
	absent  string // URL without a server

	mu       sync.Mutex
	services map[string]*otlp.Providers   // guarded by mu
	clients  map[string]*mcpclient.Client // guarded by mu; by name
	closing  []func(context.Context) error
}

// The services that contain clients.
const (
	assistant = "assistant" // contains most clients
	batch     = "nightly-batch"
)

// Start builds the command and starts the servers. ctx bounds only the start.
func Start(ctx context.Context, o Options) (_ *Fleet, err error) {
	f := &Fleet{options: o, services: map[string]*otlp.Providers{}, clients: map[string]*mcpclient.Client{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Stop(context.WithoutCancel(ctx)))
		}
	}()
	for _, name := range o.Only {
		if !slices.ContainsFunc(Scenarios, func(s Scenario) bool { return s.Name == name }) {
			return nil, fmt.Errorf("no scenario is named %q", name)
		}
	}
	if f.dir, err = os.MkdirTemp("", "mcpotel-traffic-"); err != nil {
		return nil, err
	}
	root, err := stack.Repository()
	if err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", f.command(), "./cmd/mcpotel")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build mcpotel: %w\n%s", err, out)
	}
	return f, f.openShop(ctx)
}

func (f *Fleet) command() string { return filepath.Join(f.dir, "mcpotel") }

// openShop serves the shop on loopback, and finds an unused port.
func (f *Fleet) openShop(ctx context.Context) error {
	p, err := f.service(ctx, "shop")
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	f.shop = shop.New(p)
	handler := f.shop.HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: true})
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	mux.Handle("/busy", busy(http.StripPrefix("/busy", handler)))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(l) // until Shutdown
	f.later(func(ctx context.Context) error { return errors.Join(handler.Shutdown(ctx), server.Shutdown(ctx)) })
	f.shopURL = "http://" + l.Addr().String()

	unused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	f.absent = "http://" + unused.Addr().String() + "/mcp"
	return unused.Close()
}

// later registers a function for Stop. Stop calls the last one first.
func (f *Fleet) later(end func(context.Context) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closing = append(f.closing, end)
}

// service returns the telemetry of a service, which it creates on the first call.
func (f *Fleet) service(ctx context.Context, name string) (*otlp.Providers, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.services[name]; p != nil {
		return p, nil
	}
	p, err := otlp.Setup(ctx, otlp.WithEndpoint(f.options.OTLP), otlp.WithServiceName(name), otlp.WithGlobals(false),
		otlp.WithConsole(nil, nil), otlp.WithExportInterval(cmp.Or(f.options.Interval, time.Second)),
		otlp.WithBaggageAttributes(telemetry.ConversationKeys()...))
	if err != nil {
		return nil, err
	}
	f.services[name] = p
	f.closing = append(f.closing, p.Shutdown)
	return p, nil
}

// client returns the client with a name. It connects the client on the first call and after its end. of is the client's
// service.
func (f *Fleet) client(ctx context.Context, of, name string, t func() (transport.Transport, error),
	o mcpclient.Options) (*mcpclient.Client, error) {
	f.mu.Lock()
	c := f.clients[name]
	f.mu.Unlock()
	if c != nil && c.Err() == nil {
		return c, c.WaitForReady(ctx)
	}
	c, err := f.visitor(ctx, of, name, t, o)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.clients[name] = c
	f.mu.Unlock()
	f.later(func(context.Context) error { return c.Close() })
	return c, nil
}

// visitor connects a client that its scenario must stop.
func (f *Fleet) visitor(ctx context.Context, of, name string, t func() (transport.Transport, error),
	o mcpclient.Options) (*mcpclient.Client, error) {
	p, err := f.service(ctx, of)
	if err != nil {
		return nil, err
	}
	tr, err := t()
	if err != nil {
		return nil, err
	}
	o.Name, o.Telemetry = name, p.Telemetry(telemetry.WithExecuteToolDuration(), telemetry.WithContextCost(),
		telemetry.WithBaggageKeys(telemetry.ConversationKeys()...), telemetry.WithBaggageLabel(names.KeyGenAIAgentName))
	o.Timeouts.Close = 3 * time.Second // gives servers time to export their last spans
	c, err := mcpclient.Connect(ctx, tr, &o)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", name, err)
	}
	return c, nil
}

// Run plays all scenarios concurrently, and repeats this for the given number of rounds or until ctx ends, which is not
// an error. Zero rounds means no limit. Run continues after failures, and returns the failures of the first failed
// round.
func (f *Fleet) Run(ctx context.Context, rounds int) (failed error) {
	for round := 1; rounds == 0 || round <= rounds; round++ {
		begun := time.Now()
		err := f.round(ctx)
		if ctx.Err() != nil {
			return failed
		}
		f.say("round %d took %v", round, time.Since(begun).Round(time.Millisecond))
		if err != nil {
			f.say("round %d: %v", round, err)
		}
		if err != nil && failed == nil {
			failed = fmt.Errorf("round %d: %w", round, err)
		}
	}
	return failed
}

func (f *Fleet) say(format string, args ...any) {
	if f.options.Log != nil {
		fmt.Fprintf(f.options.Log, format+"\n", args...)
	}
}

// round plays each scenario once, all concurrently.
func (f *Fleet) round(ctx context.Context) error {
	failed := make([]error, len(Scenarios))
	var playing sync.WaitGroup
	for i, s := range Scenarios {
		if f.options.Only == nil || slices.Contains(f.options.Only, s.Name) {
			playing.Go(func() { failed[i] = f.play(ctx, s) })
		}
	}
	playing.Wait()
	return errors.Join(failed...)
}

// playLimit bounds the time of a scenario.
const playLimit = time.Minute

// play plays one scenario, under a span of the assistant.
func (f *Fleet) play(ctx context.Context, s Scenario) error {
	p, err := f.service(ctx, assistant)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, playLimit, fmt.Errorf("%s takes longer than %v", s.Name, playLimit))
	defer cancel()
	ctx, span := p.TracerProvider().Tracer("traffic").Start(ctx, "turn: "+s.Name)
	defer span.End()
	if err := s.play(ctx, f); err != nil {
		span.SetStatus(codes.Error, "the scenario did not go as it should")
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

// Stop ends the clients, then the servers, and exports the remaining telemetry. If ctx ends first, the rest is lost.
func (f *Fleet) Stop(ctx context.Context) error {
	f.mu.Lock()
	closing := f.closing
	f.closing = nil
	f.mu.Unlock()
	var failed []error
	for _, end := range slices.Backward(closing) {
		failed = append(failed, end(ctx))
	}
	if f.dir != "" {
		failed = append(failed, os.RemoveAll(f.dir))
	}
	return errors.Join(failed...)
}
