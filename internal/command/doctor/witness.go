package doctor

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// maxRejected bounds the names of tools that a witness keeps.
const maxRejected = 100

// witness hears of the events of a client, which are log records: of them it keeps what the checks need.
type witness struct {
	next slog.Handler // that hears of all events; nil for none

	mu         sync.Mutex
	violations map[string]int // guarded by mu; by the reason
	rejected   []rejection    // guarded by mu; tools that the client does not use
}

// rejection is a tool that cannot be used, and why.
type rejection struct{ tool, why string }

func newWitness(next slog.Handler) *witness {
	return &witness{next: next, violations: map[string]int{}}
}

// Enabled, WithAttrs and WithGroup are those of a handler whose loggers are used as they are, as a client does.
func (w *witness) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn || w.next != nil && w.next.Enabled(ctx, l)
}
func (w *witness) WithAttrs([]slog.Attr) slog.Handler { return w }
func (w *witness) WithGroup(string) slog.Handler      { return w }

func (w *witness) Handle(ctx context.Context, r slog.Record) error {
	w.keep(r)
	if w.next == nil {
		return nil
	}
	return w.next.Handle(ctx, r)
}

// keep keeps what the checks need of an event.
func (w *witness) keep(r slog.Record) {
	fields := map[string]slog.Value{}
	r.Attrs(func(a slog.Attr) bool {
		fields[a.Key] = a.Value.Resolve()
		return true
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	switch r.Message {
	case names.EventMCPClientProtocolViolation:
		n := 0 // the last record of several that were left out is about no frame
		if _, frame := fields[names.KeyMCPClientFrameSize]; frame {
			n++
		}
		if v, ok := fields[names.KeyMCPClientSuppressed]; ok {
			n += int(v.Int64())
		}
		w.violations[fields[names.KeyMCPClientViolationReason].String()] += n
	case names.EventMCPClientToolRejected:
		if len(w.rejected) < maxRejected {
			w.rejected = append(w.rejected, rejection{fields[names.KeyGenAIToolName].String(),
				fields[names.KeyExceptionMessage].String()})
		}
	}
}

// violated returns how many frames broke the protocol, by the reason.
func (w *witness) violated() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.violations)
}

// refused returns the tools that the client does not use.
func (w *witness) refused() []rejection {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.rejected)
}
