package stack_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/command/prom"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/testenv/stack"
	"github.com/mcpotel/mcpotel/testenv/stack/jaeger"
)

const topic = "mcpotel-spans"

// collectorFiles returns configurations in the directory collector.
func collectorFiles(names ...string) (files []string) {
	for _, name := range names {
		files = append(files, filepath.Join("..", "..", "collector", name))
	}
	return files
}

// TestTwoGatewaysSeeWholeTraces uses two gateways that keep only traces with an error. Client and server of a call
// export one after the other, and only the server's span has the error. So the client's span is kept only if the same
// gateway has it.
func TestTwoGatewaysSeeWholeTraces(t *testing.T) {
	for name, set := range map[string]func(*testing.T, *stack.Options){
		"load_balancing": func(t *testing.T, o *stack.Options) {
			o.Agent = append(collectorFiles("agent.yaml", "agent-loadbalancing.yaml"), "agent-two-gateways.yaml")
		},
		"kafka": func(t *testing.T, o *stack.Options) {
			o.Agent = collectorFiles("agent.yaml", "agent-kafka.yaml")
			o.Gateway = collectorFiles("gateway.yaml", "gateway-kafka.yaml")
			o.CollectorEnv = append(o.CollectorEnv, "MCPOTEL_KAFKA_BROKERS="+kafka(t))
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := limit(t, 2*time.Minute)
			o := stack.Options{SecondGateway: true, Sampling: 1e-6}
			set(t, &o)
			s := own(t, ctx, o)
			calls := callsOf(t, s)
			bothWork(t, ctx, s, calls)
			calls.make(t, ctx, 60)
			for _, id := range calls.failed {
				whole(t, ctx, s, id, 2)
			}
			for _, id := range calls.fine {
				absent(t, ctx, s, id, "a call that succeeded")
			}
		})
	}
}

// TestKafkaMovesTracesOfADeadGatewayToTheOther kills one of two gateways. When its session in Kafka expires (10 s), the
// other gateway gets its partitions and reads the waiting data.
func TestKafkaMovesTracesOfADeadGatewayToTheOther(t *testing.T) {
	ctx := limit(t, 2*time.Minute)
	s := own(t, ctx, stack.Options{
		SecondGateway: true, Agent: collectorFiles("agent.yaml", "agent-kafka.yaml"),
		Gateway:      collectorFiles("gateway.yaml", "gateway-kafka.yaml"),
		CollectorEnv: []string{"MCPOTEL_KAFKA_BROKERS=" + kafka(t)},
	})
	calls := callsOf(t, s)
	bothWork(t, ctx, s, calls)
	s.Second.Kill()
	calls.make(t, ctx, 60)
	for _, id := range append(calls.failed, calls.fine...) {
		if tr, err := s.Traces.Await(ctx, id, func(tr *jaeger.Trace) bool {
			return len(tr.Find("CLIENT", "tools/call")) > 0 && len(tr.Find("SERVER", "tools/call")) > 0
		}); err != nil {
			t.Errorf("%v\n%v", err, tr)
		}
	}
}

// bothWork makes calls until both gateways have exported some: Kafka assigns the partitions with a heartbeat (3 s).
func bothWork(t *testing.T, ctx context.Context, s *stack.Stack, calls *halfCalls) {
	t.Helper()
	until(t, ctx, "both gateways export spans", func() bool {
		calls.make(t, ctx, 10)
		all, err := s.Metrics.Query(ctx, `{__name__=~"otelcol_exporter_sent_spans(_total)?",tier="gateway"} > 0`)
		return err == nil && len(all) == 2
	})
}

// kafka starts a Kafka with one broker and eight partitions, and returns its address in the form for the
// configurations.
func kafka(t *testing.T) string {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(8, topic),
		kfake.GroupMinSessionTimeout(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return fmt.Sprintf("[%s]", c.ListenAddrs()[0])
}

// halfCalls makes calls whose client and server export to a stack separately.
type halfCalls struct {
	client, server *otlp.Providers
	fine, failed   []string // ids of the traces
}

func callsOf(t *testing.T, s *stack.Stack) *halfCalls {
	return &halfCalls{client: service(t, s, "tiers-client"), server: service(t, s, "tiers-server")}
}

// make makes n calls; the server fails every second one. All clients' spans are exported before any server's.
func (c *halfCalls) make(t *testing.T, ctx context.Context, n int) {
	t.Helper()
	c.fine, c.failed = nil, nil
	var sent []context.Context
	for range n {
		ctx, span := c.client.TracerProvider().Tracer("test").
			Start(ctx, "tools/call", trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindClient))
		span.End()
		sent = append(sent, ctx)
	}
	flush(t, c.client)
	for i, ctx := range sent {
		served := operation(trace.SpanKindServer, "tools/call")
		served.failed = i%2 == 0
		served.tell(ctx, c.server.TracerProvider().Tracer("test"), time.Now())
		id := trace.SpanContextFromContext(ctx).TraceID().String()
		if served.failed {
			c.failed = append(c.failed, id)
		} else {
			c.fine = append(c.fine, id)
		}
	}
	flush(t, c.server)
}

func TestServiceGraphSaysWhoCallsWhom(t *testing.T) {
	ctx := limit(t, time.Minute)
	s := own(t, ctx, stack.Options{Gateway: collectorFiles("gateway.yaml", "gateway-servicegraph.yaml")})
	const n = 20
	callsOf(t, s).make(t, ctx, n)
	edge := `{client="tiers-client",server="tiers-server"}`
	await(t, ctx, s, "sum(traces_service_graph_request_total"+edge+")", func(all []prom.Series) bool {
		return len(all) == 1 && all[0].Value() == n
	})
	await(t, ctx, s, "sum(traces_service_graph_request_failed_total"+edge+")", func(all []prom.Series) bool {
		return len(all) == 1 && all[0].Value() == n/2
	})
}
