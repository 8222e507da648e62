package transport_test

import (
	"context"
	"log/slog"
	"sync"
)

// journal is a slog.Handler that keeps its records, as level, message and attributes.
type journal struct {
	mu      sync.Mutex
	records []map[string]string
	level   slog.Level
	added   chan struct{}
}

func (j *journal) Enabled(_ context.Context, l slog.Level) bool { return l >= j.level }
func (j *journal) WithAttrs([]slog.Attr) slog.Handler           { return j }
func (j *journal) WithGroup(string) slog.Handler                { return j }

func (j *journal) Handle(_ context.Context, r slog.Record) error {
	record := map[string]string{"level": r.Level.String(), "message": r.Message}
	r.Attrs(func(a slog.Attr) bool {
		record[a.Key] = a.Value.String()
		return true
	})
	j.mu.Lock()
	j.records = append(j.records, record)
	j.mu.Unlock()
	j.added <- struct{}{}
	return nil
}
