// Command stack runs the complete system on this machine: the Collectors, Jaeger, Prometheus, and clients and servers
// that export.
//
//	go -C testenv/stack run ./cmd/stack up
//
// It builds missing programs, which takes minutes the first time, and prints the addresses. Then it generates traffic
// until Ctrl-C, or for the number of rounds in --rounds, and stops everything. A command behind -- runs after those
// rounds, during further traffic, with PROMETHEUS_URL, JAEGER_URL and OTEL_EXPORTER_OTLP_ENDPOINT set; when this
// command ends, the stack ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mcpotel/mcpotel/testenv/stack"
	"github.com/mcpotel/mcpotel/testenv/stack/traffic"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "stack:", err)
		os.Exit(1)
	}
}

// settings holds the flags.
type settings struct {
	rounds   int
	free     bool
	dir      string
	sampling float64
	rules    string
	web      bool
	interval time.Duration
	quiet    bool
	command  []string
}

func run(ctx context.Context, args []string, out, stderr io.Writer) error {
	var s settings
	f := flag.NewFlagSet("stack up", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&s.rounds, "rounds", 0, "stop after this number of rounds of traffic instead of at Ctrl-C")
	f.BoolVar(&s.free, "free-ports", false, "listen on free ports instead of the usual ones")
	f.StringVar(&s.dir, "dir", "", "keep logs and data in this `DIRECTORY` instead of a temporary one")
	f.Float64Var(&s.sampling, "sampling", 100, "percentage of traces to keep in addition to slow and failed ones")
	f.StringVar(&s.rules, "rules", "",
		"comma-separated `FILES` of rules and alerts for Prometheus instead of those in dashboards/")
	f.DurationVar(&s.interval, "interval", time.Second,
		"interval at which Prometheus scrapes and evaluates rules, a `DURATION`")
	f.BoolVar(&s.quiet, "no-traffic", false, "run the stack alone, without clients and servers")
	f.BoolVar(&s.web, "web", false, "also show traces, metrics and logs on a page")
	if len(args) == 0 || args[0] != "up" {
		return errors.New("usage: stack up [flags]; stack up -h lists the flags")
	}
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	if s.command = f.Args(); len(s.command) > 0 && !slices.Contains(args, "--") {
		return fmt.Errorf("unexpected argument %q; put a command to run behind --", f.Arg(0))
	}
	begun := time.Now()
	if err := install(ctx, stderr); err != nil {
		return err
	}
	fmt.Fprintf(out, "all programs are installed (%v)\n", time.Since(begun).Round(10*time.Millisecond))
	return s.up(ctx, out)
}

// install runs the two scripts that build and install missing programs, and sets the variables with their directories.
func install(ctx context.Context, stderr io.Writer) error {
	root, err := stack.Repository()
	if err != nil {
		return err
	}
	for _, what := range []struct{ variable, folder string }{{"MCPOTEL_STACK", "stack"}, {"MCPOTEL_SERVERS", "servers"}} {
		if os.Getenv(what.variable) != "" {
			continue
		}
		cmd := exec.CommandContext(ctx, filepath.Join(root, "testenv", what.folder, "install"))
		cmd.Stderr = stderr
		dir, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("testenv/%s/install: %w", what.folder, err)
		}
		if err := os.Setenv(what.variable, strings.TrimSpace(string(dir))); err != nil {
			return err
		}
	}
	return nil
}

// patience limits the time to start, and the time to stop.
const patience = time.Minute

// up runs stack and traffic until ctx ends or the rounds are over.
func (s *settings) up(ctx context.Context, out io.Writer) (err error) {
	o := stack.Options{Dir: s.dir, Sampling: s.sampling, Interval: s.interval, Log: out}
	if !s.free {
		o.Ports = stack.UsualPorts()
	}
	if o.Rules, err = rules(s.rules); err != nil {
		return err
	}
	page, err := s.page(&o)
	if err != nil {
		return err
	}
	if page != nil {
		defer ending(out, "the page", &err, page.end)
	}
	starting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	begun := time.Now()
	running, err := stack.Up(starting, o)
	if err != nil {
		return err
	}
	defer ending(out, "the stack", &err, running.Stop)
	fmt.Fprintf(out, "the stack is up after %v\n\n%s\n", time.Since(begun).Round(time.Millisecond), addresses(running))
	if page != nil {
		fmt.Fprintf(out, "  %-52s %s\n\n", "traces, metrics and logs on a page", page.site.URL)
	}
	if s.quiet {
		return s.alone(ctx, running, out)
	}
	// The dashboards filter by environment, so these services need one, too.
	if attributes := "OTEL_RESOURCE_ATTRIBUTES"; os.Getenv(attributes) == "" {
		if err := os.Setenv(attributes, "deployment.environment.name=stack"); err != nil {
			return err
		}
	}
	fleet, err := traffic.Start(starting, traffic.Options{OTLP: running.OTLP(), OTLPHTTP: running.OTLPHTTP(), Log: out})
	if err != nil {
		return err
	}
	defer ending(out, "the traffic", &err, fleet.Stop)
	if len(s.command) == 0 {
		return fleet.Run(ctx, s.rounds)
	}
	if err := fleet.Run(ctx, max(1, s.rounds)); err != nil {
		return err
	}
	ctx, cancel = context.WithCancel(ctx)
	played := make(chan error, 1)
	go func() { played <- fleet.Run(ctx, 0) }()
	err = s.runCommand(ctx, running, out)
	cancel()
	return errors.Join(err, <-played)
}

// alone runs the command without traffic, or waits until ctx ends.
func (s *settings) alone(ctx context.Context, running *stack.Stack, out io.Writer) error {
	if len(s.command) > 0 {
		return s.runCommand(ctx, running, out)
	}
	<-ctx.Done()
	return nil
}

// runCommand runs the given command, with the addresses in its environment.
func (s *settings) runCommand(ctx context.Context, running *stack.Stack, out io.Writer) error {
	cmd := exec.CommandContext(ctx, s.command[0], s.command[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(),
		fmt.Sprintf("PROMETHEUS_URL=http://127.0.0.1:%d", running.Ports.Prometheus),
		fmt.Sprintf("JAEGER_URL=http://127.0.0.1:%d", running.Ports.JaegerUI),
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://"+running.OTLP(),
	)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", s.command[0], err)
	}
	return nil
}

// rules returns the rule files to load: the named ones, or those of the repository.
func rules(named string) (files []string, err error) {
	if named == "" {
		root, err := stack.Repository()
		return []string{filepath.Join(root, "dashboards", "rules.yaml"), filepath.Join(root, "dashboards", "alerts.yaml")},
			err
	}
	for file := range strings.SplitSeq(named, ",") {
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		files = append(files, path)
	}
	return files, nil
}

// ending stops a part, prints how long that took, and adds its error to err.
func ending(out io.Writer, what string, err *error, stop func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	begun := time.Now()
	*err = errors.Join(*err, stop(ctx))
	fmt.Fprintf(out, "%s has ended after %v\n", what, time.Since(begun).Round(time.Millisecond))
}

// addresses lists the addresses of the stack for the user.
func addresses(s *stack.Stack) string {
	var b strings.Builder
	for _, line := range []struct {
		what, where string
		port        int
	}{
		{"Jaeger, API, and UI if JAEGER_UI_ASSETS is set", "http://127.0.0.1:%d/", s.Ports.JaegerUI},
		{"… its traces as OTLP, by service", "http://127.0.0.1:%d/api/v3/services", s.Ports.JaegerUI},
		{"Prometheus, API", "http://127.0.0.1:%d/api/v1/query?query=up", s.Ports.Prometheus},
		{"metrics as the gateway serves them", "http://127.0.0.1:%d/metrics", s.Ports.GatewayPrometheus},
		{"agent, OTLP over gRPC: OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:%d", s.Ports.AgentGRPC},
		{"agent, OTLP over HTTP", "http://127.0.0.1:%d", s.Ports.AgentHTTP},
	} {
		fmt.Fprintf(&b, "  %-52s "+line.where+"\n", line.what, line.port)
	}
	fmt.Fprintf(&b, "  %-52s %s\n", "logs and data", s.Dir())
	return b.String()
}
