package main

import (
	"context"
	"log/slog"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/command/demoserver"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func newServeDemo(s streams) *cobra.Command {
	var address string
	var metrics metricsFlag
	cmd := &cobra.Command{
		Use:     "serve-demo [--http ADDRESS] [--metrics ADDRESS]",
		Short:   "run the demo's server, on standard input and output or over HTTP",
		Example: "mcpotel tools -- mcpotel serve-demo\nmcpotel serve-demo --http :8080",
		Args:    refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runServeDemo(cmd.Context(), s, address, metrics)
		},
	}
	cmd.Flags().StringVar(&address, "http", "",
		"serve over HTTP at this `ADDRESS`, such as :8080, and print the URL. Without a host it listens on loopback")
	metrics.flags(cmd.Flags())
	return cmd
}

// runServeDemo runs the demo's server. The server exports its own spans if the environment names a collector. The trace
// context of the client arrives in the _meta of each request and, over HTTP, in the headers as well.
func runServeDemo(ctx context.Context, s streams, address string, metrics metricsFlag) error {
	page, err := metrics.open()
	if err != nil {
		return err
	}
	defer page.close()
	o, err := observe(ctx, demoserver.Name, slog.LevelError, s.err, "", append(page.options(), exportsSoon)...)
	if err != nil {
		return err
	}
	defer o.close(ctx)
	server, err := demoserver.New(version(), o.providers)
	if err != nil {
		return err
	}
	defer page.serve(ctx, mcpclient.HealthHandler(), s.err)() // the demo's server has no servers of its own
	return serveDemo(ctx, server, address, s)
}

// serveDemo serves until the client disconnects or ctx ends.
func serveDemo(ctx context.Context, server *mcpserver.Server, address string, s streams) (err error) {
	ticking, stop := context.WithCancel(ctx)
	var ticker sync.WaitGroup
	ticker.Go(func() { demoserver.Tick(ticking, server) })
	if address != "" {
		err = serveHTTP(ctx, server, site{address: address, risk: "call the tools, including crash"}, s.out, s.err)
	} else {
		err = server.ServeStdio(ctx)
	}
	stop()
	ticker.Wait()
	over, cancel := context.WithCancel(context.WithoutCancel(ctx))
	cancel() // do not wait for running tasks: no client can read their results
	server.Shutdown(over)
	return err
}
