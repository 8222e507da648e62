package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/mcpproxy"
)

// proxyService is the name under which the proxy exports, unless the environment has another.
const proxyService = "mcpotel-proxy"

// proxy is what "mcpotel proxy" is told by its flags.
type proxy struct {
	connection
	name      string // in telemetry
	listen    string // address for hosts over HTTP; empty for one on standard input and output
	most      int    // sessions of those at once
	translate bool   // the server, of which there is one, may speak other revisions than the host
	limits    policyFlags
	record    recorder
	bearer    bearerFlags
	redact    func(string) string // redacts a line of a server's standard error; nil for no policy
}

// translateUsage describes --translate.
const translateUsage = "translate between a host and a server of which one speaks 2026-07-28 alone and the other no " +
	"revision that is as new. Messages do not pass as they are then"

// proxyRisk says what programs can do that reach a proxy of one server.
const proxyRisk = "use the server behind this proxy"

func newProxy(s streams) *cobra.Command {
	p := &proxy{connection: connection{passes: true}}
	return p.command(s, &cobra.Command{
		Use: "proxy [flags]" + behind, Short: "stand between a host and its server, and export what passes",
		Long: "Put this command where your host starts its server, with the server's command behind it. The host needs to\n" +
			"know nothing of OpenTelemetry: each call is a trace, with metrics and log records, at the collector that\n" +
			"OTEL_EXPORTER_OTLP_ENDPOINT names. Messages pass as they are. A server that dies is started anew, and the\n" +
			"session of the host goes on. Several servers of --config are one server for the host: the names of their\n" +
			"tools and prompts begin with that of the server.",
		Example: "mcpotel proxy -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel proxy --name far --url https://example.com/mcp\n" +
			"mcpotel proxy --deny-tool 'delete_*' --timeout 30s -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel proxy --record session.ndjson --record-content -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel proxy --chaos plan.yaml -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel proxy --listen localhost:8080 -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel proxy --config mcp.json --listen localhost:8080\n" +
			"mcpotel tools -- mcpotel proxy --web -- mcpotel serve-demo",
	}, p.run, func(f *pflag.FlagSet) {
		f.StringVar(&p.name, "name", "", "call the server by this `NAME` in telemetry: mcp_client.name and mcp_server.name. "+
			"Unless it is given, by that in --config or of --server, or else by the program's. Of several servers as one it "+
			"is mcp_server.name alone, \"gateway\" unless it is given")
		f.StringVar(&p.listen, "listen", "", "wait for hosts over HTTP at `HOST:PORT`, under /mcp, and not for one on "+
			"standard input. Each session has a server of its own. Without HOST it is on loopback; port 0 is one that is free")
		f.IntVar(&p.most, "max-sessions", mcpproxy.DefaultMaxSessions, "with --listen, have `N` sessions at once at most. "+
			"Each has a server of its own, and one user, or one address, gets half of them")
		f.BoolVar(&p.translate, "translate", false, translateUsage)
		p.bearer.flags(f)
		p.limits.flags(f)
		p.record.flags(f)
		p.chaos.flags(f)
	})
}

func (p *proxy) run(ctx context.Context) (err error) {
	if err := p.none(); err != nil {
		return err
	}
	if err := p.bearer.check(p.listen != ""); err != nil {
		return err
	}
	if p.most < 1 {
		return misuse("--max-sessions %d: want 1 at least", p.most)
	}
	policy, err := p.limits.policy()
	if err != nil {
		return err
	}
	if policy != nil {
		if p.redact, err = policy.TextRedactor(); err != nil {
			return misuse("%v", err)
		}
	}
	o, err := observe(ctx, proxyService, p.level(), p.streams.err, p.web.wanted)
	if err != nil {
		return err
	}
	defer o.close(ctx)
	if err := o.publish(p.web); err != nil {
		return err
	}
	members, free, err := p.servers(o)
	if err != nil {
		return err
	}
	defer free()
	if len(members) > 1 || p.translate {
		return p.serveMany(ctx, o, members, policy)
	}
	m := members[0]
	if err := p.connectTo(&m, ""); err != nil {
		return err
	}
	record, err := p.record.open(func(line string) { _ = printLine(p.streams.err, line) })
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, p.record.close(ctx)) }()
	between, err := mcpproxy.New(m.Transport, &mcpproxy.Options{
		Name: cmp.Or(p.name, m.Options.Name), Policy: policy, Recorder: record, Telemetry: o.telemetry(),
		NoListening: m.Options.NoListening,
	})
	if err != nil {
		p.record.discard()
		return misuse("%s", strings.TrimPrefix(err.Error(), "mcpproxy: "))
	}
	return p.serve(ctx, between, between.ServeStdio, proxyRisk)
}

// serve serves hosts over HTTP, or the one on standard input and output. risk says what others can do over HTTP.
func (p *proxy) serve(ctx context.Context, h handlers, stdio func(context.Context) error, risk string) error {
	if p.listen != "" {
		at := site{address: p.listen, risk: risk, bearer: p.bearer, most: p.most}
		return interrupted(ctx, serveHTTP(ctx, h, at, p.streams.out, p.streams.err))
	}
	if p.console.person {
		p.console.say("this waits for a host on standard input: put the command where your host starts its server")
	}
	return interrupted(ctx, stdio(ctx))
}
