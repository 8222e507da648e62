package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// demoServer is the service name of the demo's server in telemetry.
const demoServer = "mcpotel-demo-server"

func newServeDemo(s streams) *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:     "serve-demo [--http ADDRESS]",
		Short:   "run the demo's server, on standard input and output or over HTTP",
		Example: "mcpotel tools -- mcpotel serve-demo\nmcpotel serve-demo --http :8080",
		Args:    refuseArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runServeDemo(cmd.Context(), s, address) },
	}
	cmd.Flags().StringVar(&address, "http", "",
		"serve over HTTP at this `ADDRESS`, such as :8080, on loopback unless it names a host, and print the URL")
	return cmd
}

// runServeDemo runs the demo's server. The server exports its own spans if the environment names a collector. The trace
// context of the client arrives in the _meta of each request and, over HTTP, in the headers as well.
func runServeDemo(ctx context.Context, s streams, address string) error {
	o, err := observe(ctx, demoServer, slog.LevelError, s.err, false)
	if err != nil {
		return err
	}
	defer o.close(ctx)
	server, err := newDemoServer(o)
	if err != nil {
		return err
	}
	return serveDemo(ctx, server, address, s)
}

// serveDemo serves until the client disconnects or ctx ends.
func serveDemo(ctx context.Context, server *mcpserver.Server, address string, s streams) (err error) {
	ticking, stop := context.WithCancel(ctx)
	var ticker sync.WaitGroup
	ticker.Go(func() { tick(ticking, server) })
	if address != "" {
		err = serveHTTP(ctx, server, site{address: address, risk: "call the tools, crash among them"}, s.out, s.err)
	} else {
		err = server.ServeStdio(ctx)
	}
	stop()
	ticker.Wait()
	over, cancel := context.WithCancel(context.WithoutCancel(ctx))
	cancel() // do not wait for running tasks: their results have no reader
	server.Shutdown(over)
	return err
}

// newDemoServer returns a server that uses every feature.
func newDemoServer(o *observation) (*mcpserver.Server, error) {
	s := mcpserver.New(mcp.Implementation{Name: demoServer, Title: "The demo of mcpotel", Version: version()},
		&mcpserver.Options{
			Instructions: "Everything here is made up, for trying things out.",
			Logging:      true,
			Telemetry:    o.telemetry(),
		})
	tracer := o.providers.TracerProvider().Tracer("github.com/mcpotel/mcpotel/cmd/mcpotel")
	d := &demoTools{tracer: tracer, flush: o.providers.ForceFlush, inspect: s.Inspect}
	return s, errors.Join(
		mcpserver.AddTool(s, &mcp.Tool{Name: "forecast", Description: "The weather of the next days in a city."}, d.forecast),
		mcpserver.AddTool(s, &mcp.Tool{Name: "divide", Description: "Divide one number by another."}, d.divide),
		mcpserver.AddTool(s, &mcp.Tool{Name: "wait", Description: "Wait, and report progress."}, d.wait),
		mcpserver.AddTool(s, &mcp.Tool{Name: "crash", Description: "Kill this server, as kill -9 does."}, d.crash),
		addDemoContent(s),
		addDemoAsks(s),
		addDemoResources(s),
		addDemoPrompts(s),
	)
}

// demoTools are the tools of the demo's server.
type demoTools struct {
	tracer  trace.Tracer
	flush   func(context.Context) error
	inspect func() inspect.Server
}

type forecastArguments struct {
	City string `json:"city" jsonschema:"where"`
	Days int    `json:"days,omitzero" jsonschema:"how many, 1 if not given"`
}

type forecastResult struct {
	City string    `json:"city"`
	Days []weather `json:"days"`
}

type weather struct {
	Sky        string `json:"sky"`
	CelsiusMax int    `json:"celsius_max"`
}

// forecast starts its own span, which shows that the work of a tool is part of the caller's trace.
func (d *demoTools) forecast(ctx context.Context, in forecastArguments) (forecastResult, error) {
	_, span := d.tracer.Start(ctx, "look up the weather")
	defer span.End()
	return forecastResult{City: in.City, Days: weatherIn(in.City, max(in.Days, 1))}, nil
}

// weatherIn makes up the weather.
func weatherIn(city string, days int) []weather {
	skies := []string{"clear", "cloudy", "rain", "snow"}
	all := []weather{}
	for day := range days {
		seed := len(city) + day
		all = append(all, weather{Sky: skies[seed%len(skies)], CelsiusMax: 5 + seed%20})
	}
	return all
}

type divideArguments struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type divideResult struct {
	Quotient float64 `json:"quotient"`
}

func (d *demoTools) divide(_ context.Context, in divideArguments) (divideResult, error) {
	if in.B == 0 {
		return divideResult{}, errors.New("division by zero")
	}
	return divideResult{in.A / in.B}, nil
}

type waitArguments struct {
	Seconds float64 `json:"seconds"`
}

type waitResult struct {
	Waited string `json:"waited"`
}

// wait waits in ten steps, or until the caller cancels.
func (d *demoTools) wait(ctx context.Context, in waitArguments) (waitResult, error) {
	const steps = 10
	total := time.Duration(in.Seconds * float64(time.Second))
	tick := time.NewTicker(max(total/steps, time.Millisecond))
	defer tick.Stop()
	for step := range steps {
		select {
		case <-tick.C:
			if err := mcpserver.RequestFrom(ctx).Progress(ctx, float64(step+1), steps, ""); err != nil {
				return waitResult{}, err
			}
		case <-ctx.Done():
			return waitResult{}, context.Cause(ctx)
		}
	}
	return waitResult{Waited: fmt.Sprint(total)}, nil
}

type noArguments struct{}

// crash flushes the spans of earlier calls first: after a real crash, an earlier export would have sent them.
func (d *demoTools) crash(ctx context.Context, _ noArguments) (waitResult, error) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return waitResult{}, err
	}
	return waitResult{}, errors.Join(d.alone(ctx), d.flush(ctx), self.Kill())
}

// alone waits until no other request runs: a request that was cancelled a moment ago may not have ended its span yet.
func (d *demoTools) alone(ctx context.Context) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		running := 0
		for _, c := range d.inspect().Connections {
			running += c.Running
		}
		if running <= 1 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
