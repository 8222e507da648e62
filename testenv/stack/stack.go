package stack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/backend"
	"github.com/mcpotel/mcpotel/internal/command/prom"
	"github.com/mcpotel/mcpotel/testenv/stack/jaeger"
)

// Options configure a stack. The zero value is a stack for a test.
type Options struct {
	// Dir takes logs, queues and data. Empty means a new one, which Stop removes.
	Dir string

	// Ports are where it listens. Zero ones are free ones.
	Ports Ports

	// Agent and Gateway are the configurations of the Collectors, of which a later file wins over an earlier one. Nil
	// means collector/agent.yaml and collector/gateway.yaml of the repository that the working directory is in.
	Agent, Gateway []string

	// SecondGateway adds one, to which nothing goes but what Agent and Gateway bring there.
	SecondGateway bool

	// Idle are the names of processes that Up leaves to their Start.
	Idle []string

	// Copy is where a copy of everything goes that the agent takes, by OTLP/gRPC to "host:port". Empty means nowhere.
	Copy string

	// Sampling is the percentage of traces that the gateway keeps, besides slow and failed ones. Zero means 100.
	Sampling float64

	// Durable lets Jaeger keep traces on disk and acknowledge only what is there. Without it they are in memory, and gone
	// when it is killed.
	Durable bool

	// CollectorEnv sets variables of the Collectors' configurations, "NAME=value", over those that the stack sets.
	CollectorEnv []string

	// Rules are files of recording rules and alerts for Prometheus.
	Rules []string

	// Interval is how often Prometheus scrapes and evaluates rules. Zero means a second.
	Interval time.Duration

	// Log is told what happens, a line each. Nil means that nothing is logged.
	Log io.Writer
}

// A Stack runs from Up to Stop.
type Stack struct {
	Agent, Gateway, Prometheus, Jaeger *Process

	// Second is the second gateway, nil if there is one only.
	Second *Process

	// Traces is Jaeger's API, Metrics that of Prometheus.
	Traces  *jaeger.Client
	Metrics *prom.Client

	// Ports are those it listens on.
	Ports Ports

	dir     string
	own     bool // the directory goes with the stack
	owner   net.Listener
	options Options
}

// Up starts Jaeger, Prometheus, the gateways and the agent, and returns when all are ready. ctx bounds that, nothing
// else. On an error nothing is left running.
func Up(ctx context.Context, o Options) (_ *Stack, err error) {
	programs, err := find("jaeger", "prometheus", "otelcol")
	if err != nil {
		return nil, err
	}
	s := &Stack{Ports: o.Ports, dir: o.Dir, options: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.release(err))
		}
	}()
	if s.owner, err = s.Ports.fill(); err != nil {
		return nil, err
	}
	if s.dir == "" {
		s.own = true
		if s.dir, err = os.MkdirTemp("", "mcpotel-stack-"); err != nil {
			return nil, err
		}
	}
	if err := s.prepare(programs); err != nil {
		return nil, err
	}
	s.Traces = jaeger.New("http://" + address(s.Ports.JaegerUI))
	metrics, err := backend.New("http://"+address(s.Ports.Prometheus), nil)
	if err != nil {
		return nil, err
	}
	s.Metrics = prom.New(metrics)
	for _, p := range slices.Backward(s.processes()) {
		if slices.Contains(o.Idle, p.Name()) {
			continue
		}
		begun := time.Now()
		if err := p.Start(ctx); err != nil {
			stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
			defer cancel()
			return nil, errors.Join(err, s.stop(stopping))
		}
		s.say("%s is ready after %v", p.Name(), time.Since(begun).Round(time.Millisecond))
	}
	return s, nil
}

func (s *Stack) say(format string, args ...any) {
	if s.options.Log != nil {
		fmt.Fprintf(s.options.Log, format+"\n", args...)
	}
}

// OTLP is where services export over gRPC, "127.0.0.1:port".
func (s *Stack) OTLP() string { return address(s.Ports.AgentGRPC) }

// OTLPHTTP is the same over HTTP.
func (s *Stack) OTLPHTTP() string { return address(s.Ports.AgentHTTP) }

// Dir is where logs and data are.
func (s *Stack) Dir() string { return s.dir }

// Stop ends the agent, the gateways, Prometheus and Jaeger, in this order, and waits for all. When ctx ends first,
// those left are killed.
func (s *Stack) Stop(ctx context.Context) error {
	err := s.stop(ctx)
	return errors.Join(err, s.release(err))
}

func (s *Stack) stop(ctx context.Context) error {
	var failed []error
	for _, p := range s.processes() {
		failed = append(failed, p.Stop(ctx))
	}
	return errors.Join(failed...)
}

// processes are all of them, each before those that it sends to.
func (s *Stack) processes() []*Process {
	return slices.DeleteFunc([]*Process{s.Agent, s.Second, s.Gateway, s.Prometheus, s.Jaeger},
		func(p *Process) bool { return p == nil })
}

// release gives back ports and directory; what went wrong keeps its logs.
func (s *Stack) release(failure error) error {
	if s.owner != nil {
		s.owner.Close()
	}
	if !s.own || s.dir == "" {
		return nil
	}
	if failure != nil {
		s.say("the logs are in %s", s.dir)
		return nil
	}
	return os.RemoveAll(s.dir)
}

// prepare writes the configurations of the programs.
func (s *Stack) prepare(programs map[string]string) error {
	if err := s.configurations(); err != nil {
		return err
	}
	p := s.Ports
	process := func(name, program, ready string, env []string, args ...string) *Process {
		return &Process{name: name, path: programs[program], args: args, env: env, log: s.file(name + ".log"),
			ready: "http://" + ready}
	}
	s.Jaeger = process("jaeger", "jaeger", address(p.JaegerHealth)+"/status", s.jaegerEnvironment(),
		configs(s.jaegerFiles())...)
	s.Prometheus = process("prometheus", "prometheus", address(p.Prometheus)+"/-/ready", nil,
		"--config.file="+s.file("prometheus.yaml"), "--storage.tsdb.path="+s.file("prometheus"),
		"--web.listen-address="+address(p.Prometheus),
		"--enable-feature=exemplar-storage", "--log.level=warn")
	gateway := func(name, health string, env []string) *Process {
		return process(name, "otelcol", health, env, configs(s.options.Gateway)...)
	}
	s.Gateway = gateway("gateway", address(p.GatewayHealth), s.gatewayEnvironment())
	if s.options.SecondGateway {
		s.Second = gateway("second gateway", address(p.SecondHealth), s.secondEnvironment())
	}
	s.Agent = process("agent", "otelcol", address(p.AgentHealth), s.agentEnvironment(), configs(s.options.Agent)...)
	return nil
}

func configs(files []string) (args []string) {
	for _, f := range files {
		args = append(args, "--config", f)
	}
	return args
}

// file is one in the stack's directory.
func (s *Stack) file(name string) string { return filepath.Join(s.dir, name) }

func (s *Stack) interval() time.Duration { return cmp.Or(s.options.Interval, time.Second) }
