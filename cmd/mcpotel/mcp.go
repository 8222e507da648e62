package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/command/traceview"
	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/internal/inspector"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// asked holds the flags of "mcpotel mcp".
type asked struct {
	debug  []string
	jaeger service
	view   string
	listen string
	remote bool
}

func newMCP(s streams) *cobra.Command {
	var a asked
	cmd := &cobra.Command{
		Use: "mcp [flags]", Short: "run an MCP server that explains to an agent why a tool failed",
		Long: "Add this command to the servers of your host. It reads traces and the debug pages of your programs, " +
			"and\nhas the tools list_clients, get_client, flight_recorder, recent_traces and explain. All tools " +
			"are\nread-only. The answers list programs that are not running.",
		Example: "mcpotel mcp --debug http://localhost:6060/debug/mcp/\n" +
			"mcpotel mcp --debug http://localhost:6060/debug/mcp/ --jaeger http://localhost:16686\n" +
			"mcpotel mcp --view http://localhost:4320 --listen localhost:8080\n" +
			"mcpotel call explain '{\"tool\":\"radar\"}' -- mcpotel mcp --debug http://localhost:6060/debug/mcp/",
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context(), s) },
	}
	f := cmd.Flags()
	a.sourceFlags(f)
	f.StringVar(&a.listen, "listen", "", "serve hosts over HTTP at `HOST:PORT`, under /mcp, instead of one host on "+
		"standard "+
		"input. Without HOST it listens on loopback")
	f.BoolVar(&a.remote, "allow-remote", false, "allow URLs of other machines; the agent then decides when this command "+
		"sends requests to them")
	return cmd
}

// sourceFlags adds the flags for the sources of traces.
func (a *asked) sourceFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&a.debug, "debug", nil, "read the debug page at this `URL` (package inspect/debugpage, "+
		"mcpotel demo "+
		"and proxy with --web); may be repeated")
	a.jaeger.flags(f, "jaeger", jaegerExample, "look up traces in the Jaeger at this `URL`, such as "+jaegerExample)
	f.StringVar(&a.view, "view", "", "look up traces on the page of mcpotel view or --web at this `URL`")
}

func (a *asked) run(ctx context.Context, s streams) error {
	sources, err := a.sources()
	if err != nil {
		return err
	}
	for _, d := range sources.Peers {
		checking, cancel := context.WithTimeout(ctx, jaegerPatience)
		if _, err := d.Look(checking); err != nil { // only a warning: the program may start later
			_ = printLine(s.err, visible.Line(fmt.Sprintf("mcpotel: %s: %v", d.Name(), err)))
		}
		cancel()
	}
	server, err := inspector.New(sources, version(), nil)
	if err != nil {
		return err
	}
	if a.listen != "" {
		at := site{address: a.listen, risk: "read the state of these MCP clients and servers"}
		return interrupted(ctx, serveHTTP(ctx, server, at, s.out, s.err))
	}
	return interrupted(ctx, server.ServeStdio(ctx))
}

// sources returns the sources of the flags.
func (a *asked) sources() (s inspector.Sources, _ error) {
	for _, base := range a.debug {
		d, err := inspector.NewDebugPage(base, a.remote)
		if err != nil {
			return s, a.misused("debug", err)
		}
		s.Peers = append(s.Peers, d)
	}
	if a.view != "" {
		v, err := inspector.NewTracePage(a.view, a.remote)
		if err != nil {
			return s, a.misused("view", err)
		}
		s.Spans = append(s.Spans, v)
	}
	jaeger, err := a.jaeger.open()
	if err != nil {
		return s, err
	}
	if jaeger != nil {
		if err := a.local(jaeger.String()); err != nil {
			return s, a.misused("jaeger", err)
		}
		s.Spans = append(s.Spans, jaegerSpans{traceview.NewJaeger(jaeger)})
	}
	if len(s.Peers)+len(s.Spans) == 0 {
		return s, misuse("no source: give --debug URL for the debug page of a program, or --jaeger URL or " +
			"--view URL for its traces")
	}
	return s, nil
}

// given reports whether a flag names a source.
func (a *asked) given() bool {
	return len(a.debug) > 0 || a.view != "" || a.jaeger.url != "" || len(a.jaeger.headers.given) > 0
}

// local returns an error if base is on another machine and --allow-remote is not given.
func (a *asked) local(base string) error {
	u, err := url.Parse(base)
	if err != nil {
		return err
	}
	return inspector.CheckLoopback(u, a.remote)
}

// misused returns an error for the value of a flag.
func (a *asked) misused(flag string, err error) error {
	if errors.Is(err, inspector.ErrRemote) {
		return misuse("--%s: %w; --allow-remote allows it", flag, err)
	}
	return misuse("--%s: %w", flag, err)
}

// jaegerSpans looks up traces in a Jaeger.
type jaegerSpans struct{ *traceview.Jaeger }

func (j jaegerSpans) Name() string { return "the Jaeger at " + j.String() }

func (j jaegerSpans) Trace(ctx context.Context, id string) ([]explain.Span, error) {
	spans, err := j.Jaeger.Trace(ctx, id)
	if errors.Is(err, traceview.ErrNoTrace) {
		return nil, nil
	}
	return explained(spans), err
}

// maxSearched bounds the number of services that Recent searches, because each service needs a request.
const maxSearched = 20

// Recent searches each service, or only the service of q. The order of the traces does not reflect their age.
func (j jaegerSpans) Recent(ctx context.Context, q inspector.Query) (ids []string, _ error) {
	services := []string{q.Service}
	if q.Service == "" {
		var err error
		if services, err = j.Services(ctx); err != nil {
			return nil, err
		}
	}
	wanted := map[string]string{}
	maps.Copy(wanted, q.Attributes)
	if q.Failed {
		wanted["error"] = "true" // the tag that Jaeger sets for an error status
	}
	if q.Tool != "" {
		wanted[names.KeyGenAIToolName] = q.Tool
	}
	for _, service := range services[:min(len(services), maxSearched)] {
		found, err := j.Search(ctx, service, wanted, q.Since, q.AtLeast)
		if err != nil {
			return ids, err
		}
		ids = append(ids, found...)
	}
	return ids, nil
}

// explained converts spans to the type of package explain.
func explained(spans []otlpsink.Span) (all []explain.Span) {
	for _, s := range spans {
		all = append(all, explain.Span{ID: s.SpanID, Parent: s.ParentID, Service: s.Service(), Name: s.Name, Kind: s.Kind,
			Process: explain.ProcessOf(inspector.Attributes(s.Resource)),
			Start:   s.Start, End: s.End, Failed: s.Status == "ERROR", Message: s.StatusMessage,
			Attributes: inspector.Attributes(s.Attributes)})
	}
	return all
}
