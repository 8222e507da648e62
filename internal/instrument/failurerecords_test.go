package instrument_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// failure makes a client or a server fail.
type failure func(*testing.T, *instrument.Client, *instrument.Server)

// failures lists all failures with a record above Debug that can happen with every call, message or list. Each failure
// writes one record of its event, at its level.
var failures = []struct {
	event string
	level slog.Level
	fail  failure
}{
	{names.EventMCPClientRequestException, slog.LevelWarn, requestFails(instrument.Result{Err: lost{}})},
	{names.EventMCPClientRequestToolError, slog.LevelInfo, requestFails(instrument.Result{ToolError: true})},
	{names.EventMCPClientHandlerException, slog.LevelWarn, answerFails(instrument.Result{ErrorType: names.ErrorTimeout})},
	{names.EventMCPClientHandlerException, slog.LevelError, answerFails(instrument.Result{Code: -32603, HasCode: true})},
	{names.EventMCPClientHandlerPanic, slog.LevelError, func(t *testing.T, c *instrument.Client, _ *instrument.Server) {
		c.HandlerPanic(t.Context(), "roots/list", "boom", []byte(stack))
	}},
	{names.EventMCPClientToolRejected, slog.LevelWarn, func(_ *testing.T, c *instrument.Client, _ *instrument.Server) {
		c.ToolRejected("search", errBroken)
	}},
	{names.EventMCPClientToolOutputUnchecked, slog.LevelWarn,
		func(_ *testing.T, c *instrument.Client, _ *instrument.Server) { c.OutputUnchecked("search", errBroken) }},
	{names.EventMCPClientSubscriptionLost, slog.LevelWarn, func(_ *testing.T, c *instrument.Client, _ *instrument.Server) {
		c.SubscriptionLost("file:///x", errBroken)
	}},
	{names.EventMCPServerRequestException, slog.LevelError, callFails(instrument.Result{Code: -32603, HasCode: true})},
	{names.EventMCPServerRequestException, slog.LevelWarn, callFails(instrument.Result{ErrorType: names.ErrorTimeout})},
	{names.EventMCPServerRequestToolError, slog.LevelInfo, callFails(instrument.Result{ToolError: true})},
	{names.EventMCPServerHandlerPanic, slog.LevelError, func(t *testing.T, _ *instrument.Client, s *instrument.Server) {
		s.HandlerPanic(t.Context(), "tools/call", "boom", []byte(stack))
	}},
	{names.EventMCPServerAskException, slog.LevelWarn, func(t *testing.T, _ *instrument.Client, s *instrument.Server) {
		_, op := s.StartRequest(t.Context(), instrument.Request{Method: "roots/list"})
		op.End(instrument.Result{Err: lost{}})
	}},
	{names.EventMCPServerTaskEnd, slog.LevelError, func(t *testing.T, _ *instrument.Client, s *instrument.Server) {
		_, task := s.StartTask(t.Context(), "add")
		task.End("failed", instrument.Result{Code: -32603, HasCode: true})
	}},
}

func requestFails(r instrument.Result) failure {
	return func(t *testing.T, c *instrument.Client, _ *instrument.Server) {
		_, op := c.StartRequest(t.Context(), instrument.Request{Method: "tools/call", TargetKind: instrument.Tool,
			Target: "read"})
		op.End(r)
	}
}

func answerFails(r instrument.Result) failure {
	return func(t *testing.T, c *instrument.Client, _ *instrument.Server) {
		_, op := c.StartHandler(t.Context(), instrument.Incoming{Method: "roots/list", Known: true})
		op.End(r)
	}
}

func callFails(r instrument.Result) failure {
	return func(t *testing.T, _ *instrument.Client, s *instrument.Server) {
		_, op := s.StartHandler(t.Context(), instrument.Incoming{Method: "tools/call", TargetKind: instrument.Tool,
			Target: "add", Known: true, TargetKnown: true})
		op.End(r)
	}
}

// counted is a handler that counts the records of each event, and adds up the numbers of suppressed records in them.
type counted struct {
	slog.Handler
	level slog.Level
	mu    *sync.Mutex
	seen  map[string]*count // by event and level; guarded by mu
}

type count struct{ records, suppressed int }

func newCounted(level slog.Level) counted {
	return counted{slog.DiscardHandler, level, new(sync.Mutex), map[string]*count{}}
}

func (h counted) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }
func (h counted) WithAttrs([]slog.Attr) slog.Handler           { return h }

func (h counted) Handle(_ context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := fmt.Sprint(r.Message, " ", r.Level)
	if h.seen[k] == nil {
		h.seen[k] = &count{}
	}
	h.seen[k].records++
	r.Attrs(func(a slog.Attr) bool {
		if strings.HasSuffix(a.Key, ".suppressed") {
			h.seen[k].suppressed += int(a.Value.Int64())
		}
		return true
	})
	return nil
}

func (h counted) of(event string, l slog.Level) count {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := h.seen[fmt.Sprint(event, " ", l)]; n != nil {
		return *n
	}
	return count{}
}

func TestFailureRecordsAreLimitedAndCounted(t *testing.T) {
	const times = 2000
	for _, f := range failures {
		t.Run(fmt.Sprint(f.event, " ", f.level), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := newCounted(slog.LevelInfo)
				tel := telemetry.New(telemetry.WithLogger(slog.New(log)))
				c, s := instrument.NewClient(tel, "x", network), instrument.NewServer(tel, "x", network)
				for range times {
					f.fail(t, c, s)
				}
				synctest.Wait()
				if got, want := log.of(f.event, f.level), (count{5, 0}); got != want {
					t.Errorf("%d failures at once: got %+v, want %+v", times, got, want)
				}
				passes(time.Second)
				f.fail(t, c, s)
				f.fail(t, c, s)
				synctest.Wait()
				if got, want := log.of(f.event, f.level), (count{6, times - 5}); got != want {
					t.Errorf("two more after a second: got %+v, want %+v", got, want)
				}
				c.Close()
				s.Close()
				synctest.Wait()
				lost := log.of(names.EventMCPClientLogLost, slog.LevelWarn)
				lostOfServer := log.of(names.EventMCPServerLogLost, slog.LevelWarn)
				if got := lost.suppressed + lostOfServer.suppressed; got != 1 {
					t.Errorf("after the end: %d failures are reported as suppressed, want 1", got)
				}
			})
		})
	}
}

// If the log accepts Debug, each exception has a record. Then no record reports suppressed exceptions.
func TestExceptionsBeyondLimitHaveLevelDebug(t *testing.T) {
	const times = 500 // the queue for the log handler can hold more
	for _, f := range failures {
		if !strings.HasSuffix(f.event, ".exception") {
			continue
		}
		t.Run(fmt.Sprint(f.event, " ", f.level), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := newCounted(slog.LevelDebug)
				tel := telemetry.New(telemetry.WithLogger(slog.New(log)))
				c, s := instrument.NewClient(tel, "x", network), instrument.NewServer(tel, "x", network)
				for range times {
					f.fail(t, c, s)
				}
				c.Close()
				s.Close()
				synctest.Wait()
				if got, want := log.of(f.event, slog.LevelDebug).records, times-5; got != want {
					t.Errorf("%d failures: got %d records at Debug, want %d", times, got, want)
				}
				if got := log.of(names.EventMCPClientLogLost, slog.LevelWarn); got != (count{}) {
					t.Errorf("exceptions with a record at Debug are reported as suppressed: %+v", got)
				}
			})
		})
	}
}

// Each method and error type has its own limit, so that one error does not hide another.
func TestEachErrorAndMethodHasOwnLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newCounted(slog.LevelInfo)
		c := instrument.NewClient(telemetry.New(telemetry.WithLogger(slog.New(log))), "x", network)
		defer c.Close()
		for range 100 {
			for _, method := range []string{"tools/call", "resources/read"} {
				for _, r := range []instrument.Result{{Err: lost{}}, {ErrorType: names.ErrorTimeout},
					{Code: -32603, HasCode: true}} {
					_, op := c.StartRequest(t.Context(), instrument.Request{Method: method})
					op.End(r)
				}
			}
		}
		if got := log.of(names.EventMCPClientRequestException, slog.LevelWarn).records; got != 2*3*5 {
			t.Errorf("two methods with three errors: got %d records, want 5 of each", got)
		}
	})
}

// failingOften makes each failure happen more often than the limit of its records.
func failingOften(t *testing.T, tel *telemetry.Telemetry) {
	c, s := instrument.NewClient(tel, "files", network), instrument.NewServer(tel, "demo", network)
	for range 7 {
		for _, f := range failures {
			f.fail(t, c, s)
		}
	}
	passes(time.Second)
	for _, f := range failures {
		f.fail(t, c, s)
		f.fail(t, c, s)
	}
	c.Close()
	s.Close()
}
