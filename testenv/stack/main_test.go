package stack_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpcheck"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/internal/schemacheck"
	"github.com/mcpotel/mcpotel/testenv/stack"
	"github.com/mcpotel/mcpotel/testenv/stack/shop"
)

// up is the shared stack of all tests that do not kill a part of it.
var up *stack.Stack

func TestMain(m *testing.M) {
	if name := os.Getenv(environmentShop); name != "" {
		if err := shop.Serve(context.Background(), name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rules, err := dashboardRules()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	sink, err := otlpsink.Listen("")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer sink.Close(context.Background())
	if up, err = stack.Up(ctx, stack.Options{Log: os.Stderr, Rules: rules, Copy: sink.Endpoint()}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if !fitsSchema(sink.Snapshot()) {
			code = 1
		}
	}()
	defer func() { // runs earlier, so that the agent's data have arrived
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := up.Stop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	return m.Run()
}

// fitsSchema checks the exported telemetry of this module's clients and servers in all tests against the schema.
func fitsSchema(s otlpsink.Snapshot) bool {
	s.Points = slices.DeleteFunc(s.Points, func(p otlpsink.Point) bool { return p.Resource[overflowing] != nil })
	signals := otlpcheck.Signals(s)
	problems := schemacheck.Problems(signals)
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, "telemetry:", p)
	}
	fmt.Fprintf(os.Stderr, "held against the schema: %d spans, %d metrics, %d log records\n", len(signals.Spans),
		len(signals.Metrics), len(signals.Records))
	return len(problems) == 0
}

// limit returns a context that bounds the waits of a test. An idle machine needs less than d; a busy one, or slow disks,
// take longer.
func limit(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	d *= 3
	ctx, cancel := context.WithTimeoutCause(t.Context(), d, fmt.Errorf("%s has waited %v", t.Name(), d))
	t.Cleanup(cancel)
	return ctx
}

// until polls for an event that sends no signal.
func until(t *testing.T, ctx context.Context, what string, happened func() bool) {
	t.Helper()
	if !within(ctx, happened) {
		t.Fatalf("want that %s: %v", what, context.Cause(ctx))
	}
}

// within polls until happened reports true or ctx ends.
func within(ctx context.Context, happened func() bool) bool {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for !happened() {
		select {
		case <-again.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
