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
	"github.com/mcpotel/mcpotel/internal/command/planfile"
	"github.com/mcpotel/mcpotel/internal/command/prom"
	"github.com/mcpotel/mcpotel/internal/command/receiver"
	"github.com/mcpotel/mcpotel/internal/command/traceview"
	"github.com/mcpotel/mcpotel/internal/command/typing"
	"github.com/mcpotel/mcpotel/internal/glob"
	"github.com/mcpotel/mcpotel/internal/inspector"
	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
)

// gameDay is one run of the command "gameday".
type gameDay struct {
	streams            streams
	prometheus, jaeger service
	plan               string
	only               []string
	within             time.Duration
	list, asJSON       bool
	explain            bool
	traces             string // the URL of the Jaeger, without credentials
}

// notice is part of the help and ends each report.
const notice = "MCPTelemetryAbsent fires for the services mcpotel-gameday, mcpotel-gameday-absent " +
	"and\nmcpotel-gameday-overflow for up to six hours afterwards, because they have ended: silence it for these services."

func newGameDay(s streams) *cobra.Command {
	g := &gameDay{streams: s}
	cmd := &cobra.Command{
		Use: "gameday --prometheus URL [flags]", Short: "raise each alert on purpose, and check that it fires and resolves",
		Long: "A game day tests your own monitoring. Clients and servers in this process export to\n" +
			"the collector in OTEL_EXPORTER_OTLP_ENDPOINT. For each alert, the command causes a failure\n" +
			"until the alert fires, then repairs it until the alert resolves. The report shows whether each alert fired,\n" +
			"led to a trace that shows the cause, and resolved. The exit code is 1 if an alert failed.\n" +
			"The alerts page people like any other alert: warn the on-call engineers.\n\n" + notice,
		Example: "mcpotel gameday --list\n" +
			"mcpotel gameday --prometheus http://localhost:9090 --jaeger http://localhost:16686\n" +
			"mcpotel gameday --prometheus http://localhost:9090 --only 'MCPClient*' --within 20m",
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	g.prometheus.flags(f, "prometheus", prometheusExample, "read alerts from the Prometheus at this `URL`, such as "+
		prometheusExample)
	g.jaeger.flags(f, "jaeger", jaegerExample, "look for traces in the Jaeger at this `URL`, such as "+jaegerExample+
		". Without it the command looks for no traces")
	f.StringArrayVar(&g.only, "only", nil, "raise only alerts whose names match this `PATTERN`, such as 'MCPClient*'; "+
		"may be repeated")
	f.StringVar(&g.plan, "plan", "", "raise the alerts of this YAML `FILE` instead of the dashboards' alerts: "+
		"your own alerts, or alerts that you have renamed")
	f.BoolVar(&g.explain, "explain", false, "also check that \"mcpotel explain\" would deliver each alert with cause, "+
		"evidence, trace and section of the runbook; needs --jaeger. Each failure lasts about a minute longer")
	f.DurationVar(&g.within, "within", 30*time.Minute, "stop after this `DURATION`, even if alerts are left")
	f.BoolVar(&g.list, "list", false, "only list the alerts, their causes and their durations")
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
	if err != nil { // the export of the last spans failed; the results are valid
		g.say(gameday.Event{Text: err.Error()})
	}
	return g.report(results, time.Since(begun))
}

// drills returns the drills that the flags select.
func (g *gameDay) drills() ([]gameday.Drill, error) {
	drills := gameday.Drills()
	if g.plan != "" {
		text, err := os.ReadFile(g.plan)
		if err != nil {
			return nil, misuse("%v", err)
		}
		if drills, err = planfile.Drills(text); err != nil {
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
			return nil, misuse("--only %s: no alert matches%s", text, typing.Hint(text, names))
		}
	}
	return slices.DeleteFunc(drills, func(d gameday.Drill) bool { return !wanted[d.Alert] }), nil
}

// show prints the plan.
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

// backends opens the backends of the flags, and checks that they answer.
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
		return nil, misuse("--prometheus URL is missing: the Prometheus with your alerts, such as " + prometheusExample)
	case !hasCollector(os.Environ()):
		return nil, misuse("OTEL_EXPORTER_OTLP_ENDPOINT is missing: the collector that feeds your alerts, " +
			"such as http://localhost:4317")
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
	if g.explain && jaeger == nil {
		return nil, misuse("--explain needs --jaeger URL: the explanations are in the traces")
	}
	if g.explain {
		o.Explain = explains(&receiver.Evidence{
			Sources: inspector.Sources{Peers: []inspector.Source{inspector.Process{}},
				Spans: []inspector.Spans{jaegerSpans{traceview.NewJaeger(jaeger)}}},
			Metrics: prom.New(prometheus),
			Links:   receiver.Links{Trace: g.traces + "/trace/{trace_id}", Runbook: receiver.DefaultRunbook},
		})
	}
	return o, nil
}

// explains returns a function that explains an alert as "mcpotel explain" does when Alertmanager sends the alert.
func explains(evidence *receiver.Evidence) func(context.Context, gameday.Alert) (*receiver.Message, error) {
	return func(ctx context.Context, a gameday.Alert) (*receiver.Message, error) {
		ctx, cancel := context.WithTimeout(ctx, receiver.DefaultTimeout)
		defer cancel()
		p := receiver.Notification(receiver.Firing, a.Labels, a.Annotations, time.Now())
		return evidence.Explain(ctx, &p.Alerts[0]), nil
	}
}

// beginService starts the telemetry of a game day service. The service exports every five seconds, so that all drills
// fit into half an hour.
func beginService(ctx context.Context, service string) (gameday.Exporting, error) {
	const few = "OTEL_GO_X_CARDINALITY_LIMIT"
	os.Unsetenv("OTEL_SERVICE_NAME") // the variable would give all services the same name
	if service == gameday.Overflows {
		defer restore(few)()
		os.Setenv(few, "3")
	}
	p, err := otlp.Setup(ctx, otlp.WithServiceName(service), otlp.WithServiceVersion(version()), otlp.WithGlobals(false),
		otlp.WithConsole(nil, nil), otlp.WithExportInterval(5*time.Second))
	if err != nil { // do not return p, which would be a typed nil
		return nil, &exitError{exitUsage, err}
	}
	return p, nil
}

// restore returns a function that restores the present value of a variable.
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

// say prints an event to standard error; the report goes to standard output.
func (g *gameDay) say(e gameday.Event) {
	line := strings.TrimSpace(fmt.Sprintf("%s %s: %s", time.Now().Format(time.TimeOnly), e.Alert, e.Text))
	_ = printLine(g.streams.err, visible.Line(line))
}

// gameDayReport is the output of --json.
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
	Causes    string          `json:"causes,omitempty"`
	Link      string          `json:"link,omitempty"`
	Trouble   string          `json:"trouble,omitempty"`
}

// report prints the results. If the game day failed, the error has the exit code.
func (g *gameDay) report(results []gameday.Result, took time.Duration) error {
	r := gameDayReport{Passed: true, TookS: took.Seconds()}
	for _, x := range results {
		r.Passed = r.Passed && x.Outcome == gameday.Passed
		r.Alerts = append(r.Alerts, raisedReport{x.Alert, x.Outcome, x.Fired.Seconds(), x.Resolved.Seconds(), x.Trace,
			x.Causes, x.Link, x.Trouble})
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

// print prints a table, with the verdict in its last line.
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
		if r.Causes != "" {
			lines = append(lines, "    explained by "+r.Causes)
		}
		if r.Trouble != "" {
			lines = append(lines, "    "+visible.Line(r.Trouble))
		}
	}
	lines = append(lines, fmt.Sprintf("%d of %d alerts passed, %d led to a trace, in %s", passed, len(results), traced,
		unit.Duration(took)), notice)
	return printText(g.streams.out, strings.Join(lines, "\n"))
}

// link returns the page of the trace that an alert led to, and the kind of link.
func (g *gameDay) link(r gameday.Result) string {
	if r.Trace == "" {
		return ""
	}
	return g.traces + "/trace/" + r.Trace + " by " + r.Link
}

// after formats a duration of the table; a dash means that the event did not happen.
func after(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return unit.Duration(d.Round(time.Second))
}
