// Command load measures the Collector with the configurations of the project: the throughput of a core, the memory for
// pending sampling decisions, the time until the queue is full and the resulting loss, and the loss when an agent is
// killed.
//
//	go -C testenv/stack run ./cmd/load capacity window queue kill
//
// It runs the named measurements, or all by default, and prints a table for each. It requires the programs that
// testenv/stack/install builds, and Linux, because it reads the processes' times from /proc. No other load should run
// at the same time.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/mcpotel/mcpotel/testenv/stack"
	"github.com/mcpotel/mcpotel/testenv/stack/load"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// measurements are all measurements, in the order in which they run.
var measurements = []struct {
	name    string
	measure func(*measuring) error
}{{"capacity", capacity}, {"window", window}, {"queue", queue}, {"kill", kill}}

// measuring is the shared state of all measurements.
type measuring struct {
	ctx   context.Context
	load  *load.Load
	out   io.Writer
	took  time.Duration // duration of one run
	kills int

	repository string // directory of the project
}

func run(ctx context.Context, args []string, out, stderr io.Writer) error {
	var names []string
	for _, each := range measurements {
		names = append(names, each.name)
	}
	m := &measuring{ctx: ctx, out: out}
	f := flag.NewFlagSet("load", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintln(stderr, "usage: load [flags] [MEASUREMENT...]; the measurements are", names)
		f.PrintDefaults()
	}
	f.DurationVar(&m.took, "for", 20*time.Second, "duration of one run")
	f.IntVar(&m.kills, "kills", 40, "number of kills of the agent")
	if err := f.Parse(args); err != nil {
		return err
	}
	chosen := f.Args()
	for _, name := range chosen {
		if !slices.Contains(names, name) {
			return fmt.Errorf("unknown measurement %q, want one of %v", name, names)
		}
	}
	var err error
	if m.repository, err = stack.Repository(); err != nil {
		return err
	}
	if m.load, err = load.Record(ctx); err != nil {
		return err
	}
	fmt.Fprintf(out, "A trace has %.2f spans of %.0f bytes on average.\n", m.load.SpansOfTrace(), m.load.BytesOfSpan())
	for _, each := range measurements {
		if len(chosen) > 0 && !slices.Contains(chosen, each.name) {
			continue
		}
		if err := each.measure(m); err != nil {
			return fmt.Errorf("%s: %w", each.name, err)
		}
	}
	return nil
}

// tier is a Collector to measure in isolation.
type tier struct {
	name      string
	process   func(*stack.Stack) *stack.Process
	endpoint  func(stack.Ports) int
	receivers func(stack.Ports) []int // ports of the receivers that the tier exports to; nil if there are none
	options   stack.Options
	// prepare starts further dependencies; end stops them.
	prepare func() (env []string, end func(), err error)
}

// alone starts the Collector of a tier and its receivers. end stops them.
func (m *measuring) alone(t tier, env ...string) (s *stack.Stack, receivers []*load.Receiver, end func() error,
	err error) {
	o := t.options
	o.Idle = []string{"agent", "gateway", "second gateway", "prometheus", "jaeger"}
	o.CollectorEnv = append(o.CollectorEnv, env...)
	ended := func() {}
	if t.prepare != nil {
		var more []string
		if more, ended, err = t.prepare(); err != nil {
			return nil, nil, nil, err
		}
		o.CollectorEnv = append(o.CollectorEnv, more...)
	}
	if s, err = stack.Up(m.ctx, o); err != nil {
		ended()
		return nil, nil, nil, err
	}
	end = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), time.Minute)
		defer cancel()
		err := s.Stop(ctx)
		for _, r := range receivers {
			r.Close()
		}
		ended()
		return err
	}
	for _, port := range t.listening(s.Ports) {
		r, err := load.Receive(fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return nil, nil, nil, errors.Join(err, end())
		}
		receivers = append(receivers, r)
	}
	if err := t.process(s).Start(m.ctx); err != nil {
		return nil, nil, nil, errors.Join(err, end())
	}
	return s, receivers, end, nil
}

// send sends at a rate for the duration d.
func (m *measuring) send(s *stack.Stack, t tier, first uint64, d time.Duration, o load.Options,
) (sent *load.Sent, next uint64, err error) {
	ctx, cancel := context.WithTimeout(m.ctx, d)
	defer cancel()
	o.Endpoint = fmt.Sprintf("127.0.0.1:%d", t.endpoint(s.Ports))
	sent, next, err = m.load.Send(ctx, first, o)
	return sent, next, errors.Join(err, m.ctx.Err())
}

// listening returns the ports that the tier exports to.
func (t tier) listening(p stack.Ports) []int {
	if t.receivers == nil {
		return nil
	}
	return t.receivers(p)
}
