package main

import (
	"context"
	"net"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/command/inspectview"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// inspectCommand is one run of the command "inspect".
type inspectCommand struct {
	connection
	address string
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
	}, c.run, c.chaos.flags, c.audit.flags, func(f *pflag.FlagSet) {
		f.StringVar(&c.address, "listen", "127.0.0.1:0", "serve the pages at this `ADDRESS`, on loopback")
	})
}

// run serves the pages until it is interrupted.
func (c *inspectCommand) run(ctx context.Context) error {
	if err := c.none(); err != nil {
		return err
	}
	o, err := observe(ctx, "mcpotel", c.level(), c.streams.err, true)
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
	if err := c.chaos.wrapAll(&member); err != nil {
		return err
	}
	member.Options.Backoff = mcpclient.Backoff{} // the page shows the attempts to connect again
	if !c.timed {
		member.Options.RequestTimeout = -1 // the page has a button to cancel
	}
	member.Options.Features = c.roots.features()
	s := inspectview.New(inspectview.Options{
		Member: member, Start: o.start, Snapshot: o.sink.Snapshot,
		CommandLine: func(words ...string) string {
			return "mcpotel " + shellLine(append(words, c.serverWords()...))
		},
		Say: func(url string) { _ = printText(c.streams.err, "For another browser: "+url) },
	})
	if err := s.Connect(); err != nil {
		return err
	}
	defer s.Close()
	site, err := openSite("listen", c.address, s.Handler())
	if err != nil {
		return err
	}
	defer site.Close()
	_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(site.URL, "http://"), "/"))
	if err != nil {
		return err
	}
	if err := printText(c.streams.out, "The pages are at "+s.Address(port)+"\nCtrl-C ends the command."); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
