// Package demoserver is the server of "mcpotel demo". It uses every feature of a server, and its answers are
// fictitious.
package demoserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Name is the service name of the demo's server in telemetry.
const Name = "mcpotel-demo-server"

// New returns a server that uses every feature, with this version and telemetry.
func New(version string, p *otlp.Providers) (*mcpserver.Server, error) {
	s := mcpserver.New(mcp.Implementation{Name: Name, Title: "The demo of mcpotel", Version: version},
		&mcpserver.Options{
			Instructions: "Everything here is made up, for trying things out.",
			Logging:      true,
			Telemetry:    p.Telemetry(),
		})
	tracer := p.TracerProvider().Tracer("github.com/mcpotel/mcpotel/cmd/mcpotel")
	d := &tools{tracer: tracer, flush: p.ForceFlush, inspect: s.Inspect}
	return s, errors.Join(
		mcpserver.AddTool(s, &mcp.Tool{Name: "forecast", Description: "The weather of the next days in a city."}, d.forecast),
		mcpserver.AddTool(s, &mcp.Tool{Name: "divide", Description: "Divide one number by another."}, d.divide),
		mcpserver.AddTool(s, &mcp.Tool{Name: "wait", Description: "Wait, and report progress."}, d.wait),
		mcpserver.AddTool(s, &mcp.Tool{Name: "crash", Description: "Kill this server, as kill -9 does."}, d.crash),
		addContent(s),
		addAsks(s),
		addResources(s),
		addPrompts(s),
	)
}

// tools are the tools of the demo's server.
type tools struct {
	tracer  trace.Tracer
	flush   func(context.Context) error
	inspect func() inspect.Server
}

// ForecastArguments are the arguments of the tool forecast.
type ForecastArguments struct {
	City string `json:"city" jsonschema:"where"`
	Days int    `json:"days,omitzero" jsonschema:"how many, 1 if not given"`
}

// ForecastResult is the result of the tool forecast.
type ForecastResult struct {
	City string    `json:"city"`
	Days []Weather `json:"days"`
}

// Weather is the weather of a day.
type Weather struct {
	Sky        string `json:"sky"`
	CelsiusMax int    `json:"celsius_max"`
}

// forecast starts its own span, which shows that the work of a tool is part of the caller's trace.
func (d *tools) forecast(ctx context.Context, in ForecastArguments) (ForecastResult, error) {
	_, span := d.tracer.Start(ctx, "look up the weather")
	defer span.End()
	return ForecastResult{City: in.City, Days: weatherIn(in.City, max(in.Days, 1))}, nil
}

// weatherIn invents the weather.
func weatherIn(city string, days int) []Weather {
	skies := []string{"clear", "cloudy", "rain", "snow"}
	all := []Weather{}
	for day := range days {
		seed := len(city) + day
		all = append(all, Weather{Sky: skies[seed%len(skies)], CelsiusMax: 5 + seed%20})
	}
	return all
}

// DivideArguments are the arguments of the tool divide.
type DivideArguments struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type divideResult struct {
	Quotient float64 `json:"quotient"`
}

func (d *tools) divide(_ context.Context, in DivideArguments) (divideResult, error) {
	if in.B == 0 {
		return divideResult{}, errors.New("division by zero")
	}
	return divideResult{in.A / in.B}, nil
}

// WaitArguments are the arguments of the tool wait.
type WaitArguments struct {
	Seconds float64 `json:"seconds"`
}

type waitResult struct {
	Waited string `json:"waited"`
}

// wait waits in ten steps, or until the caller cancels.
func (d *tools) wait(ctx context.Context, in WaitArguments) (waitResult, error) {
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

// crash kills this process. It first flushes the spans of earlier calls: before a real crash, an earlier export would
// have sent them.
func (d *tools) crash(ctx context.Context, _ noArguments) (waitResult, error) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return waitResult{}, err
	}
	return waitResult{}, errors.Join(d.alone(ctx), d.flush(ctx), self.Kill())
}

// alone waits until no other request runs: a request that was cancelled a moment ago may not have ended its span yet.
func (d *tools) alone(ctx context.Context) error {
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
