package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/command/gameday"
	"github.com/mcpotel/mcpotel/internal/command/prom"
	"github.com/mcpotel/mcpotel/internal/command/traceview"
	"github.com/mcpotel/mcpotel/internal/glob"
	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
)

// gameDay is what "mcpotel gameday" is told by its flags.
type gameDay struct {
	streams            streams
	prometheus, jaeger service
	plan               string
	only               []string
	within             time.Duration
	list, asJSON       bool
	traces             string // the URL of the Jaeger, without credentials
}

// notice stands in the help and at the end of each game day.
const notice = "MCPTelemetryAbsent fires for the services mcpotel-gameday, mcpotel-gameday-absent and\n" +
	"mcpotel-gameday-overflow for up to six hours afterwards, since they have ended: silence it for them."

func newGameDay(s streams) *cobra.Command {
	g := &gameDay{streams: s}
	cmd := &cobra.Command{
		Use: "gameday --prometheus URL [flags]", Short: "raise each alert on purpose, and see whether it fires and ends",
		Long: "A game day is played against the monitoring that you have. Clients and servers in this process export to\n" +
			"the collector that OTEL_EXPORTER_OTLP_ENDPOINT names. For each alert, something goes wrong with one of them\n" +
			"until the alert fires, and is right again until it is over. The report says for each whether it fired,\n" +
			"whether it leads to a trace that shows the cause, and whether it ended. The exit code is 1 if one did not.\n" +
			"The alerts are as real as any: tell those whom they page.\n\n" + notice,
		Example: "mcpotel gameday --list\n" +
			"mcpotel gameday --prometheus http://localhost:9090 --jaeger http://localhost:16686\n" +
			"mcpotel gameday --prometheus http://localhost:9090 --only 'MCPClient*' --within 20m",
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	g.prometheus.flags(f, "prometheus", prometheusExample, "ask the Prometheus at this `URL`, such as "+
		prometheusExample+", for its alerts")
	g.jaeger.flags(f, "jaeger", jaegerExample, "look for traces in the Jaeger at this `URL`, such as "+jaegerExample+
		". Without it none are looked for")
	f.StringArrayVar(&g.only, "only", nil, "raise only alerts whose names match this `PATTERN`, such as 'MCPClient*'; "+
		"may be repeated")
	f.StringVar(&g.plan, "plan", "", "raise the alerts of this YAML `FILE`, and not those of the dashboards: alerts "+
		"of your own, or with names of your own")
	f.DurationVar(&g.within, "within", 30*time.Minute, "end after this `DURATION`, whatever is still to come")
	f.BoolVar(&g.list, "list", false, "say which alerts would be raised, how, and how long that takes, and do nothing")
	f.BoolVar(&g.asJSON, "json", false, "print the report as JSON, for programs")
	return cmd
}

func (g *gameDay) run(ctx context.Context) error {
	drills, err := g.drills()
	if err != nil {
		return err
	}
	if g.list {
		return g.show(drills)
	}
	o, err := g.backends(ctx)
	if err != nil {
		return err
	}
	o.Drills, o.Poll, o.Begin, o.Say = drills, 5*time.Second, beginService, g.say
	o.Run = time.Now().Format("-0102T1504")
	playing, cancel := context.WithTimeout(ctx, g.within)
	defer cancel()
	begun := time.Now()
	results, err := gameday.Run(playing, o)
	if err != nil && results == nil {
		return err
	}
	if err != nil { // what the last spans would have said
		g.say(gameday.Event{Text: err.Error()})
	}
	return g.report(results, time.Since(begun))
}

// drills are those that are asked for.
func (g *gameDay) drills() ([]gameday.Drill, error) {
	drills := gameday.Drills()
	if g.plan != "" {
		text, err := os.ReadFile(g.plan)
		if err != nil {
			return nil, misuse("%v", err)
		}
		if drills, err = parseDrills(text); err != nil {
			return nil, misuse("%s: %v", g.plan, err)
		}
	}
	if g.only == nil {
		return drills, nil
	}
	var names []string
	for _, d := range drills {
		names = append(names, d.Alert)
	}
	wanted := map[string]bool{}
	for _, text := range g.only {
		pattern, err := glob.Compile(text)
		if err != nil {
			return nil, misuse("--only: %w", err)
		}
		some := false
		for _, name := range names {
			if pattern.MatchString(name) {
				some, wanted[name] = true, true
			}
		}
		if !some {
			return nil, misuse("--only %s: no alert is called like that%s", text, hint(text, names))
		}
	}
	return slices.DeleteFunc(drills, func(d gameday.Drill) bool { return !wanted[d.Alert] }), nil
}

// show prints what would be done.
func (g *gameDay) show(drills []gameday.Drill) error {
	for _, d := range drills {
		takes := "as its rule says"
		if d.Takes > 0 {
			takes = fmt.Sprintf("about %d min", d.Takes/time.Minute)
		}
		if err := printLine(g.streams.out, fmt.Sprintf("%-26s  %-16s  %s", d.Alert, takes, d.Does)); err != nil {
			return err
		}
	}
	return nil
}

// backends are those that the flags name, which have to answer.
func (g *gameDay) backends(ctx context.Context) (*gameday.Options, error) {
	prometheus, err := g.prometheus.open()
	if err != nil {
		return nil, err
	}
	jaeger, err := g.jaeger.open()
	switch {
	case err != nil:
		return nil, err
	case prometheus == nil:
		return nil, misuse("--prometheus URL says whose alerts are to be raised, such as " + prometheusExample)
	case !hasCollector(os.Environ()):
		return nil, misuse("OTEL_EXPORTER_OTLP_ENDPOINT says where your collector is, such as http://localhost:4317; " +
			"alerts are raised by what it is sent")
	}
	o := &gameday.Options{Alerts: gameday.Prometheus{Client: prom.New(prometheus)}}
	checking, cancel := context.WithTimeout(ctx, jaegerPatience)
	defer cancel()
	if _, err := o.Alerts.Rules(checking); err != nil {
		return nil, g.prometheus.misused(err)
	}
	if jaeger != nil {
		j := traceview.NewJaeger(jaeger)
		if err := j.Check(checking); err != nil {
			return nil, g.jaeger.misused(err)
		}
		g.traces = jaeger.String()
		o.Traces = gameday.Jaeger{Jaeger: j}
	}
	return o, nil
}

// beginService begins the telemetry of a service of a game day. It is exported every five seconds, so that half an hour
// is enough for all.
func beginService(ctx context.Context, service string) (gameday.Exporting, error) {
	const few = "OTEL_GO_X_CARDINALITY_LIMIT"
	os.Unsetenv("OTEL_SERVICE_NAME") // there are several, and they have to be known
	if service == gameday.Overflows {
		defer restore(few)()
		os.Setenv(few, "3")
	}
	p, err := otlp.Setup(ctx, otlp.WithServiceName(service), otlp.WithServiceVersion(version()), otlp.WithGlobals(false),
		otlp.WithConsole(nil, nil), otlp.WithExportInterval(5*time.Second))
	if err != nil { // and no typed nil
		return nil, &exitError{exitUsage, err}
	}
	return p, nil
}

// restore returns a function that gives a variable the value that it has now.
func restore(name string) func() {
	value, set := os.LookupEnv(name)
	return func() {
		if set {
			os.Setenv(name, value)
		} else {
			os.Unsetenv(name)
		}
	}
}

// say prints what has happened, on standard error: standard output is for the report.
func (g *gameDay) say(e gameday.Event) {
	line := strings.TrimSpace(fmt.Sprintf("%s %s: %s", time.Now().Format(time.TimeOnly), e.Alert, e.Text))
	_ = printLine(g.streams.err, visible.Line(line))
}

// gameDayReport is what --json prints.
type gameDayReport struct {
	Passed bool           `json:"passed"`
	TookS  float64        `json:"took_s"`
	Alerts []raisedReport `json:"alerts"`
}

type raisedReport struct {
	Alert     string          `json:"alert"`
	Outcome   gameday.Outcome `json:"outcome"`
	FiredS    float64         `json:"fired_after_s,omitempty"`
	ResolvedS float64         `json:"resolved_after_s,omitempty"`
	TraceID   string          `json:"trace_id,omitempty"`
	Link      string          `json:"link,omitempty"`
	Trouble   string          `json:"trouble,omitempty"`
}

// report prints what became of the alerts. The error is the exit code of a day that was not passed.
func (g *gameDay) report(results []gameday.Result, took time.Duration) error {
	r := gameDayReport{Passed: true, TookS: took.Seconds()}
	for _, x := range results {
		r.Passed = r.Passed && x.Outcome == gameday.Passed
		r.Alerts = append(r.Alerts, raisedReport{x.Alert, x.Outcome, x.Fired.Seconds(), x.Resolved.Seconds(), x.Trace, x.Link,
			x.Trouble})
	}
	err := g.print(results, took)
	if g.asJSON {
		err = printJSON(g.streams.out, r)
	}
	if err == nil && !r.Passed {
		return &exitError{code: exitTool}
	}
	return err
}

// print prints a table for people, with the verdict in its last line.
func (g *gameDay) print(results []gameday.Result, took time.Duration) error {
	if g.asJSON {
		return nil
	}
	const row = "%-26s  %-13s  %-7s  %-8s  %s"
	lines := []string{fmt.Sprintf(row, "alert", "outcome", "fired", "resolved", "trace")}
	passed, traced := 0, 0
	for _, r := range results {
		if r.Outcome == gameday.Passed {
			passed++
		}
		if r.Trace != "" {
			traced++
		}
		line := fmt.Sprintf(row, r.Alert, r.Outcome, after(r.Fired), after(r.Resolved), g.link(r))
		lines = append(lines, strings.TrimRight(line, " "))
		if r.Trouble != "" {
			lines = append(lines, "    "+visible.Line(r.Trouble))
		}
	}
	lines = append(lines, fmt.Sprintf("%d of %d alerts passed, %d led to a trace, in %s", passed, len(results), traced,
		unit.Duration(took)), notice)
	return printText(g.streams.out, strings.Join(lines, "\n"))
}

// link is the page of the trace that an alert leads to, and how.
func (g *gameDay) link(r gameday.Result) string {
	if r.Trace == "" {
		return ""
	}
	return g.traces + "/trace/" + r.Trace + " by " + r.Link
}

// after is a duration of the table, and a dash for what did not happen.
func after(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return unit.Duration(d.Round(time.Second))
}
