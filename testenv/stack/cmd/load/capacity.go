package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/mcpotel/mcpotel/testenv/stack"
	"github.com/mcpotel/mcpotel/testenv/stack/load"
)

// usual restores the settings of the configuration files, which the stack shortens for tests.
var usual = []string{"MCPOTEL_AGENT_BATCH_TIMEOUT=1s", "MCPOTEL_GATEWAY_BATCH_TIMEOUT=1s",
	"MCPOTEL_RED_FLUSH_INTERVAL=15s"}

func (m *measuring) agent(name string, overlays ...string) tier {
	return tier{
		name:      name,
		process:   func(s *stack.Stack) *stack.Process { return s.Agent },
		endpoint:  func(p stack.Ports) int { return p.AgentGRPC },
		receivers: func(p stack.Ports) []int { return []int{p.GatewayGRPC} },
		options:   stack.Options{Agent: m.files(append([]string{"agent.yaml"}, overlays...)), CollectorEnv: usual},
	}
}

func (m *measuring) gateway(name string, overlays ...string) tier {
	return tier{
		name:      name,
		process:   func(s *stack.Stack) *stack.Process { return s.Gateway },
		endpoint:  func(p stack.Ports) int { return p.GatewayGRPC },
		receivers: func(p stack.Ports) []int { return []int{p.JaegerGRPC} },
		options: stack.Options{Gateway: m.files(append([]string{"gateway.yaml"}, overlays...)), CollectorEnv: usual,
			Sampling: 10},
	}
}

// files returns the paths of configurations of the project.
func (m *measuring) files(names []string) (paths []string) {
	for _, name := range names {
		paths = append(paths, filepath.Join(m.repository, "collector", name))
	}
	return paths
}

// broker starts a Kafka with one broker in this process.
func broker() (env []string, end func(), err error) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(8, "mcpotel-spans"))
	if err != nil {
		return nil, nil, err
	}
	return []string{"MCPOTEL_KAFKA_BROKERS=[" + c.ListenAddrs()[0] + "]"}, c.Close, nil
}

// capacity limits the Collector to one core, sends at its maximum rate, and prints the CPU time for each span.
func capacity(m *measuring) error {
	balancing := m.agent("agent, load_balancing to two", "agent-loadbalancing.yaml")
	balancing.options.Agent = append(balancing.options.Agent,
		filepath.Join(m.repository, "testenv", "stack", "agent-two-gateways.yaml"))
	balancing.options.SecondGateway = true
	balancing.receivers = func(p stack.Ports) []int { return []int{p.GatewayGRPC, p.SecondGRPC} }
	toKafka := m.agent("agent, to Kafka", "agent-kafka.yaml")
	toKafka.prepare = broker
	toKafka.receivers = nil
	graph := m.gateway("gateway, with service_graph", "gateway-servicegraph.yaml")

	fmt.Fprintf(m.out, "\n| Collector of one core | spans a second | spans a second of CPU | memory at its peak, MiB |\n"+
		"|---|--:|--:|--:|\n")
	for _, t := range []tier{m.agent("agent"), balancing, toKafka, m.gateway("gateway"), graph} {
		if err := m.flatOut(t); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return m.fromKafka()
}

// oneCore gives a Collector one core, and enough memory not to slow it down.
var oneCore = []string{"GOMAXPROCS=1", "MCPOTEL_AGENT_MEMORY_MIB=4096", "MCPOTEL_GATEWAY_MEMORY_MIB=4096"}

// flatOut measures one Collector at its maximum rate.
func (m *measuring) flatOut(t tier) error {
	s, _, end, err := m.alone(t, oneCore...)
	if err != nil {
		return err
	}
	pid := t.process(s).Pid()
	_, next, err := m.send(s, t, 0, m.took/4, load.Options{}) // warm up: memory, regexps
	if err == nil {
		err = m.measure(t.name, pid, func() (uint64, error) {
			sent, _, err := m.send(s, t, next, m.took, load.Options{})
			if err != nil {
				return 0, err
			}
			return sent.Spans - sent.Dropped, nil
		})
	}
	return errors.Join(err, end())
}

// measure prints a row with the resources that a process used during work.
func (m *measuring) measure(name string, pid int, work func() (spans uint64, err error)) error {
	before, err := cpu(pid)
	if err != nil {
		return err
	}
	begun := time.Now()
	spans, err := work()
	if err != nil {
		return err
	}
	took := time.Since(begun)
	after, err := cpu(pid)
	if err != nil {
		return err
	}
	peak, err := memory(pid, "VmHWM")
	if err != nil {
		return err
	}
	fmt.Fprintf(m.out, "| %s | %.0f | %.0f | %d |\n", name, float64(spans)/took.Seconds(),
		float64(spans)/(after-before).Seconds(), peak>>20)
	return nil
}

// fromKafka fills the topic through an agent, and then lets a gateway read it.
func (m *measuring) fromKafka() error {
	env, closeBroker, err := broker()
	if err != nil {
		return err
	}
	defer closeBroker()
	a := m.agent("", "agent-kafka.yaml")
	a.receivers = nil
	s, _, end, err := m.alone(a, env...)
	if err != nil {
		return err
	}
	sent, _, err := m.send(s, a, 0, m.took, load.Options{Rate: 10_000})
	want := uint64(0)
	if err == nil {
		want = sent.Spans - sent.Dropped
		_, err = m.await(s.Ports.AgentMetrics, "otelcol_exporter_sent_spans", want)
	}
	if err := errors.Join(err, end()); err != nil {
		return err
	}
	g := m.gateway("gateway, from Kafka", "gateway-kafka.yaml")
	s, _, end, err = m.alone(g, append(env, oneCore...)...)
	if err != nil {
		return err
	}
	err = m.measure(g.name, s.Gateway.Pid(), func() (uint64, error) {
		return m.await(s.Ports.GatewayMetrics, "otelcol_receiver_accepted_spans", want)
	})
	return errors.Join(err, end())
}

// await waits until a Collector's metric has reached want, and returns its value.
func (m *measuring) await(port int, metric string, want uint64) (uint64, error) {
	for {
		got, err := counted(m.ctx, port, metric)
		if err != nil || uint64(got) >= want {
			return uint64(got), err
		}
		if err := load.Wait(m.ctx, 100*time.Millisecond); err != nil {
			return 0, fmt.Errorf("%s is %.0f, want %d: %w", metric, got, want, err)
		}
	}
}
