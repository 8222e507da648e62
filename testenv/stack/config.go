package stack

import (
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

var (
	//go:embed jaeger.yaml
	jaegerConfig []byte
	//go:embed jaeger-disk.yaml
	jaegerDiskConfig []byte
	//go:embed agent-copy.yaml
	agentCopyConfig []byte
	//go:embed prometheus.yaml.tmpl
	prometheusConfig string

	prometheusTemplate = template.Must(template.New("prometheus.yaml").Parse(prometheusConfig))
)

// configurations writes the configurations of Jaeger and Prometheus, and selects those of the Collectors.
func (s *Stack) configurations() error {
	for name, text := range map[string][]byte{"jaeger.yaml": jaegerConfig, "jaeger-disk.yaml": jaegerDiskConfig,
		"agent-copy.yaml": agentCopyConfig} {
		if err := os.WriteFile(s.file(name), text, 0o600); err != nil {
			return err
		}
	}
	if err := s.writePrometheus(); err != nil {
		return err
	}
	for _, c := range []struct {
		files *[]string
		name  string
	}{{&s.options.Agent, "agent.yaml"}, {&s.options.Gateway, "gateway.yaml"}} {
		if *c.files == nil {
			root, err := Repository()
			if err != nil {
				return err
			}
			*c.files = []string{filepath.Join(root, "collector", c.name)}
		}
	}
	if s.options.Copy != "" {
		s.options.Agent = append(slices.Clone(s.options.Agent), s.file("agent-copy.yaml"))
	}
	return nil
}

func (s *Stack) writePrometheus() error {
	var text strings.Builder
	err := prometheusTemplate.Execute(&text, map[string]any{
		"Interval": s.interval(), "Rules": s.options.Rules,
		"Services": address(s.Ports.GatewayPrometheus), "Jaeger": address(s.Ports.JaegerMetric),
		"Agent": address(s.Ports.AgentMetrics), "Gateway": address(s.Ports.GatewayMetrics),
		"HasSecond":      s.options.SecondGateway,
		"SecondServices": address(s.Ports.SecondPrometheus), "Second": address(s.Ports.SecondMetrics),
	})
	if err != nil {
		return err
	}
	return os.WriteFile(s.file("prometheus.yaml"), []byte(text.String()), 0o600)
}

// jaegerFiles returns the configuration files of Jaeger.
func (s *Stack) jaegerFiles() []string {
	files := []string{s.file("jaeger.yaml")}
	if s.options.Durable {
		files = append(files, s.file("jaeger-disk.yaml"))
	}
	return files
}

// jaegerEnvironment returns the variables for Jaeger's configuration. They also keep Jaeger from tracing its own API,
// which would appear as one more service.
func (s *Stack) jaegerEnvironment() []string {
	return []string{
		"OTEL_TRACES_SAMPLER=always_off",
		"STACK_JAEGER_OTLP=" + address(s.Ports.JaegerGRPC), "STACK_JAEGER_UI=" + address(s.Ports.JaegerUI),
		"STACK_JAEGER_QUERY=" + address(s.Ports.JaegerQuery), "STACK_JAEGER_HEALTH=" + address(s.Ports.JaegerHealth),
		"STACK_JAEGER_METRICS_PORT=" + strconv.Itoa(s.Ports.JaegerMetric), "STACK_JAEGER_DIR=" + s.file("jaeger"),
	}
}

// agentEnvironment returns the agent's variables, which collector/README.md lists, and gatewayEnvironment returns the
// gateway's variables. Both functions shorten waits, so that exported data soon become visible.
func (s *Stack) agentEnvironment() []string {
	return append([]string{
		"MCPOTEL_AGENT_OTLP_GRPC=" + address(s.Ports.AgentGRPC), "MCPOTEL_AGENT_OTLP_HTTP=" + address(s.Ports.AgentHTTP),
		"MCPOTEL_AGENT_HEALTH=" + address(s.Ports.AgentHealth),
		"MCPOTEL_AGENT_TELEMETRY_PORT=" + strconv.Itoa(s.Ports.AgentMetrics),
		"MCPOTEL_AGENT_QUEUE_DIR=" + s.file("agent"), "MCPOTEL_GATEWAY_ENDPOINT=" + address(s.Ports.GatewayGRPC),
		"MCPOTEL_AGENT_BATCH_TIMEOUT=100ms", "STACK_COPY=" + s.options.Copy,
		"STACK_GATEWAYS=[" + address(s.Ports.GatewayGRPC) + ", " + address(s.Ports.SecondGRPC) + "]",
	}, s.options.CollectorEnv...)
}

func (s *Stack) gatewayEnvironment() []string {
	return append([]string{
		"MCPOTEL_GATEWAY_OTLP_GRPC=" + address(s.Ports.GatewayGRPC),
		"MCPOTEL_GATEWAY_OTLP_HTTP=" + address(s.Ports.GatewayHTTP),
		"MCPOTEL_GATEWAY_HEALTH=" + address(s.Ports.GatewayHealth),
		"MCPOTEL_GATEWAY_TELEMETRY_PORT=" + strconv.Itoa(s.Ports.GatewayMetrics),
		"MCPOTEL_GATEWAY_PROMETHEUS=" + address(s.Ports.GatewayPrometheus),
		"MCPOTEL_TRACES_ENDPOINT=" + address(s.Ports.JaegerGRPC),
		"MCPOTEL_GATEWAY_QUEUE_DIR=" + s.file("gateway"), "MCPOTEL_GATEWAY_BATCH_TIMEOUT=100ms",
		"MCPOTEL_RED_FLUSH_INTERVAL=1s",
		"MCPOTEL_SAMPLING_ERROR_SPANS=1000000", "MCPOTEL_SAMPLING_ERROR_BURST=1000000", // tests fail often and on purpose
		"MCPOTEL_SAMPLING_PERCENTAGE=" + strconv.FormatFloat(cmp.Or(s.options.Sampling, 100), 'f', -1, 64),
	}, s.options.CollectorEnv...)
}

// secondEnvironment returns the gateway's variables, followed by overrides for the second gateway.
func (s *Stack) secondEnvironment() []string {
	return append(s.gatewayEnvironment(),
		"MCPOTEL_GATEWAY_OTLP_GRPC="+address(s.Ports.SecondGRPC), "MCPOTEL_GATEWAY_OTLP_HTTP="+address(s.Ports.SecondHTTP),
		"MCPOTEL_GATEWAY_HEALTH="+address(s.Ports.SecondHealth),
		"MCPOTEL_GATEWAY_TELEMETRY_PORT="+strconv.Itoa(s.Ports.SecondMetrics),
		"MCPOTEL_GATEWAY_PROMETHEUS="+address(s.Ports.SecondPrometheus), "MCPOTEL_GATEWAY_QUEUE_DIR="+s.file("second"))
}

// Repository returns the root of this project's checkout, found from the working directory.
func Repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module github.com/mcpotel/mcpotel\n") {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("the working directory is not in a checkout of mcpotel: name the Collector's configurations")
		}
		dir = parent
	}
}
