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

// Options configure a stack. The zero value suits tests.
type Options struct {
	// Dir is the directory for logs, queues and data. Empty means a temporary directory, which Stop removes.
	Dir string

	// Ports are the ports of the stack. A zero port means a free one.
	Ports Ports

	// Agent and Gateway are the configuration files of the Collectors; later files override earlier ones. Nil means
	// collector/agent.yaml and collector/gateway.yaml of the repository that contains the working directory.
	Agent, Gateway []string

	// SecondGateway adds a second gateway. It receives data only if the configurations in Agent and Gateway send data to
	// it.
	SecondGateway bool

	// Idle are the names of processes that Up does not start.
	Idle []string

	// Copy is the OTLP/gRPC address, "host:port", to which the agent sends a copy of all data. Empty means no copy.
	Copy string

	// Sampling is the percentage of traces that the gateway keeps, in addition to slow and failed ones. Zero means 100.
	Sampling float64

	// Durable makes Jaeger store traces on disk and acknowledge them only afterwards. Otherwise Jaeger keeps traces in
	// memory and loses them when it is killed.
	Durable bool

	// CollectorEnv sets variables for the Collectors' configurations, "NAME=value", and overrides those of the stack.
	CollectorEnv []string

	// Rules are files of recording rules and alerts for Prometheus.
	Rules []string

	// Interval is the interval at which Prometheus scrapes and evaluates rules. Zero means a second.
	Interval time.Duration

	// Log receives one line for each event. Nil means no log.
	Log io.Writer
}

// A Stack is a running stack, from Up to Stop.
type Stack struct {
	Agent, Gateway, Prometheus, Jaeger *Process

	// Second is the second gateway, or nil.
	Second *Process

	// Traces queries Jaeger, and Metrics queries Prometheus.
	Traces  *jaeger.Client
	Metrics *prom.Client

	// Ports are the ports of the stack.
	Ports Ports

	dir     string
	own     bool // Stop removes the directory
	owner   net.Listener
	options Options
}

// Up starts Jaeger, Prometheus, the gateways and the agent, and returns when all are ready. ctx bounds only the start.
// On an error, Up stops everything that it has started.
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

// OTLP returns the address for OTLP over gRPC, "127.0.0.1:port".
func (s *Stack) OTLP() string { return address(s.Ports.AgentGRPC) }

// OTLPHTTP returns the address for OTLP over HTTP, "127.0.0.1:port".
func (s *Stack) OTLPHTTP() string { return address(s.Ports.AgentHTTP) }

// Dir returns the directory of logs and data.
func (s *Stack) Dir() string { return s.dir }

// Stop ends the agent, the gateways, Prometheus and Jaeger, in this order, and waits for all. If ctx ends first, Stop
// kills the remaining processes.
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

// processes returns all processes, each before those that receive its data.
func (s *Stack) processes() []*Process {
	return slices.DeleteFunc([]*Process{s.Agent, s.Second, s.Gateway, s.Prometheus, s.Jaeger},
		func(p *Process) bool { return p == nil })
}

// release frees the ports and removes a temporary directory, unless failure is set: then the logs remain.
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

// prepare writes the configurations and defines the processes.
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

// file returns the path of a file in the stack's directory.
func (s *Stack) file(name string) string { return filepath.Join(s.dir, name) }

func (s *Stack) interval() time.Duration { return cmp.Or(s.options.Interval, time.Second) }
