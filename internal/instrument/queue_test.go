package instrument

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/internal/instrument/records"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// gate is a log handler that blocks until it is opened.
type gate struct {
	slog.Handler
	open chan struct{}
	got  *[]string
	quit bool // the handler ends its goroutine
}

func (g gate) Enabled(context.Context, slog.Level) bool { return true }

func (g gate) WithAttrs([]slog.Attr) slog.Handler { return g }

func (g gate) Handle(_ context.Context, r slog.Record) error {
	<-g.open
	said := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == names.KeyMCPClientSuppressed {
			said += " " + a.Value.String()
		}
		return true
	})
	*g.got = append(*g.got, said)
	if g.quit {
		runtime.Goexit()
	}
	return nil
}

// gated runs f in a bubble with a client whose log handler waits until the test closes open.
func gated(t *testing.T, quit bool, f func(t *testing.T, tel *telemetry.Telemetry, c *Client, open chan struct{},
	got *[]string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		open, got := make(chan struct{}), new([]string)
		tel := telemetry.New(telemetry.WithLogger(slog.New(gate{open: open, got: got, quit: quit})))
		f(t, tel, NewClient(tel, "c", Network{}), open, got)
	})
}

func TestQueuedRecordsKeepOrder(t *testing.T) {
	for _, quit := range []bool{false, true} {
		gated(t, quit, func(t *testing.T, tel *telemetry.Telemetry, c *Client, open chan struct{}, got *[]string) {
			for i := range 100 {
				c.logs.emit(t.Context(), slog.LevelInfo, fmt.Sprint("event ", i))
			}
			over, cancel := context.WithCancelCause(t.Context())
			late := errors.New("late")
			cancel(late)
			if err := tel.Flush(over); err != late {
				t.Errorf("flush while the handler does not return: got %v, want %v", err, late)
			}
			close(open)
			if err := tel.Flush(t.Context()); err != nil || len(*got) != 100 {
				t.Fatalf("flush: %v with %d records written, want 100", err, len(*got))
			}
			for i, e := range *got {
				if e != fmt.Sprint("event ", i) {
					t.Errorf("record %d: got %q", i, e)
				}
			}
			c.Close()
			c.logs.emit(t.Context(), slog.LevelInfo, "after the end")
			synctest.Wait()
			if last := (*got)[len(*got)-1]; last != "after the end" {
				t.Errorf("got %q as the last record", last)
			}
		})
	}
}

func TestDroppedRecordsAreCounted(t *testing.T) {
	for name, tt := range map[string]struct{ size, room int }{
		"many":  {0, records.MaxRecords},
		"large": {10_000, records.MaxBytes / 10_500},
	} {
		gated(t, false, func(t *testing.T, _ *telemetry.Telemetry, c *Client, open chan struct{}, got *[]string) {
			const sent = 3000
			for range sent {
				c.logs.emit(t.Context(), slog.LevelInfo, "event", slog.String("text", strings.Repeat("x", tt.size)))
				synctest.Wait() // until the handler has the first record
			}
			queue := reflect.ValueOf(&c.logs.loggers().queue).Elem()
			bytes, waiting := queue.FieldByName("bytes").Int(), queue.FieldByName("waiting").Len()
			if bytes > records.MaxBytes || waiting > records.MaxRecords || waiting < tt.room {
				t.Errorf("%s: %d records of %d bytes wait", name, waiting, bytes)
			}
			close(open)
			c.Close()
			written := len(*got) - 1
			if want := fmt.Sprint(names.EventMCPClientLogLost, " ", sent-written); (*got)[written] != want {
				t.Errorf("%s: the last record is %q, want %q", name, (*got)[written], want)
			}
		})
	}
}

// Lose writes the record about dropped records.
func (s *Server) Lose(records int) { s.logs.ReportLost(records) }

func TestFlushWaitsForEarlierRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open, got := make(chan struct{}), new([]string)
		s := NewServer(telemetry.New(telemetry.WithLogger(slog.New(gate{open: open, got: got}))), "s", Network{})
		s.logs.emit(t.Context(), slog.LevelInfo, "before")
		flushed := make(chan error)
		go func() { flushed <- s.Flush(t.Context()) }()
		synctest.Wait()
		s.logs.emit(t.Context(), slog.LevelInfo, "behind")
		open <- struct{}{} // releases only the first record
		if err := <-flushed; err != nil {
			t.Error(err)
		}
		if len(*got) != 1 || (*got)[0] != "before" {
			t.Errorf("got %q written, want the records before the flush", *got)
		}
		close(open)
	})
}
