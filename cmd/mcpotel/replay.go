package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/command/replay"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
)

// replaying is one run of the command "replay".
type replaying struct {
	connection
	makes bool // --run: send the requests
	all   bool
	allow []string
}

func newReplay(s streams) *cobra.Command {
	r := &replaying{connection: connection{passes: true}}
	return r.command(s, &cobra.Command{
		Use: "replay FILE [flags]" + behind, Short: "send the requests of a recording again",
		Long: "\"mcpotel proxy --record FILE --record-content\" writes a recording. Without --run the command only prints\n" +
			"the requests, and connects to no server. It omits calls of tools that the server has not declared\n" +
			"read-only (readOnlyHint), unless --allow-tool or --all is given. Requests of the server get the recorded\n" +
			"answers. --record records the new session, for \"mcpotel diff\".",
		Example: "mcpotel replay session.ndjson -- npx -y @modelcontextprotocol/server-everything\n" +
			"mcpotel replay session.ndjson --run --record now.ndjson --url https://example.com/mcp\n" +
			"mcpotel replay session.ndjson --run --allow-tool 'get-*' -- npx -y @modelcontextprotocol/server-everything",
	}, r.run, func(f *pflag.FlagSet) {
		f.BoolVar(&r.makes, "run", false, "make the requests")
		f.BoolVar(&r.all, "all", false, "send all calls of tools, even if the tools may change something")
		f.StringArrayVar(&r.allow, "allow-tool", nil, "also send calls of tools whose names match this `PATTERN`, such as "+
			"'get_*'; may be repeated")
		f.StringVar(&r.record.path, "record", "", "record the messages in this new `FILE`, with their content")
	})
}

func (r *replaying) run(ctx context.Context) error {
	files, err := openRecordings(r.arguments, 1)
	if err != nil {
		return err
	}
	for _, p := range r.allow {
		if _, err := path.Match(p, ""); err != nil {
			return misuse("--allow-tool: %q is not a valid pattern", p)
		}
	}
	plan, err := replay.Plan(files[0], &replay.Options{All: r.all, Allow: r.allows})
	if err != nil {
		return misuse("%s: %w", r.arguments[0], err)
	}
	if !r.makes {
		return r.show(plan)
	}
	o, err := observe(ctx, proxyService, r.level(), r.streams.err, receiverIf(r.web.wanted))
	if err != nil {
		return err
	}
	defer o.close(ctx)
	if err := o.publish(r.web); err != nil {
		return err
	}
	m, free, err := r.member(o)
	if err != nil {
		return err
	}
	defer free()
	return r.make(ctx, plan, m.Transport, &mcpproxy.Options{Name: m.Options.Name, Telemetry: o.telemetry()})
}

// allows reports whether the name of a tool matches a pattern. A slash is an ordinary character.
func (r *replaying) allows(tool string) bool {
	plain := strings.NewReplacer("/", "\x00")
	for _, p := range r.allow {
		if ok, _ := path.Match(plain.Replace(p), plain.Replace(tool)); ok {
			return true
		}
	}
	return false
}

// show prints the plan.
func (r *replaying) show(plan [][]replay.Step) error {
	sent, out := 0, 0
	for i, steps := range plan {
		for _, s := range steps {
			what := "send"
			why := ""
			if sent++; s.Skip != "" {
				what, why = "skip", ": "+s.Skip
				sent, out = sent-1, out+1
			}
			line := fmt.Sprintf("%-9s  session %d  %s%s", what, i+1, titled(s.Method, s.Name), why)
			if err := printLine(r.streams.out, line); err != nil {
				return err
			}
		}
	}
	return printLine(r.streams.out,
		fmt.Sprintf("nothing was sent: --run would send %d messages and skip %d", sent, out))
}

// make sends the planned requests through a proxy, which can record the session.
func (r *replaying) make(ctx context.Context, plan [][]replay.Step, server transport.Transport,
	o *mcpproxy.Options) (err error) {
	if r.record.path != "" {
		r.record.content = true
	}
	if o.Recorder, err = r.record.open(func(line string) { _ = printLine(r.streams.err, line) }); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.record.close()) }()
	between, err := mcpproxy.New(server, o)
	if err != nil {
		r.record.discard()
		return misuse("%s", strings.TrimPrefix(err.Error(), "mcpproxy: "))
	}
	var failed error
	made := func(s replay.Step, outcome string) {
		line := fmt.Sprintf("%s: %s", titled(s.Method, s.Name), visible.Line(outcome))
		failed = errors.Join(failed, printLine(r.streams.out, line))
	}
	host := transport.InMemory(func(ctx context.Context, p *transport.Peer) { _ = between.Serve(ctx, p) })
	return errors.Join(replay.Run(ctx, plan, host, 30*time.Second, made), failed)
}
