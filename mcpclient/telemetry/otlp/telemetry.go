package otlp

import "github.com/mcpotel/mcpotel/mcpclient/telemetry"

// Telemetry passes the providers, the propagator and the logger to [telemetry.New]. opts are applied after them.
func (p *Providers) Telemetry(opts ...telemetry.Option) *telemetry.Telemetry {
	own := []telemetry.Option{
		telemetry.WithTracerProvider(p.tracer),
		telemetry.WithMeterProvider(p.meter),
		telemetry.WithPropagators(p.propagator),
		telemetry.WithLogger(p.logger),
	}
	return telemetry.New(append(own, opts...)...)
}
