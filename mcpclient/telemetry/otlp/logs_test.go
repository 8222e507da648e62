package otlp

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestLoggerWithoutExporterIsDisabled(t *testing.T) {
	cleanEnv(t)
	t.Setenv("OTEL_SDK_DISABLED", "true")
	if setup(t).Logger().Enabled(t.Context(), slog.LevelError) {
		t.Error("the logger is enabled for errors although there is no exporter")
	}
}

func TestConsoleAndExportHaveOwnLevels(t *testing.T) {
	cleanEnv(t)
	for _, tc := range []struct {
		name                     string
		opts                     func(console *bytes.Buffer) []Option
		wantConsole, wantExports []string
	}{
		{"default", func(b *bytes.Buffer) []Option { return []Option{WithConsole(b, nil)} },
			[]string{"info", "warn"}, []string{"info", "warn"}},
		{"debug console", func(b *bytes.Buffer) []Option {
			return []Option{WithConsole(b, slog.LevelDebug), WithLogLevel(slog.LevelWarn)}
		},
			[]string{"debug", "info", "warn"}, []string{"warn"}},
		{"debug export", func(b *bytes.Buffer) []Option {
			return []Option{WithConsole(b, slog.LevelWarn), WithLogLevel(slog.LevelDebug)}
		},
			[]string{"warn"}, []string{"debug", "info", "warn"}},
		{"nil export level",
			func(b *bytes.Buffer) []Option { return []Option{WithConsole(b, slog.LevelWarn), WithLogLevel(nil)} },
			[]string{"warn"}, []string{"info", "warn"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sink := listen(t)
			var console bytes.Buffer
			p := setup(t, append(tc.opts(&console), WithEndpoint(sink.Endpoint()))...)
			log := p.Logger().With("k", "v")
			log.Debug("debug")
			log.Info("info")
			log.WithGroup("g").Warn("warn", "in", 1)
			shutdown(t, p)

			var exported []string
			for _, r := range sink.Snapshot().Records {
				exported = append(exported, r.Body.(string))
			}
			if !slices.Equal(exported, tc.wantExports) {
				t.Errorf("exported %q, want %q", exported, tc.wantExports)
			}
			var shown []string
			for line := range strings.Lines(console.String()) {
				shown = append(shown, strings.Fields(line)[2])
			}
			if !slices.Equal(shown, tc.wantConsole) {
				t.Errorf("console shows %q, want %q", shown, tc.wantConsole)
			}
		})
	}
}

func TestLoggerIsSafeForConcurrentUse(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	var console bytes.Buffer
	p := setup(t, WithEndpoint(sink.Endpoint()), WithConsole(&console, nil))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				p.Logger().With("a", 1).WithGroup("g").Info("line", "event.name", "x", "b", 2)
			}
		})
	}
	wg.Wait()
	shutdown(t, p)
	if got := len(sink.Snapshot().Records); got != 400 {
		t.Errorf("exported %d records, want 400", got)
	}
	if got := strings.Count(console.String(), "\n"); got != 400 {
		t.Errorf("console has %d lines, want 400", got)
	}
}
