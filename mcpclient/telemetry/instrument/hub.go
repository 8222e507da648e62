package instrument

import (
	"cmp"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/internal/settings"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/internal/words"
)

// hub is what all clients and servers of a [telemetry.Telemetry] share. It belongs to that, and is there from its first
// client or server on.
type hub struct {
	settings.Settings[telemetry.Redactor]
	tracer trace.Tracer
	ins    *instruments

	tellers tellers

	fields atomic.Pointer[[]string] // see declared
	asked  atomic.Bool              // likewise
}

// hubOf returns the hub of t, nil if t observes nothing.
func hubOf(t *telemetry.Telemetry) *hub {
	h, _ := (*settings.Source[telemetry.Redactor])(t).Instruments(newHub).(*hub)
	return h
}

func newHub(s *settings.Settings[telemetry.Redactor]) settings.Instruments {
	h := &hub{Settings: *s}
	if h.Notifications == nil {
		h.Notifications = quietNotifications
	}
	h.Log = cmp.Or(h.Log, discard)
	version := moduleVersion()
	meter := h.Meters.Meter(telemetry.ScopeName, metric.WithInstrumentationVersion(version),
		metric.WithSchemaURL(semconv.SchemaURL))
	h.tracer = h.Tracers.Tracer(telemetry.ScopeName, trace.WithInstrumentationVersion(version),
		trace.WithSchemaURL(semconv.SchemaURL))
	h.ins = instrumentsOf(meter)
	return h
}

// quietNotifications leaves out the notifications that come in numbers, and the one that belongs to a call.
func quietNotifications(method string) bool {
	switch method {
	case words.MethodProgress, words.MethodMessage, words.MethodCancelled:
		return false
	}
	return true
}

// discard is the logger of those who are not observed.
var discard = slog.New(slog.DiscardHandler)

// moduleVersion returns the version of this module in the running program, empty if it is not known.
var moduleVersion = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	if info.Main.Path == telemetry.ScopeName {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == telemetry.ScopeName {
			return m.Version
		}
	}
	return ""
})
