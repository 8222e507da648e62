package doctor

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// maxRejected bounds the rejected tools that a witness stores.
const maxRejected = 100

// witness is a log handler that stores the client's events that the checks need.
type witness struct {
	next slog.Handler // receives all records; nil for none

	mu         sync.Mutex
	violations map[string]int // guarded by mu; number of violations by reason
	rejected   []rejection    // guarded by mu; tools that the client does not use
}

// rejection is a tool that the client does not use, and the reason.
type rejection struct{ tool, why string }

func newWitness(next slog.Handler) *witness {
	return &witness{next: next, violations: map[string]int{}}
}

// Enabled, WithAttrs and WithGroup implement slog.Handler. Attributes and groups are not supported, because a client
// does not use them.
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

// keep stores the data of a record that the checks need.
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
		n := 0 // the summary of suppressed records does not count as a frame
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

// violationCounts returns the number of violations by reason.
func (w *witness) violationCounts() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.violations)
}

// rejectedTools returns the tools that the client has rejected, with the reasons.
func (w *witness) rejectedTools() []rejection {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.rejected)
}
