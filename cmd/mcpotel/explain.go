package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/command/prom"
	"github.com/mcpotel/mcpotel/internal/command/receiver"
	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/inspector"
	"github.com/mcpotel/mcpotel/internal/loopback"
	"github.com/mcpotel/mcpotel/internal/scrape"
	"github.com/mcpotel/mcpotel/internal/visible"
)

// explainer is one run of the command "explain".
type explainer struct {
	streams    streams
	asked      asked // the sources of traces
	prometheus service
	listen     string
	to         []string
	token      string
	timeout    time.Duration
	traceURL   string
	runbook    string
	pagerDuty  string
}

// alertsPath is the path of the webhook.
const alertsPath = "/alerts"

func newExplain(s streams) *cobra.Command {
	e := &explainer{streams: s, asked: asked{remote: true}} // the operator, and no agent, chooses the URLs
	cmd := &cobra.Command{
		Use: "explain --listen ADDRESS [flags]", Short: "receive alerts from Alertmanager, and deliver each with its cause",
		Long: "Alertmanager's webhook posts to /alerts. For each alert the command looks for the cause: in the flight " +
			"recorders\nof --debug, in the metrics of --prometheus and in the traces of --jaeger or --view. It delivers the " +
			"alert with\ncause, evidence, a link to the trace, and the section of the runbook. An alert without evidence is " +
			"delivered\ntoo. If a delivery fails, the answer is 502, and Alertmanager repeats the alert.\n\n" +
			"SECRET is the name of an environment variable, or @FILE.",
		Example: "mcpotel explain --listen :9098 --prometheus http://localhost:9090 --jaeger http://localhost:16686\n" +
			"mcpotel explain --listen :9098 --jaeger http://localhost:16686 --to log --to slack:SLACK_WEBHOOK_URL\n" +
			"mcpotel explain --listen 0.0.0.0:9098 --token @/run/token --jaeger http://jaeger:16686 --to pagerduty:@/run/key",
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&e.listen, "listen", "", "receive alerts at this `ADDRESS`, under /alerts. Without a host it listens on "+
		"loopback")
	f.StringArrayVar(&e.to, "to", []string{"log"}, "deliver to this `SINK`: log (standard output), file:PATH, "+
		"slack:SECRET with the URL of an incoming webhook, or pagerduty:SECRET with a routing key; may be repeated")
	e.asked.sourceFlags(f)
	e.prometheus.flags(f, "prometheus", prometheusExample, "read metrics and exemplars from the Prometheus at this `URL`, "+
		"such as "+prometheusExample)
	f.StringVar(&e.traceURL, "trace-url", "", "link to traces at this `URL`, which contains {trace_id}. By default, the "+
		"links lead to --jaeger or --view")
	f.StringVar(&e.runbook, "runbook", receiver.DefaultRunbook, "link to the sections of the runbook at this `URL`")
	f.StringVar(&e.token, "token", "", "accept only alerts with the bearer token in this `SECRET`")
	f.DurationVar(&e.timeout, "timeout", receiver.DefaultTimeout, "search no longer than this `DURATION` for the evidence "+
		"of an alert, and four times as long for all alerts in one request")
	f.StringVar(&e.pagerDuty, "pagerduty-url", receiver.PagerDutyURL, "send events for PagerDuty to this `URL`")
	return cmd
}

// run receives alerts until it is interrupted.
func (e *explainer) run(ctx context.Context) error {
	if e.listen == "" {
		return misuse("--listen ADDRESS is missing, such as --listen :9098")
	}
	if e.timeout <= 0 {
		return misuse("--timeout must be above zero")
	}
	evidence, err := e.evidence(ctx)
	if err != nil {
		return err
	}
	sinks, err := e.sinks()
	if err != nil {
		return err
	}
	token, err := secret(e.token)
	if err != nil {
		return misuse("--token: %w", err)
	}
	r, err := receiver.New(receiver.Options{Explain: evidence.Explain, Sinks: sinks, Token: token, Timeout: e.timeout,
		Say: e.say})
	if err != nil {
		return misuse("--to: %w", err)
	}
	return e.serve(ctx, r, token != "")
}

// serve serves the webhook until ctx ends.
func (e *explainer) serve(ctx context.Context, r *receiver.Receiver, guarded bool) error {
	address, err := onLoopback(e.listen)
	if err != nil {
		return misuse("--listen: %w; give a port, such as :9098, or an address of this machine with a port", err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return taken("listen", address, err)
	}
	mux := http.NewServeMux()
	mux.Handle(alertsPath, r)
	mux.HandleFunc("GET "+healthPath, func(w http.ResponseWriter, _ *http.Request) { _ = printLine(w, "ok") })
	handler := http.Handler(mux)
	if hostname.LoopbackAddr(l.Addr()) {
		handler = loopback.Named(handler)
	} else if !guarded {
		e.say(fmt.Sprintf("every program that reaches %v can send alerts; --token requires a token", l.Addr()))
	}
	failed := make(chan error, 1)
	server := scrape.Serve(l, handler, func(err error) { failed <- err })
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastAlerts)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			e.say("stopped before all alerts were delivered; Alertmanager repeats them")
		}
	}()
	e.say(fmt.Sprintf("alerts are received at http://%v%s", l.Addr(), alertsPath))
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

// lastAlerts is the time for alerts in progress to be delivered when the command ends.
const lastAlerts = 15 * time.Second

// say prints a line to standard error; records go to standard output.
func (e *explainer) say(text string) { _ = printLine(e.streams.err, "mcpotel: "+visible.Line(text)) }

// evidence opens the sources of the flags. A source that does not answer yet is only reported.
func (e *explainer) evidence(ctx context.Context) (*receiver.Evidence, error) {
	prometheus, err := e.prometheus.open()
	if err != nil {
		return nil, err
	}
	evidence := &receiver.Evidence{Links: receiver.Links{Trace: e.traceURL, Runbook: e.runbook}}
	checking, cancel := context.WithTimeout(ctx, jaegerPatience)
	defer cancel()
	if prometheus != nil {
		evidence.Metrics = prom.New(prometheus)
		if _, err := evidence.Metrics.AlertNames(checking); err != nil {
			e.say(err.Error())
		}
	}
	if prometheus == nil || e.asked.given() {
		if evidence.Sources, err = e.asked.sources(); err != nil {
			return nil, err
		}
	}
	_, missing := evidence.Sources.Look(checking)
	for _, text := range missing {
		e.say(text)
	}
	for _, s := range evidence.Sources.Spans {
		if j, ok := s.(jaegerSpans); ok {
			evidence.Links.Search = j.String()
			if err := j.Check(checking); err != nil {
				e.say(err.Error())
			}
		}
		if evidence.Links.Trace == "" {
			evidence.Links.Trace = tracePage(s)
		}
	}
	if e.traceURL != "" {
		evidence.Links.Search = "" // people may not reach the Jaeger that the command reads
	}
	if err := evidence.Links.Check(); err != nil {
		return nil, misuse("--trace-url, --runbook: %w", err)
	}
	return evidence, nil
}

// tracePage returns the address of the page of a trace in a source.
func tracePage(s inspector.Spans) string {
	switch s := s.(type) {
	case jaegerSpans:
		return s.String() + "/trace/{trace_id}"
	case *inspector.TracePage:
		return s.Name() + "/trace/{trace_id}"
	}
	return ""
}

// sinks opens the sinks of --to.
func (e *explainer) sinks() (all []receiver.Sink, err error) {
	for _, to := range e.to {
		kind, rest, _ := strings.Cut(to, ":")
		var s receiver.Sink
		switch {
		case to == "log":
			s = receiver.NewRecords(e.streams.out)
		case kind == "file" && rest != "":
			s, err = receiver.NewFile(rest)
		case kind == "slack" && rest != "":
			s, err = withSecret(rest, receiver.NewSlack)
		case kind == "pagerduty" && rest != "":
			s, err = withSecret(rest, func(key string) (*receiver.PagerDuty, error) {
				return receiver.NewPagerDuty(e.pagerDuty, key)
			})
		default:
			err = errors.New("want log, file:PATH, slack:SECRET or pagerduty:SECRET")
		}
		if err != nil {
			return nil, misuse("--to %s: %w", kind, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// withSecret opens a sink with a secret.
func withSecret[S receiver.Sink](from string, open func(string) (S, error)) (receiver.Sink, error) {
	value, err := secret(from)
	if err != nil {
		return nil, err
	}
	return open(value)
}

// secret returns the value of an environment variable, or the content of @FILE without surrounding space. Its result is
// empty only if from is. No error quotes the value.
func secret(from string) (value string, err error) {
	if from == "" {
		return "", nil
	}
	if path, ok := strings.CutPrefix(from, "@"); ok {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		value = string(text)
	} else if value, err = variable(from); err != nil {
		return "", fmt.Errorf("want the name of an environment variable or @FILE: %w", err)
	}
	if value = strings.TrimSpace(value); value == "" {
		return "", errors.New("the secret is empty")
	}
	return value, nil
}
