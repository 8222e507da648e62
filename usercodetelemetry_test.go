package mcpotel_test

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// observing returns cases for a function of the telemetry. Client and server call it in all their goroutines, so the
// user's own operation may fail.
func observing(name, callback string, option func(w *world, strike func()) telemetry.Option) []failing {
	do := func(w *world) error {
		if err := w.client.WaitForReady(w.ctx()); err != nil {
			return err
		}
		if err := w.client.Notify(w.ctx(), "x/notify", nil); err != nil {
			return err
		}
		_, err := w.client.CallTool(w.ctx(), "report", struct{}{})
		return err
	}
	anyEra := func(w *world) { // a client takes a server that fails to answer its probe for a legacy server
		speaks(w)
		w.co.Versions = nil
	}
	return []failing{
		{name: name, callbacks: []string{callback}, set: anyEra, do: do,
			observe: func(w *world) telemetry.Option { return option(w, w.strike) }},
		{name: name + " in a session", callbacks: []string{callback}, ends: anyhow, set: speaks, do: do,
			observe: func(w *world) telemetry.Option { return option(w, whenReady(w)) }},
	}
}

// watching is a log handler that calls strike.
type watching struct{ strike func() }

func (h watching) Enabled(context.Context, slog.Level) bool  { return true }
func (h watching) Handle(context.Context, slog.Record) error { h.strike(); return nil }
func (h watching) WithAttrs([]slog.Attr) slog.Handler        { return h }
func (h watching) WithGroup(string) slog.Handler             { return h }

var telemetryCases = func() []failing {
	cases := observing("logger", "telemetry.WithLogger l", func(_ *world, strike func()) telemetry.Option {
		return telemetry.WithLogger(slog.New(watching{strike}))
	})
	cases = append(cases, observing("redactor", "telemetry.WithContentCapture keep",
		func(_ *world, strike func()) telemetry.Option {
			return telemetry.WithContentCapture(func(context.Context, telemetry.Content) (string, bool) {
				strike()
				return "",
					false
			})
		})[1:]...)
	cases = append(cases, observing("notification spans", "telemetry.WithNotificationSpans wanted",
		func(_ *world, strike func()) telemetry.Option {
			return telemetry.WithNotificationSpans(func(string) bool { strike(); return true })
		})[1:]...)
	cases = append(cases, observing("span filter", "telemetry.WithFilter filter",
		func(_ *world, strike func()) telemetry.Option {
			return telemetry.WithFilter(func(context.Context, telemetry.SpanInfo) bool { strike(); return true })
		})[1:]...)
	cases = append(cases, observing("span attributes", "telemetry.WithSpanAttributesFn attributes",
		func(_ *world, strike func()) telemetry.Option {
			return telemetry.WithSpanAttributesFn(func(context.Context, telemetry.SpanInfo) []attribute.KeyValue {
				strike()
				return nil
			})
		})[1:]...)
	return append(cases, observing("public endpoint", "telemetry.WithPublicEndpointFn untrusted",
		func(_ *world, strike func()) telemetry.Option {
			return telemetry.WithPublicEndpointFn(func(context.Context) bool { strike(); return false })
		})[1:]...) // a client takes a server that does not answer its probe for a legacy server
}()
