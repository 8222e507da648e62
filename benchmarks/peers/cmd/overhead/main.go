//go:build unix

// Command overhead measures the cost of telemetry for a call, of this project beside otelgrpc and otelhttp. It prints
// one table.
//
//	go -C benchmarks/peers run ./cmd/overhead
//
// Both ends of a call are in this process and have the same telemetry; the network is the loopback, or none. Each cell
// is the difference to the same call without telemetry: the CPU time of the process, by getrusage, as the median and
// the minimum over alternating passes, and the allocations. The SDK exports to nowhere, in batches.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

func main() {
	passes := flag.Int("passes", 9, "how often each cell is measured")
	calls := flag.Int("calls", 2000, "calls in each pass")
	flag.Parse()
	if err := run(*passes, *calls); err != nil {
		fmt.Fprintln(os.Stderr, "overhead:", err)
		os.Exit(1)
	}
}

// An installation is the OpenTelemetry of a program.
type installation struct {
	name    string
	off     bool // no instrumentation
	tracers trace.TracerProvider
	meters  metric.MeterProvider
	context propagation.TextMapPropagator
}

// installations are the programs, the one without telemetry first. Without an SDK, package otel's no-op providers are
// used.
func installations() []installation {
	sdk := func(name string, s sdktrace.Sampler) installation {
		return installation{name: name,
			tracers: sdktrace.NewTracerProvider(sdktrace.WithSampler(s), sdktrace.WithBatcher(nowhere{})),
			meters:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())),
			context: propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})}
	}
	return []installation{{name: "without telemetry", off: true}, {name: "no SDK"},
		sdk("metrics, unsampled", sdktrace.NeverSample()), sdk("metrics, sampled", sdktrace.AlwaysSample())}
}

type nowhere struct{}

func (nowhere) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (nowhere) Shutdown(context.Context) error                             { return nil }

// A stack is a kind of call. open returns a function that makes one call.
type stack struct {
	name string
	open func(context.Context, installation) (call func() error, err error)
}

// cell holds the cost of one stack with one installation.
type cell struct {
	call   func() error
	cpu    []time.Duration // of a call, one for each pass
	allocs []float64
	bytes  []float64
}

func run(passes, calls int) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	all := map[string][]*cell{}
	programs := installations()
	for _, s := range stacks {
		for _, in := range programs {
			call, err := s.open(ctx, in)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.name, in.name, err)
			}
			all[s.name] = append(all[s.name], &cell{call: call})
		}
	}
	for range passes {
		for _, s := range stacks {
			for _, c := range all[s.name] {
				if err := c.pass(calls); err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
			}
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', tabwriter.Debug)
	fmt.Fprintf(w, " added to a call\t")
	for _, s := range stacks {
		fmt.Fprintf(w, " %s\t", s.name)
	}
	fmt.Fprintln(w)
	for i, in := range programs {
		fmt.Fprintf(w, " %s\t", in.name)
		for _, s := range stacks {
			fmt.Fprintf(w, " %s\t", all[s.name][i].beyond(all[s.name][0]))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// pass makes a number of calls and records the cost of one.
func (c *cell) pass(calls int) error {
	for range calls / 10 {
		if err := c.call(); err != nil {
			return err
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := cpu()
	for range calls {
		if err := c.call(); err != nil {
			return err
		}
	}
	used := cpu() - began
	runtime.ReadMemStats(&after)
	c.cpu = append(c.cpu, used/time.Duration(calls))
	c.allocs = append(c.allocs, float64(after.Mallocs-before.Mallocs)/float64(calls))
	c.bytes = append(c.bytes, float64(after.TotalAlloc-before.TotalAlloc)/float64(calls))
	return nil
}

// beyond formats the cost of c beyond base: the medians of the differences of passes, and the difference of the minima.
func (c *cell) beyond(base *cell) string {
	if c == base {
		return fmt.Sprintf("%.1f / %.1f µs, %.1f allocs, %.1f KB", us(median(c.cpu)), us(slices.Min(c.cpu)),
			median(c.allocs), median(c.bytes)/1000)
	}
	var differ []time.Duration
	for i := range c.cpu {
		differ = append(differ, c.cpu[i]-base.cpu[i])
	}
	least := slices.Min(c.cpu) - slices.Min(base.cpu)
	return fmt.Sprintf("%+.1f / %+.1f µs (%+.0f %%), %+.1f allocs, %+.1f KB", us(median(differ)), us(least),
		100*float64(least)/float64(slices.Min(base.cpu)), median(c.allocs)-median(base.allocs),
		(median(c.bytes)-median(base.bytes))/1000)
}

func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func median[T interface{ ~int64 | ~float64 }](all []T) T {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// cpu returns the CPU time of this process.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for the own process
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
