// Command compare measures this client, its peers and the floors side by side, and writes the results.
//
//	go -C benchmarks/peers run ./cmd/compare
//
// It builds the test binaries of benchmarks and of benchmarks/peers once and runs them in passes, each pass once
// through all benchmarks. On a shared machine a single time means little. So within each pass it divides each peer's
// figure by the floor's, which was measured moments before, and then takes the median of these ratios over the passes.
// Allocations are exact, or nearly.
//
// It writes into the directory of -out:
//
//	raw.txt.gz      output of the benchmarks, for benchstat and for -from, with machine, Go, commit, date and load
//	table.md        the durations and costs that users notice, with their goals
//	throughput.svg  size against throughput
//
// With -tails it measures the latencies of a busy service instead, in 15 minutes, and writes tails.txt.gz, tails.md and
// tails.svg.
//
// With -against it writes nothing: it compares this project with itself at another commit, row by row and in turns, and
// fails if a figure has become worse by more than a tenth. It passes the environment on, and reports GOGC and
// GOMAXPROCS.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parseFlags(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = o.run(ctx, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// options are the options of the command line.
type options struct {
	passes    int
	benchtime string
	bench     string
	out       string
	from      string
	against   string
	tails     bool
}

// book is a measurement and the pages about it.
type book struct {
	raw       string // file with the output of the benchmarks
	bench     string
	passes    int // default of the option
	benchtime string
	pages     []page
}

type page struct {
	name string
	text func(*measurements) (string, error)
}

var (
	speed = book{"raw.txt.gz", neededBy(append(slices.Clone(rows), pictured...), ".*"), 3, "300ms",
		[]page{{"table.md", tablePage}, {"throughput.svg", throughputChart}}}
	latency = book{"tails.txt.gz", neededBy(tailRows, ".*"), 1, "100000x",
		[]page{{"tails.md", tailsPage}, {"tails.svg", tailsChart}}}
)

func (o *options) book() *book {
	if o.tails {
		return &latency
	}
	return &speed
}

func parseFlags(args []string, usage io.Writer) (*options, error) {
	o, f := new(options), flag.NewFlagSet("compare", flag.ContinueOnError)
	f.SetOutput(usage)
	f.IntVar(&o.passes, "passes", 0, "passes through all benchmarks; 0 means 3, or 1 with -tails")
	f.StringVar(&o.benchtime, "benchtime", "",
		"`time` for each benchmark in each pass, as go test has it (default 300ms, with -tails 100000x)")
	f.StringVar(&o.bench, "bench", "", "benchmarks to run, as go test has it (default those of the pages)")
	f.BoolVar(&o.tails, "tails", false, "measure the latencies of a busy service")
	f.StringVar(&o.out, "out", "../results", "directory to write to")
	f.StringVar(&o.from, "from", "", "read the lines of this `file` (raw.txt.gz) instead of measuring")
	f.StringVar(&o.against, "against", "", "write nothing; compare with this `commit`, and fail if a row is slower")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.passes < 0:
		return nil, fmt.Errorf("-passes %d: want 0 or more", o.passes)
	}
	b := o.book()
	o.passes, o.benchtime, o.bench = cmp.Or(o.passes, b.passes), cmp.Or(o.benchtime, b.benchtime), cmp.Or(o.bench, b.bench)
	return o, nil
}

func (o *options) run(ctx context.Context, out io.Writer) error {
	if o.against != "" {
		root, err := rootOf(ctx)
		if err != nil {
			return err
		}
		return guard(ctx, out, root, o.against)
	}
	lines, err := o.lines(ctx)
	if err != nil {
		return err
	}
	m, err := parse(lines)
	if err != nil {
		return err
	}
	return o.book().write(o.out, m)
}

// lines returns the lines of a new measurement, or of the earlier measurement in the file from.
func (o *options) lines(ctx context.Context) ([]byte, error) {
	if o.from != "" {
		return readRaw(o.from)
	}
	root, err := rootOf(ctx)
	if err != nil {
		return nil, err
	}
	// keep saves the lines after each pass, so that an interrupted run is not lost
	keep := func(lines []byte) error { return writeRaw(filepath.Join(o.out, o.book().raw), lines) }
	return measure(ctx, root, plan{passes: o.passes, benchtime: o.benchtime, bench: o.bench}, keep)
}

// write writes the pages.
func (b *book) write(dir string, m *measurements) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, p := range b.pages {
		text, err := p.text(m)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, p.name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}
