package main

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/command/inspectview"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
)

// inspectCommand is one run of the command "inspect".
type inspectCommand struct {
	connection
	address string
	grpc    string // empty for a receiver that only this command uses
}

func newInspect(s streams) *cobra.Command {
	c := inspectCommand{connection: connection{endless: true, paged: true}}
	return c.command(s, &cobra.Command{
		Use: "inspect [flags]" + behind, Short: "use a server on a page in the browser, with the trace of each call",
		Long: "mcpotel inspect keeps one connection to a server, and serves pages on which you call tools, read " +
			"resources, get prompts and answer the server's questions. Beside each result are the trace, the log records, " +
			"the messages on the wire, and the cause of a failure. Open the address that the command prints; it admits one " +
			"browser, once.",
		Example: "mcpotel inspect -- mcpotel serve-demo\n" +
			"mcpotel inspect --url https://mcp.example.com/mcp\n" +
			"mcpotel inspect --config mcp.json --server github",
	}, c.run, c.chaos.flags, c.record.flags, c.audit.flags, func(f *pflag.FlagSet) {
		f.StringVar(&c.address, "listen", "127.0.0.1:0", "serve the pages at this `ADDRESS`, on loopback")
		f.StringVar(&c.grpc, "grpc", "", "also receive OTLP/gRPC of other programs at this `ADDRESS`, on loopback, such as "+
			"127.0.0.1:4317, and show it as \"mcpotel view\" does")
	})
}

// run serves the pages until it is interrupted.
func (c *inspectCommand) run(ctx context.Context) (err error) {
	if err := c.none(); err != nil {
		return err
	}
	// The lines of the server's standard error are debug records, and the page shows them.
	o, err := observe(ctx, "mcpotel", c.level(), c.streams.err, cmp.Or(c.grpc, anyPort), otlp.WithLogLevel(slog.LevelDebug))
	if err != nil {
		return err
	}
	defer o.close(ctx)
	if err := o.auditTo(&c.audit); err != nil {
		return err
	}
	if o.sink == nil {
		return noSink("inspect")
	}
	member, free, err := c.member(o)
	if err != nil {
		return err
	}
	defer free()
	if err := c.wrap(&member); err != nil {
		return err
	}
	member.Options.Backoff = mcpclient.Backoff{} // the page shows the attempts to connect again
	if !c.timed {
		member.Options.RequestTimeout = -1 // the page has a button to cancel
	}
	member.Options.Features = c.roots.features()
	defer func() {
		if e := c.record.close(); err == nil {
			err = e
		}
	}()
	url, end, err := c.streams.inspect(o, member, c.address, c.serverWords())
	if err != nil {
		return err
	}
	defer end()
	if err := printText(c.streams.out, "The pages are at "+url+"\nCtrl-C ends the command."); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// inspect connects to a server and serves the pages of the connection at an address on loopback. server are the words
// of a command line that select the server. It returns the URL of the pages, which admits one browser.
func (s streams) inspect(o *observation, m mcpclient.Member, address string, server []string) (
	url string, end func(), _ error) {
	logs := o.logger()
	m.Options.Features = append(m.Options.Features,
		mcpclient.HandleLogMessage(func(ctx context.Context, p *mcp.LoggingMessageParams) { // for the page of logs
			logs.Log(ctx, p.Level.Level(), logLine(p))
		}))
	session, err := inspectview.New(inspectview.Options{
		Member: m, Start: o.start, Snapshot: o.sink.Snapshot,
		CommandLine: func(words ...string) string { return "mcpotel " + shellLine(append(words, server...)) },
		Say:         func(url string) { _ = printText(s.err, "For another browser: "+url) },
	})
	if err != nil {
		return "", nil, err
	}
	if err := session.Connect(); err != nil {
		return "", nil, err
	}
	site, err := openSite("listen", address, session.Handler())
	if err != nil {
		session.Close()
		return "", nil, err
	}
	end = func() {
		site.Close()
		session.Close()
	}
	_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(site.URL, "http://"), "/"))
	if err != nil {
		end()
		return "", nil, err
	}
	return session.Address(port), end, nil
}
