package instrument_test

import (
	"testing"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestGaugesSumOpenClientsWithSameName(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	tel := rec.Telemetry()
	check := func(when string, starting, queued int64) {
		t.Helper()
		if got := rec.Value("mcp_client.connection.state", "mcp_client.connection.state", "starting"); got != starting {
			t.Errorf("%s: got %d starting, want %d", when, got, starting)
		}
		if got := rec.Value("mcp_client.send.queue.length"); got != queued {
			t.Errorf("%s: got %d queued, want %d", when, got, queued)
		}
	}
	check("without clients", 0, 0)
	a, b, other := instrument.NewClient(tel, "files", pipe), instrument.NewClient(tel, "files", pipe),
		instrument.NewClient(tel, "git", pipe)
	a.Queue(func() int { return 2 })
	b.Queue(func() int { return 3 })
	check("with three clients", 3, 5)
	got := rec.Value("mcp_client.connection.state", "mcp_client.name", "files", "mcp_client.connection.state", "starting")
	if got != 2 {
		t.Errorf("two clients with the same name: got %d, want 2", got)
	}
	b.Queue(nil)
	check("without a queue", 3, 2)
	a.Close()
	a.Close()
	check("with one closed", 2, 0)
	b.Close()
	other.Close()
	check("with all closed", 0, 0)
	defer instrument.NewClient(tel, "files", pipe).Close()
	check("with a new one", 1, 0)
}

// meters is a provider with one meter, which counts the registered callbacks.
type meters struct {
	noop.MeterProvider
	meter callbackMeter
}

func (m *meters) Meter(string, ...metric.MeterOption) metric.Meter { return &m.meter }

type callbackMeter struct {
	noop.Meter
	callbacks int
}

func (m *callbackMeter) RegisterCallback(metric.Callback, ...metric.Observable) (metric.Registration, error) {
	m.callbacks++
	return &registration{meter: m}, nil
}

type registration struct {
	noop.Registration
	meter *callbackMeter
}

func (r *registration) Unregister() error {
	r.meter.callbacks--
	return nil
}

func TestCallbackIsRegisteredOnlyForOpenClients(t *testing.T) {
	m := &meters{}
	tel := telemetry.New(telemetry.WithMeterProvider(m))
	check := func(when string, want int) {
		t.Helper()
		if m.meter.callbacks != want {
			t.Errorf("%s: got %d callbacks, want %d", when, m.meter.callbacks, want)
		}
	}
	check("without clients", 0)
	a, b := instrument.NewClient(tel, "files", pipe), instrument.NewClient(tel, "git", pipe)
	check("with two", 1)
	a.Close()
	check("with one", 1)
	b.Close()
	check("with none again", 0)
	instrument.NewClient(tel, "files", pipe).Close()
	check("after another", 0)
}
