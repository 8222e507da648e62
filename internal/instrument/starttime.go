package instrument

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// processStart is the time, in seconds since 1970, at which this process created its first client or server. All meters
// share it, so that none reports a start later than the first event that it counted.
var processStart = sync.OnceValue(func() float64 { return float64(time.Now().UnixMilli()) / 1000 })

// startTime reports when the process began to count, from the first client or server on. It does not end with the last
// one, as the counters do not. Its callback belongs to the instrument and keeps no client alive.
type startTime struct {
	started atomic.Bool
}

// start makes the metric have a value.
func (s *startTime) start() { s.started.Store(true) }

// build makes the instrument.
func (s *startTime) build(m metric.Meter, name string) {
	processStart()
	buildWith(m.Float64ObservableGauge, rowOf(name),
		metric.Float64ObservableGaugeOption(metric.WithFloat64Callback(s.observe)))
}

func (s *startTime) observe(_ context.Context, o metric.Float64Observer) error {
	if s.started.Load() {
		o.Observe(processStart())
	}
	return nil
}
