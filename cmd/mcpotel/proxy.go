package main

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/mcpproxy"
)

// proxyService is the default service name of the proxy in telemetry.
const proxyService = "mcpotel-proxy"

// proxy is one run of the command "proxy".
type proxy struct {
	connection
	name      string // name of the server in telemetry
	listen    string // address for hosts over HTTP; empty to serve one host on standard input and output
	most      int    // maximum of concurrent HTTP sessions
	translate bool   // translate between the revisions of the host and the only server
	limits    policyFlags
	bearer    bearerFlags
	metrics   metricsFlag
	page      *metricsPage        // nil without --metrics
	redact    func(string) string // redacts a line of a server's standard error; nil without a policy
}

// translateUsage describes --translate.
const translateUsage = "translate between 2026-07-28 and older revisions, if the host and the server have no " +
	"revision in common. The proxy then rewrites messages"

// proxyRisk describes what any program that reaches a proxy of one server can do.
const proxyRisk = "use the server behind this proxy"

func newProxy(s streams) *cobra.Command {
	p := &proxy{connection: connection{passes: true}}
	return p.command(s, &cobra.Command{
		Use: "proxy [flags]" + behind, Short: "run between a host and its server, and export telemetry of all messages",
		Long: "In the configuration of your host, put this command in front of the server's command. The host does not\n" +
			"need to support OpenTelemetry: each call becomes a trace, with metrics and log records, at the collector in\n" +
			"OTEL_EXPORTER_OTLP_ENDPOINT. Messages pass unchanged. If a server dies, the proxy restarts it and the\n" +
			"host's session continues. The host sees several servers of --config as one server: the names of their\n" +
			"tools and prompts begin with the name of their server.",
		Example: "mcpotel proxy -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel proxy --name far --url https://example.com/mcp\n" +
			"mcpotel proxy --deny-tool 'delete_*' --timeout 30s -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel proxy --record session.ndjson --record-content -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel proxy --chaos plan.yaml -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel proxy --listen localhost:8080 -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel proxy --config mcp.json --listen localhost:8080\n" +
			"mcpotel proxy --metrics :9464 --listen localhost:8080 -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel tools -- mcpotel proxy --web -- mcpotel serve-demo",
	}, p.run, func(f *pflag.FlagSet) {
		f.StringVar(&p.name, "name", "", "use this `NAME` for the server in telemetry: mcp_client.name and mcp_server.name. "+
			"The default is the name in --config or --server, or else the program's name. With several servers it "+
			"sets only mcp_server.name, by default \"gateway\"")
		f.StringVar(&p.listen, "listen", "", "serve hosts over HTTP at `HOST:PORT`, under /mcp, instead of one host on "+
			"standard input. Each session has its own server. Without HOST it listens on loopback; port 0 selects a free port")
		f.IntVar(&p.most, "max-sessions", mcpproxy.DefaultMaxSessions, "allow at most `N` concurrent sessions (--listen). "+
			"Each has its own server, and one user or address gets at most half of them")
		f.BoolVar(&p.translate, "translate", false, translateUsage)
		p.bearer.flags(f)
		p.limits.flags(f)
		p.record.flags(f)
		p.metrics.flags(f)
		p.chaos.flags(f)
		p.audit.flags(f)
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
		return misuse("--max-sessions %d: want at least 1", p.most)
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
	if p.page, err = p.metrics.open(); err != nil {
		return err
	}
	defer p.page.close()
	o, err := observe(ctx, proxyService, p.level(), p.streams.err, receiverIf(p.web.wanted), p.page.options()...)
	if err != nil {
		return err
	}
	defer o.close(ctx)
	if err := o.auditTo(&p.audit); err != nil {
		return err
	}
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
	if m.Lazy || m.Idle > 0 {
		_ = printLine(p.streams.err,
			p.file.path+`: "start" and "idle" have no effect on the proxy of a single server; add --translate`)
	}
	if err := p.connectTo(&m, ""); err != nil {
		return err
	}
	record, err := p.record.open(func(line string) { _ = printLine(p.streams.err, line) })
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, p.record.close()) }()
	between, err := mcpproxy.New(m.Transport, &mcpproxy.Options{
		Name: cmp.Or(p.name, m.Options.Name), Policy: policy, Recorder: record, Telemetry: o.telemetry(),
		NoListening: m.Options.NoListening,
	})
	if err != nil {
		p.record.discard()
		return misuse("%s", strings.TrimPrefix(err.Error(), "mcpproxy: "))
	}
	return p.serve(ctx, between, proxyRisk)
}

// relaying is a proxy or a gateway.
type relaying interface {
	handlers
	HealthHandler() http.Handler
	ServeStdio(context.Context) error
}

// serve serves hosts over HTTP, or one host on standard input and output. risk describes what other programs can do
// over HTTP.
func (p *proxy) serve(ctx context.Context, h relaying, risk string) error {
	defer p.page.serve(ctx, h.HealthHandler(), p.streams.err)()
	if p.listen != "" {
		at := site{address: p.listen, risk: risk, bearer: p.bearer, most: p.most}
		return interrupted(ctx, serveHTTP(ctx, h, at, p.streams.out, p.streams.err))
	}
	if p.console.person {
		p.console.say("waiting for a host on standard input: add this command to the configuration of your host")
	}
	return interrupted(ctx, h.ServeStdio(ctx))
}
