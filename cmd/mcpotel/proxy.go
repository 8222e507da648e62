package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
)

// proxyService is the name under which the proxy exports, unless the environment has another.
const proxyService = "mcpotel-proxy"

func newProxy(s streams) *cobra.Command {
	c := &connection{passes: true}
	return c.command(s, &cobra.Command{
		Use: "proxy [flags]" + behind, Short: "stand between a host and its server, and export what passes",
		Long: "Put this command where your host starts its server, with the server's command behind it. The host needs to\n" +
			"know nothing of OpenTelemetry: each call is a trace, with metrics and log records, at the collector that\n" +
			"OTEL_EXPORTER_OTLP_ENDPOINT names. Messages pass as they are. A server that dies is started anew, and the\n" +
			"session of the host goes on.",
		Example: "mcpotel proxy -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel proxy --url https://example.com/mcp\n" +
			"mcpotel tools -- mcpotel proxy --web -- mcpotel serve-demo",
	}, c.runProxy)
}

func (c *connection) runProxy(ctx context.Context) error {
	if err := c.none(); err != nil {
		return err
	}
	o, err := observe(ctx, proxyService, c.level(), c.streams.err, c.web.wanted)
	if err != nil {
		return err
	}
	defer o.close(ctx)
	if err := o.publish(c.web); err != nil {
		return err
	}
	m, free, err := c.member(o)
	if err != nil {
		return err
	}
	defer free()
	if t, ok := m.Transport.(transport.Stdio); ok {
		t.Stderr = func(line string) { _ = printLine(c.streams.err, visible.Line(line)) } // hosts show it
		m.Transport = t
	}
	p, err := mcpproxy.New(m.Transport, &mcpproxy.Options{Name: m.Options.Name, Telemetry: o.telemetry()})
	if err != nil {
		return err
	}
	if c.console.person {
		c.console.say("this waits for a host on standard input: put the command where your host starts its server")
	}
	return interrupted(ctx, p.ServeStdio(ctx))
}
