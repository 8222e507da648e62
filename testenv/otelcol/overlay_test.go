package main

import (
	"context"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/otlpexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// overlays go on top of another file. Each has a component that cannot be had here.
var overlays = map[string]string{
	"agent-loadbalancing.yaml":  "agent.yaml",
	"gateway-servicegraph.yaml": "gateway.yaml",
}

// TestOverlaysFitTheirFiles validates each overlay together with the file it is for, with a stand-in for the component
// that is missing. The stand-in of the load balancer has the real types for queue, retries and the protocol's OTLP
// exporter. What the components' own keys mean is not checked: resolver and routing_key, dimensions and store.
func TestOverlaysFitTheirFiles(t *testing.T) {
	for overlay, base := range overlays {
		t.Run(overlay, func(t *testing.T) {
			inQueueDir(t)
			if err := validate(withStandIns, shippedFile(base), shippedFile(overlay)); err != nil {
				t.Errorf("%s should go on top of %s: %v", overlay, base, err)
			}
			if err := validate(components, shippedFile(base), shippedFile(overlay)); err == nil {
				t.Errorf("the Collector has all of %s now: validate it in full, and say so in the file", overlay)
			}
		})
	}
}

func withStandIns() (otelcol.Factories, error) {
	f, err := components()
	if err != nil {
		return f, err
	}
	loadBalancing := exporter.NewFactory(component.MustNewType("load_balancing"), newLoadBalancing,
		exporter.WithTraces(func(context.Context, exporter.Settings, component.Config) (exporter.Traces, error) {
			return newStandIn()
		}, component.StabilityLevelBeta))
	serviceGraph := connector.NewFactory(component.MustNewType("service_graph"), func() component.Config {
		return &serviceGraph{}
	},
		connector.WithTracesToMetrics(
			func(context.Context, connector.Settings, component.Config, consumer.Metrics) (connector.Traces, error) {
				return newStandIn()
			}, component.StabilityLevelAlpha))
	f.Exporters[loadBalancing.Type()] = loadBalancing
	f.Connectors[serviceGraph.Type()] = serviceGraph
	return f, nil
}

// standIn takes the place of a component. Validation makes it and never starts it.
type standIn struct {
	component.StartFunc
	component.ShutdownFunc
	consumer.Traces
}

func newStandIn() (*standIn, error) {
	traces, err := consumer.NewTraces(func(context.Context, ptrace.Traces) error { return nil })
	return &standIn{Traces: traces}, err
}

type loadBalancing struct {
	exporterhelper.TimeoutConfig `mapstructure:",squash"`
	configretry.BackOffConfig    `mapstructure:"retry_on_failure"`
	Queue                        configoptional.Optional[exporterhelper.QueueBatchConfig] `mapstructure:"sending_queue"`
	RoutingKey                   string                                                   `mapstructure:"routing_key"`
	Resolver                     struct {
		DNS struct {
			Hostname string        `mapstructure:"hostname"`
			Port     string        `mapstructure:"port"`
			Interval time.Duration `mapstructure:"interval"`
		} `mapstructure:"dns"`
	} `mapstructure:"resolver"`
	Protocol struct {
		OTLP otlpexporter.Config `mapstructure:"otlp"`
	} `mapstructure:"protocol"`
}

func newLoadBalancing() component.Config {
	c := &loadBalancing{
		TimeoutConfig: exporterhelper.NewDefaultTimeoutConfig(),
		BackOffConfig: configretry.NewDefaultBackOffConfig(),
		Queue:         configoptional.Default(exporterhelper.NewDefaultQueueConfig()),
	}
	c.Protocol.OTLP = *otlpexporter.NewFactory().CreateDefaultConfig().(*otlpexporter.Config)
	c.Protocol.OTLP.ClientConfig.Endpoint = "set.by.the.resolver:4317"
	return c
}

type serviceGraph struct {
	Dimensions []string `mapstructure:"dimensions"`
	Store      struct {
		TTL      time.Duration `mapstructure:"ttl"`
		MaxItems int           `mapstructure:"max_items"`
	} `mapstructure:"store"`
	FlushInterval time.Duration `mapstructure:"metrics_flush_interval"`
}
