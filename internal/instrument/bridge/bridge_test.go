package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/slogtest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/log/embedded"

	"github.com/mcpotel/mcpotel/internal/instrument/bridge"
)

// kept is a logger that stores the records.
type kept struct {
	embedded.Logger
	got []log.Record
}

func (k *kept) Enabled(context.Context, log.EnabledParameters) bool { return true }
func (k *kept) Emit(_ context.Context, r log.Record)                { k.got = append(k.got, r) }

// plain converts attributes to the form that slogtest expects.
func plain(all []attribute.KeyValue) map[string]any {
	m := map[string]any{}
	for _, kv := range all {
		if kv.Value.Type() == attribute.MAP {
			m[string(kv.Key)] = plain(kv.Value.AsMap())
		} else {
			m[string(kv.Key)] = kv.Value.AsInterface()
		}
	}
	return m
}

func attrsOf(r log.Record) (all []attribute.KeyValue) {
	r.WalkAttributes(func(kv attribute.KeyValue) bool {
		all = append(all, kv)
		return true
	})
	return all
}

func TestHandlerFollowsRulesOfSlog(t *testing.T) {
	var to *kept
	slogtest.Run(t,
		func(*testing.T) slog.Handler {
			to = &kept{}
			return bridge.New(to, slog.LevelDebug)
		},
		func(*testing.T) map[string]any {
			r := to.got[0]
			m := plain(attrsOf(r))
			m[slog.MessageKey], m[slog.LevelKey] = r.Body().AsString(), r.Severity()
			if !r.Timestamp().IsZero() {
				m[slog.TimeKey] = r.Timestamp()
			}
			return m
		})
}

func TestEventNameAndErrorHaveOwnFields(t *testing.T) {
	to, broken := &kept{}, errors.New("broken")
	l := slog.New(bridge.New(to, slog.LevelInfo))
	l.Debug("below the level")
	l.With("event.name", "late").Warn("a", "err", broken, "second", errors.New("other"))
	if len(to.got) != 1 {
		t.Fatalf("got %d records, want 1", len(to.got))
	}
	r := to.got[0]
	if r.EventName() != "late" || r.Err() != broken || r.Severity() != log.SeverityWarn || r.SeverityText() != "WARN" {
		t.Errorf("got event %q with error %v at %v %q", r.EventName(), r.Err(), r.Severity(), r.SeverityText())
	}
	if got := plain(attrsOf(r)); len(got) != 1 || got["second"] != "other" {
		t.Errorf("attributes: got %v, want the second error as a text", got)
	}
}

func TestValuesBecomeOpenTelemetryValues(t *testing.T) {
	type point struct{ X int }
	self := []any{nil}
	self[0] = self
	for _, tt := range []struct{ in, want any }{
		{"s", "s"}, {7, int64(7)}, {1.5, 1.5}, {true, true}, {uint64(8), int64(8)}, {^uint64(0), "18446744073709551615"},
		{time.Second, int64(time.Second)}, {time.Unix(1, 0), int64(time.Second)}, {[]byte("b"), []byte("b")},
		{[]string{"a"}, "[a]"}, {map[string]int{"k": 1}, "map[k:1]"}, {new(9), int64(9)}, {(*int)(nil), nil},
		{point{1}, "{X:1}"},
	} {
		to := &kept{}
		slog.New(bridge.New(to, slog.LevelInfo)).Info("a", "k", tt.in)
		got := plain(attrsOf(to.got[0]))["k"]
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%#v: got %v, want %v", tt.in, got, tt.want)
		}
	}
	to := &kept{}
	slog.New(bridge.New(to, slog.LevelInfo)).Info("a value that holds itself ends", "k", self)
	if len(to.got) != 1 {
		t.Error("want the record of a list")
	}
}
