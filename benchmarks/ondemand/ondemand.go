// Package ondemand measures the memory of stdio servers behind a gateway: if each host starts every server, and if the
// servers start on demand. The figures are the gateway's own metrics, process.memory.usage and
// mcp_client.process.active.
package ondemand

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
)

// Row is the state of all servers after a step.
type Row struct {
	Step      string
	Processes int64
	Memory    int64         // resident memory in bytes
	Took      time.Duration // duration of the step
}

// Options configure a run.
type Options struct {
	Hosts int           // number of hosts
	Idle  time.Duration // idle time of the servers on demand
	Dir   string        // directory for the cached lists, empty at first
}

// patience bounds the start of all servers, and the wait for the end of idle servers.
const patience = 2 * time.Minute

// Run measures the servers of the members, first with a process for each host and server, and then on demand.
func Run(ctx context.Context, members []mcpclient.Member, o Options) ([]Row, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*patience)
	defer cancel()
	r := &run{o: o, reader: sdkmetric.NewManualReader()}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.reader))
	defer func() { _ = meters.Shutdown(context.Background()) }() // a manual reader has nothing to flush
	r.telemetry = telemetry.New(telemetry.WithMeterProvider(meters))

	err := r.with(members, func(hosts []*mcpclient.Client) error {
		return r.step(ctx, "every host has listed the tools of every server", func() error { return list(ctx, hosts, members) })
	})
	if err != nil {
		return nil, fmt.Errorf("with all servers: %w", err)
	}
	lazy := make([]mcpclient.Member, len(members))
	for i, m := range members {
		m.Lazy, m.Idle = true, o.Idle
		lazy[i] = m
	}
	fill := *r
	fill.o.Hosts = 1
	err = fill.with(lazy, func(hosts []*mcpclient.Client) error {
		return errors.Join(list(ctx, hosts, members), r.idle(ctx)) // a server stops after its lists have been stored
	})
	if err != nil {
		return nil, fmt.Errorf("to fill the cache: %w", err)
	}
	err = r.with(lazy, func(hosts []*mcpclient.Client) error {
		return errors.Join(
			r.step(ctx, "on demand: every host has listed the tools of every server", func() error { return list(ctx, hosts, members) }),
			r.step(ctx, "on demand: every host has called a tool of one server", func() error { return call(ctx, hosts, members) }),
			r.step(ctx, fmt.Sprintf("on demand: %v later", o.Idle), func() error { return r.idle(ctx) }))
	})
	if err != nil {
		return nil, fmt.Errorf("on demand: %w", err)
	}
	return r.rows, nil
}

type run struct {
	o         Options
	reader    *sdkmetric.ManualReader
	telemetry *telemetry.Telemetry
	rows      []Row
}

// with runs f with the hosts of a gateway in front of the members.
func (r *run) with(members []mcpclient.Member, f func(hosts []*mcpclient.Client) error) (err error) {
	for i := range members {
		members[i].Options = &mcpclient.Options{RequestTimeout: -1, Telemetry: r.telemetry,
			Timeouts: mcpclient.Timeouts{Close: 5 * time.Second}}
	}
	g, err := mcpproxy.NewGateway(members,
		&mcpproxy.GatewayOptions{Patience: patience, ListDir: r.o.Dir, Telemetry: telemetry.Off()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	var hosts []*mcpclient.Client
	for range r.o.Hosts {
		t := transport.InMemory(func(ctx context.Context, p *transport.Peer) { _ = g.Serve(ctx, p) })
		c, err := mcpclient.New(t, &mcpclient.Options{Telemetry: telemetry.Off(), RequestTimeout: patience,
			Timeouts: mcpclient.Timeouts{Close: 10 * time.Second}})
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }() // always nil
		hosts = append(hosts, c)
	}
	return f(hosts)
}

// list lets every host list the tools until the list has tools of all members, which may be slow to start.
func list(ctx context.Context, hosts []*mcpclient.Client, members []mcpclient.Member) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, c := range hosts {
		err := until(ctx, func() (bool, error) {
			listed := map[string]bool{}
			for t, err := range c.Tools(ctx, mcpclient.WaitForReady()) {
				if err != nil {
					return false, err
				}
				name, _, _ := strings.Cut(t.Name, "_")
				listed[name] = true
			}
			return len(listed) == len(members), nil
		})
		if err != nil {
			return fmt.Errorf("the list lacks tools of some servers: %w", err)
		}
	}
	return nil
}

// until calls f, every 50 ms, until it returns true or an error.
func until(ctx context.Context, f func() (bool, error)) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		done, err := f()
		if done || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// call lets every host call the first tool of one server, without arguments. The server may refuse the arguments.
func call(ctx context.Context, hosts []*mcpclient.Client, members []mcpclient.Member) error {
	for i, c := range hosts {
		prefix, tool := members[i%len(members)].Name+"_", ""
		for t, err := range c.Tools(ctx) {
			if err != nil {
				return err
			}
			if tool == "" && strings.HasPrefix(t.Name, prefix) {
				tool = t.Name
			}
		}
		_, err := c.CallTool(ctx, tool, nil)
		if refused, ok := errors.AsType[*mcp.Error](err); err != nil && !(ok && refused.Code == mcp.CodeInvalidParams) {
			return fmt.Errorf("%s: %w", tool, err)
		}
	}
	return nil
}

// idle waits until no process is left.
func (r *run) idle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.o.Idle+patience)
	defer cancel()
	return until(ctx, func() (bool, error) {
		now, err := r.measure(ctx)
		return now.Processes == 0, err
	})
}

// step runs f, and adds a row.
func (r *run) step(ctx context.Context, name string, f func() error) error {
	begun := time.Now()
	if err := f(); err != nil {
		return err
	}
	row, err := r.measure(ctx)
	row.Step, row.Took = name, time.Since(begun)
	r.rows = append(r.rows, row)
	return err
}

// measure collects the metrics of processes.
func (r *run) measure(ctx context.Context) (row Row, err error) {
	var all metricdata.ResourceMetrics
	if err := r.reader.Collect(ctx, &all); err != nil {
		return row, err
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			sum, ok := m.Data.(metricdata.Sum[int64])
			for _, p := range sum.DataPoints {
				switch {
				case ok && m.Name == names.MetricProcessMemoryUsage:
					row.Memory += p.Value
				case ok && m.Name == names.MetricMCPClientProcessActive:
					row.Processes += p.Value
				}
			}
		}
	}
	return row, nil
}
