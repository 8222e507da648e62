// Command traveller is both ends of the conversation that "go -C tools run ./house trip" measures. Built with -cover
// and -covermode=atomic, it writes the coverage counters of single warm calls below a directory: client/1, server/1 and
// so on.
//
//	traveller -out DIR [-transport http] [-version 2025-11-25]
//
// It starts its server itself, as a process of its own: traveller -serve stdio, or http.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/coverage"

	"github.com/mcpotel/mcpotel/mcp"
)

func main() {
	serving := flag.String("serve", "", "run the server, over this `transport`")
	out := flag.String("out", "", "the `directory` for the counters")
	over := flag.String("transport", "stdio", "stdio or http")
	version := flag.String("version", string(mcp.Version20260728), "the protocol `revision`")
	flag.Parse()
	if err := run(context.Background(), *serving, *out, *over, mcp.Version(*version)); err != nil {
		fmt.Fprintln(os.Stderr, "traveller:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, serving, out, over string, version mcp.Version) error {
	if serving != "" {
		return serve(ctx, serving, counters)
	}
	if out == "" {
		return errors.New("-out is missing: pass the directory for the counters")
	}
	server, stop, err := start(ctx, over)
	if err != nil {
		return err
	}
	defer stop()
	return travel(ctx, server, version, out, counters)
}

// A probe captures the counters of a process between two moments.
type probe struct {
	clear func() error           // called at the first moment
	write func(dir string) error // called at the second moment
}

// counters is the probe of this process.
var counters = probe{clear: coverage.ClearCounters, write: writeCounters}

func writeCounters(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return errors.Join(coverage.WriteCountersDir(dir), coverage.WriteMetaDir(dir))
}
