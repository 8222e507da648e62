package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/command/doctor"
	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// doctorCommand is one run of the command "doctor".
type doctorCommand struct {
	connection
	each      time.Duration // the limit for each server
	collector string        // the URL of a Collector, which replaces the endpoint in the environment
}

const aboutDoctor = `The doctor connects to each server, sends requests that every server must answer, and disconnects.
It calls no tool and does not log in. The result of a check is ok, note, warn, fail or skipped; docs/doctor.md describes
each check. Exit codes: 0 no check failed, 1 a check failed, 3 a server cannot be used at all.`

func newDoctor(s streams) *cobra.Command {
	c := &doctorCommand{connection: connection{examines: true, remote: remote{stored: true}}}
	cmd := c.command(s, &cobra.Command{
		Use: "doctor [flags]" + behind, Short: "check a server and the telemetry pipeline, and suggest fixes",
		Long: aboutDoctor,
		Example: `mcpotel doctor -- npx -y @modelcontextprotocol/server-everything
mcpotel doctor --url https://mcp.example.com/mcp
mcpotel doctor --config mcp.json --timeout 1m
mcpotel doctor --server github --auth --json
mcpotel doctor --otlp http://localhost:4317 -- mcpotel serve-demo`,
	}, c.run, func(f *pflag.FlagSet) {
		f.DurationVar(&c.each, "timeout", doctor.DefaultTimeout, "examine each server for at most this `DURATION`")
		f.StringVar(&c.collector, "otlp", "", "examine the Collector at this `URL`, such as http://localhost:4317, instead "+
			"of the Collector in OTEL_EXPORTER_OTLP_ENDPOINT")
	})
	withStoredTokens(cmd)
	return cmd
}

// withStoredTokens changes the flags of a command that uses stored tokens and opens no page.
func withStoredTokens(cmd *cobra.Command) {
	cmd.Flags().Lookup("auth").Usage = "use stored tokens of an earlier authorization, for example by \"mcpotel tools " +
		"--auth\""
	cmd.Flags().Lookup("no-browser").Hidden = true
}

// diagnosis is the output of the command; --json prints it as JSON.
type diagnosis struct {
	Verdict  doctor.Verdict   `json:"verdict"` // the worst verdict of all checks
	Servers  []*doctor.Report `json:"servers"`
	Pipeline []doctor.Check   `json:"pipeline"` // the checks of this process's telemetry
}

func (c *doctorCommand) run(ctx context.Context) error {
	if err := c.none(); err != nil {
		return err
	}
	if c.each <= 0 {
		return misuse("--timeout must be above zero")
	}
	members, free, err := c.patients()
	if err != nil {
		return err
	}
	defer free()
	if c.collector != "" {
		for _, signal := range []string{"TRACES", "METRICS", "LOGS"} { // these would override the endpoint
			os.Unsetenv("OTEL_EXPORTER_OTLP_" + signal + "_ENDPOINT")
			os.Unsetenv("OTEL_" + signal + "_EXPORTER")
		}
		os.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.collector)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {})) // the check of the Collector reports these errors
	pipeline := doctor.OpenPipeline(ctx, "mcpotel", version())
	d := &diagnosis{Servers: c.examine(ctx, pipeline, members)}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), pipelineTime)
	defer cancel()
	d.Pipeline = pipeline.Close(ending)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	d.Verdict = doctor.Worst(d.Pipeline)
	for _, r := range d.Servers {
		d.Verdict = doctor.Worst(append([]doctor.Check{{Verdict: d.Verdict}}, r.Checks...))
	}
	return c.print(d)
}

// pipelineTime limits the check of the Collector. It is part of the time for each server.
const pipelineTime = 1500 * time.Millisecond

// patients returns the servers to examine. free releases their resources after the examination.
func (c *doctorCommand) patients() (_ []mcpclient.Member, free func(), _ error) {
	unobserved := &observation{}
	if c.file.path != "" || c.file.only != "" {
		return c.members(unobserved)
	}
	one, free, err := c.given(unobserved)
	return []mcpclient.Member{one}, free, err
}

// atOnce bounds the number of servers that are examined concurrently, because examinations slow each other down.
const atOnce = 4

func (c *doctorCommand) examine(ctx context.Context, p *doctor.Pipeline, members []mcpclient.Member) []*doctor.Report {
	reports := make([]*doctor.Report, len(members))
	places := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	c.console.status(fmt.Sprintf("examining %s, for %s at most", memberNames(members), unit.Duration(c.each)))
	for i, m := range members {
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			reports[i] = doctor.Examine(ctx, doctor.Server{Name: m.Name, Transport: m.Transport}, c.doctorOptions(p.Tracers(), m))
		})
	}
	all.Wait()
	c.console.clear()
	return reports
}

// doctorOptions returns the options for an examination, without features that ask a person. tracers is nil if there is no
// Collector.
func (c *doctorCommand) doctorOptions(tracers trace.TracerProvider, m mcpclient.Member) *doctor.Options {
	o := &doctor.Options{
		Timeout: c.each, ClientInfo: mcp.Implementation{Name: "mcpotel", Version: version()},
		Versions: m.Options.Versions, NoListening: m.Options.NoListening, Tracers: tracers,
	}
	if tracers != nil {
		o.Timeout = max(o.Timeout-pipelineTime, o.Timeout/2)
	}
	if len(c.roots) > 0 {
		o.Features = append(o.Features, mcpclient.UseRoots(c.roots...))
	}
	if c.verbose {
		o.Log = slog.NewTextHandler(lines{c.streams.err}, &slog.HandlerOptions{Level: slog.LevelDebug})
	}
	return o
}

// print prints the diagnosis. It returns an error with the exit code and without text.
func (c *doctorCommand) print(d *diagnosis) error {
	write := d.print
	if c.asJSON {
		write = func(w io.Writer) error { return printJSON(w, d) }
	}
	if err := write(c.streams.out); err != nil {
		return err
	}
	if code := d.code(); code != exitOK {
		return &exitError{code: code}
	}
	return nil
}

func (d *diagnosis) code() int {
	code := exitOK
	if d.Verdict == doctor.Fail {
		code = exitTool
	}
	for _, r := range d.Servers {
		if r.Verdict == doctor.Fail && !r.Connected {
			code = exitConnection
		}
	}
	return code
}

// print prints the diagnosis as text.
func (d *diagnosis) print(w io.Writer) error {
	for _, r := range d.Servers {
		if err := printChecks(w, fmt.Sprintf("%s: %s, after %s", visible.Line(r.Server), r.Verdict, unit.Duration(r.Took)),
			r.Checks); err != nil {
			return err
		}
	}
	return printChecks(w, fmt.Sprintf("telemetry of a client here: %s", doctor.Worst(d.Pipeline)), d.Pipeline)
}

// printChecks prints a line for each check, and a line with the advice, if any. Checks that were skipped because
// another check failed share one line.
func printChecks(w io.Writer, title string, checks []doctor.Check) error {
	text := []string{title}
	var rest []string
	for _, check := range checks {
		if check.Needs != "" {
			rest = append(rest, check.Name)
			continue
		}
		text = append(text, fmt.Sprintf("  %-7s  %-13s  %s", check.Verdict, check.Name, visible.Line(check.Found)))
		if check.Do != "" {
			text = append(text, fmt.Sprintf("%27s%s", "-> ", visible.Line(check.Do)))
		}
	}
	if len(rest) > 0 {
		text = append(text, fmt.Sprintf("  %-7s  %s", doctor.Skipped, strings.Join(rest, ", ")))
	}
	for _, line := range text {
		if err := printLine(w, line); err != nil {
			return err
		}
	}
	return nil
}
