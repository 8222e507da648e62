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
}

func parseFlags(args []string, usage io.Writer) (*options, error) {
	o, f := new(options), flag.NewFlagSet("compare", flag.ContinueOnError)
	f.SetOutput(usage)
	f.IntVar(&o.passes, "passes", 3, "passes through all benchmarks")
	f.StringVar(&o.benchtime, "benchtime", "300ms", "time for each benchmark in each pass, as go test has it")
	f.StringVar(&o.bench, "bench", "", "benchmarks to run, as go test has it (default those of the table)")
	f.StringVar(&o.out, "out", "../results", "directory to write to")
	f.StringVar(&o.from, "from", "", "read the lines of this `file` (raw.txt.gz) instead of measuring")
	f.StringVar(&o.against, "against", "", "write nothing; compare with this `commit`, and fail if a row is slower")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.passes < 1:
		return nil, fmt.Errorf("-passes %d: want 1 or more", o.passes)
	}
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
	return write(o.out, m)
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
	what := cmp.Or(o.bench, neededBy(append(slices.Clone(rows), pictured...), ".*"))
	// keep saves the lines after each pass, so that an interrupted run is not lost
	keep := func(lines []byte) error { return writeRaw(o.out, lines) }
	return measure(ctx, root, plan{passes: o.passes, benchtime: o.benchtime, bench: what}, keep)
}

// write writes the pages.
func write(dir string, m *measurements) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, page := range []struct {
		name string
		text func(*measurements) (string, error)
	}{{"table.md", tablePage}, {"throughput.svg", throughputChart}} {
		text, err := page.text(m)
		if err != nil {
			return fmt.Errorf("%s: %w", page.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, page.name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}
