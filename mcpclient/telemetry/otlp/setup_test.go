package otlp

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

func TestShutdownDeliversAllSignals(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	p := setup(t, WithEndpoint(sink.Endpoint()), WithServiceName("agent"), WithServiceVersion("v1.2.3"))
	sc := record(t, p)
	shutdown(t, p)

	got := sink.Snapshot()
	spans, points, records := got.SpansNamed("work"), got.PointsOf("works"), got.RecordsOf("work.done")
	if len(spans) != 1 || len(points) != 1 || len(records) != 1 {
		t.Fatalf("got %d spans, %d points and %d log records, want 1 of each", len(spans), len(points), len(records))
	}
	for signal, o := range map[string]otlpsink.Origin{
		"span": spans[0].Origin, "point": points[0].Origin, "record": records[0].Origin,
	} {
		if o.Service() != "agent" || o.Resource["service.version"] != "v1.2.3" {
			t.Errorf("resource of the %s = %v, want service agent v1.2.3", signal, o.Resource)
		}
	}
	r := records[0]
	if r.TraceID != sc.TraceID().String() || r.SpanID != sc.SpanID().String() {
		t.Errorf("log record has trace %s and span %s, want %v", r.TraceID, r.SpanID, sc)
	}
	if diff := cmp.Diff(map[string]any{"pieces": int64(3)}, r.Attributes); diff != "" {
		t.Errorf("attributes of the log record, without event.name, which becomes the event name (-want +got):\n%s", diff)
	}
	if x := points[0].Exemplars; len(x) != 1 || x[0].SpanID != sc.SpanID().String() {
		t.Errorf("exemplars of the point = %v, want one of span %v", x, sc.SpanID())
	}
}

func TestTheEnvironmentConfiguresSetup(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+sink.Endpoint())
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_SERVICE_NAME", "from-env")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,service.version=v9")
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	p := setup(t, WithServiceName("from-option"), WithServiceVersion("v1"))
	record(t, p)
	shutdown(t, p)

	got := sink.Snapshot()
	if len(got.Spans) != 1 || len(got.Points) != 0 || len(got.Records) != 1 {
		t.Fatalf("got %d spans, %d points, %d records; want 1, 0 (exporter none), 1", len(got.Spans), len(got.Points),
			len(got.Records))
	}
	res := got.Spans[0].Resource
	for key, want := range map[string]any{
		"service.name": "from-env", "service.version": "v9", "deployment.environment.name": "test",
	} {
		if res[key] != want {
			t.Errorf("resource %s = %v, want %v from the environment", key, res[key], want)
		}
	}
}

func TestEnvironmentSetsSampler(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	p := setup(t, WithEndpoint(sink.Endpoint()))
	record(t, p)
	shutdown(t, p)
	if got := sink.Snapshot(); len(got.Spans) != 0 || len(got.Points) != 1 {
		t.Errorf("got %d spans and %d points, want none and 1", len(got.Spans), len(got.Points))
	}
}

func TestWithEndpointOverridesEnvironment(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "https://192.0.2.1:4317")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret")
	t.Setenv("OTEL_TRACES_EXPORTER", "none")
	p := setup(t, WithEndpoint(sink.Endpoint()))
	record(t, p)
	shutdown(t, p)
	if got := sink.Snapshot(); len(got.Spans) != 1 || len(got.Points) != 1 || len(got.Records) != 1 {
		t.Errorf("got %d spans, %d points, %d records; want 1 of each", len(got.Spans), len(got.Points), len(got.Records))
	}
}

func TestDisabledSDKKeepsConsoleAndPropagators(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	var console bytes.Buffer
	t.Setenv("OTEL_SDK_DISABLED", "TRUE")
	t.Setenv("OTEL_PROPAGATORS", "baggage")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "irrelevant")
	p := setup(t, WithEndpoint(sink.Endpoint()), WithConsole(&console, nil))
	if sc := record(t, p); sc.IsValid() {
		t.Errorf("span context = %v, want none", sc)
	}
	if err := p.ForceFlush(t.Context()); err != nil {
		t.Errorf("ForceFlush: %v", err)
	}
	shutdown(t, p)
	if got := sink.Snapshot(); len(got.Spans)+len(got.Points)+len(got.Records) != 0 {
		t.Errorf("received %+v, want nothing", got)
	}
	if got := p.Propagator().Fields(); !slices.Equal(got, []string{"baggage"}) {
		t.Errorf("propagator writes %q, want baggage", got)
	}
	if !strings.Contains(console.String(), "work done") {
		t.Errorf("console = %q, want the log record", console.String())
	}
}

func TestResourceDescribesProcessWithoutArguments(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	p := setup(t, WithEndpoint(sink.Endpoint()))
	record(t, p)
	shutdown(t, p)
	res := sink.Snapshot().Spans[0].Resource
	for _, key := range []string{
		"service.name", "service.instance.id", "telemetry.sdk.name", "host.name", "os.type", "process.pid",
		"process.executable.name", "process.runtime.name", "process.runtime.version",
	} {
		if _, ok := res[key]; !ok {
			t.Errorf("the resource lacks %s", key)
		}
	}
	for key := range maps.Keys(res) {
		if strings.HasPrefix(key, "process.command") || key == "process.executable.path" || key == "process.owner" {
			t.Errorf("the resource has %s", key)
		}
	}
	if name, _ := res["service.name"].(string); !strings.HasPrefix(name, "unknown_service:") {
		t.Errorf("service.name = %q, want unknown_service: and the executable", name)
	}
}

func TestPartiallyInvalidResourceAttributesAreAccepted(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "good=1,broken")
	p := setup(t, WithEndpoint(sink.Endpoint()))
	record(t, p)
	shutdown(t, p)
	if got := sink.Snapshot().Spans[0].Resource["good"]; got != "1" {
		t.Errorf("resource attribute good = %v, want 1 although the next attribute is invalid", got)
	}
}

func TestExportIntervalExportsWithoutFlush(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	p := setup(t, WithEndpoint(sink.Endpoint()), WithExportInterval(10*time.Millisecond))
	record(t, p)
	got, err := sink.WaitFor(patient(t), func(s otlpsink.Snapshot) bool {
		return len(s.Spans) > 0 && len(s.Points) > 0 && len(s.Records) > 0
	})
	if err != nil {
		t.Fatalf("with an interval of 10ms: %v; got %d spans, %d points, %d records",
			err, len(got.Spans), len(got.Points), len(got.Records))
	}
}

func TestForceFlushExportsAllSignals(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	p := setup(t, WithEndpoint(sink.Endpoint()))
	record(t, p)
	if err := p.ForceFlush(patient(t)); err != nil {
		t.Fatalf("ForceFlush: %v", err)
	}
	if got := sink.Snapshot(); len(got.Spans) != 1 || len(got.Points) != 1 || len(got.Records) != 1 {
		t.Errorf("got %d spans, %d points, %d records; want 1 of each", len(got.Spans), len(got.Points), len(got.Records))
	}
}

func ExampleSetup() {
	run := func(ctx context.Context) (err error) {
		tel, err := Setup(ctx, WithServiceName("my-agent"))
		if err != nil {
			return err
		}
		defer func() {
			if e := tel.Shutdown(context.WithoutCancel(ctx)); err == nil {
				err = e
			}
		}()
		tel.Logger().InfoContext(ctx, "ready")
		return nil
	}
	_ = run(context.Background())
}
