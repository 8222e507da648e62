package telemetry

import (
	"context"
	"reflect"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/instrument/settings"
)

// ScopeName is the name of the instrumentation scope of all spans and metrics.
const ScopeName = "github.com/mcpotel/mcpotel"

// Telemetry is the destination of a client's or server's spans, metrics and log records. [New] and [Off] return one.
// It is safe for concurrent use, and any number of clients and servers may share it. A nil Telemetry records nothing.
type Telemetry settings.Source[Redactor]

// New returns a Telemetry that uses the global OpenTelemetry providers of spans, metrics and log records, and the
// global propagator, unless options replace them. A program may call New before it sets the globals, which are used as
// soon as they are set. Calls without options return the same Telemetry while the globals are the same.
//
// The log records of clients and servers are sent
//
//   - by default, to the global LoggerProvider, from Info on;
//   - with [WithLogger], to that logger and not to the global LoggerProvider, so that a logger which exports by
//     OpenTelemetry itself makes no second copy;
//   - with [WithLoggerProvider], to that provider;
//   - with both options, to both.
func New(opts ...Option) *Telemetry {
	c := newConfig(opts)
	if len(opts) > 0 {
		return newTelemetry(c)
	}
	if last := usual.Load(); last != nil && c.sameGlobals(last.source().Settings()) {
		return last
	}
	t := newTelemetry(c)
	usual.Store(t)
	return t
}

// usual is the latest Telemetry without options. A program may call New for each of a thousand clients.
var usual atomic.Pointer[Telemetry]

// sameGlobals reports whether s has the same providers and propagator.
func (c *config) sameGlobals(s *settings.Settings[Redactor]) bool {
	return same(c.Tracers, s.Tracers) && same(c.Meters, s.Meters) && same(c.Propagator, s.Propagator) &&
		same(c.Records, s.Records)
}

// same reports whether a and b are equal, as far as they can be compared. A composite propagator is a slice.
func same(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case x.Type() != y.Type():
		return false
	case x.Kind() == reflect.Slice:
		return x.Len() == y.Len() && x.Pointer() == y.Pointer()
	}
	return x.Comparable() && y.Comparable() && a == b
}

func newTelemetry(c *config) *Telemetry { return (*Telemetry)(settings.NewSource(&c.Settings)) }

// Off returns a Telemetry that records nothing. Its clients and servers have no overhead.
func Off() *Telemetry { return new(Telemetry) }

// ToolNameLimit returns the number of tool and prompt names that the metrics of each client or server distinguish, or
// 0 if t is off.
func (t *Telemetry) ToolNameLimit() int {
	s := t.source().Settings()
	if s == nil {
		return 0
	}
	return s.ToolLimit
}

// Flush waits until the log handler has the records that clients and servers have written through their queues so
// far. If ctx ends first, Flush returns its cause. An ended call has already waited for its own records.
func (t *Telemetry) Flush(ctx context.Context) error { return t.source().Flush(ctx) }

func (t *Telemetry) source() *settings.Source[Redactor] { return (*settings.Source[Redactor])(t) }
