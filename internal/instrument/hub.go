package instrument

import (
	"context"
	"log/slog"
	"sync/atomic"

	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/bridge"
	"github.com/mcpotel/mcpotel/internal/instrument/records"
	"github.com/mcpotel/mcpotel/internal/instrument/settings"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// hub holds the state that all clients and servers of a [telemetry.Telemetry] share. The Telemetry owns its hub, and
// creates it with the first client or server.
type hub struct {
	settings.Settings[telemetry.Redactor]
	tracer trace.Tracer
	ins    *instruments

	handler slog.Handler // receives all records: the user's handler, the bridge to the LoggerProvider, or both
	ours    bool         // handler runs no user code

	queues records.Set // queues of clients and servers with records to write

	fields  atomic.Pointer[[]string] // keys that the propagator declares; nil until they are known
	advised atomic.Bool              // the advice of [Op.logJoinAdvice] has been logged
	late    late
}

// hubOf returns the hub of t, or nil if t records nothing.
func hubOf(t *telemetry.Telemetry) *hub {
	h, _ := (*settings.Source[telemetry.Redactor])(t).Instruments(newHub).(*hub)
	return h
}

func newHub(s *settings.Settings[telemetry.Redactor]) settings.Instruments {
	h := &hub{Settings: *s}
	if h.Notifications == nil {
		h.Notifications = spanByDefault
	}
	h.tracer = h.Tracers.Tracer(telemetry.ScopeName, trace.WithInstrumentationVersion(telemetry.Version),
		trace.WithSchemaURL(names.SchemaURL))
	h.ins = instrumentsOf(h.Meters)
	h.late.init(&h.Settings)
	h.handler, h.ours = h.logHandler()
	return h
}

// Flush waits until the log handler has all records that the queues have accepted so far. If ctx ends first, Flush
// returns its cause.
func (h *hub) Flush(ctx context.Context) error { return h.queues.Flush(ctx) }

// logHandler returns the handler of all records. ours reports whether it runs no user code.
func (h *hub) logHandler() (_ slog.Handler, ours bool) {
	if h.Records == nil {
		return h.Log.Handler(), false
	}
	logger := h.Records.Logger(telemetry.ScopeName, log.WithInstrumentationVersion(telemetry.Version),
		log.WithSchemaURL(names.SchemaURL))
	events := bridge.New(logger, h.RecordLevel)
	if h.Log == nil {
		return events, true
	}
	return slog.NewMultiHandler(h.Log.Handler(), events), false
}

// spanByDefault reports whether a notification has a span by default. Frequent notifications (progress, log messages)
// and cancellations, which belong to a call, have none.
func spanByDefault(method string) bool {
	switch method {
	case words.MethodProgress, words.MethodMessage, words.MethodCancelled:
		return false
	}
	return true
}

// discard is the logger of a nil Client.
var discard = slog.New(slog.DiscardHandler)
