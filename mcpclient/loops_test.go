package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

const noHits = `{"content":[{"type":"text","text":"[]"}]}`

// looping is a client with loop detection, and its scripted server.
type looping struct {
	t   *testing.T
	v   *conversation
	c   *mcpclient.Client
	rec *telemetrytest.Recording
}

func inLoops(t *testing.T, o *mcpclient.LoopOptions, f func(l *looping)) {
	t.Helper()
	rec := telemetrytest.Recorder(t)
	ready(t, &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseLoopDetection(o)}, Telemetry: rec.Telemetry()},
		func(t *testing.T, _ *script, v *conversation, c *mcpclient.Client) { f(&looping{t, v, c, rec}) })
}

// call makes a call and answers it with result. If result is empty, the client must not send the call.
func (l *looping) call(ctx context.Context, tool string, args any, result string) error {
	l.t.Helper()
	done := background(func() error { _, err := l.c.CallTool(ctx, tool, args); return err })
	if result != "" {
		l.v.Answer(l.v.Expect(mcp.MethodCallTool), result)
	}
	return <-done
}

// succeed makes a call that the client sends and the server answers.
func (l *looping) succeed(tool string, args any, result string) {
	l.t.Helper()
	if err := l.call(l.t.Context(), tool, args, result); err != nil {
		l.t.Fatalf("%s %v: want the call sent, got %v", tool, args, err)
	}
}

// stop makes a call that the client does not send.
func (l *looping) stop(tool string, args any, kind mcpclient.LoopKind) {
	l.t.Helper()
	err := l.call(l.t.Context(), tool, args, "")
	loop, ok := errors.AsType[*mcpclient.LoopError](err)
	if !ok || !errors.Is(err, mcpclient.ErrLoop) || loop.Kind != kind || loop.Tool != tool || loop.Calls < 2 {
		l.t.Fatalf("%s %v: want a loop of kind %s, got %v", tool, args, kind, err)
	}
	e, _ := errors.AsType[*mcpclient.Error](err)
	if e == nil || e.Kind != mcpclient.KindState || e.ErrorType() != names.ErrorLoop || !mcpclient.SafeToRetry(err) {
		l.t.Fatalf("%s %v: want an unsent call, got %#v", tool, args, err)
	}
}

func (l *looping) spans() []sdktrace.ReadOnlySpan {
	return l.rec.SpansNamed("tools/call search", trace.SpanKindClient)
}

func onSpan(span sdktrace.ReadOnlySpan, key string) string {
	for _, a := range span.Attributes() {
		if string(a.Key) == key {
			return a.Value.AsString()
		}
	}
	return ""
}

// flagged returns the number of calls that were counted as part of a loop.
func (l *looping) flagged() (n int64) {
	for _, kind := range []string{names.LoopSameCall, names.LoopSameResult, names.LoopCycle} {
		n += l.rec.Value(names.MetricMCPClientToolLoops, names.KeyMCPClientLoopKind, kind)
	}
	return n
}

func numbered(i int) any { return map[string]any{"query": fmt.Sprint("what is ", i), "limit": i % 7} }

// Users have reported this case: 277 calls of one tool, each with different arguments, and none has a hit.
func TestLoopOf277CallsIsFlaggedFromFifthCall(t *testing.T) {
	inLoops(t, nil, func(l *looping) {
		for i := range 277 {
			l.succeed("search", numbered(i), noHits)
			if got := l.flagged(); (got > 0) != (i >= 4) || got > 0 && got != int64(i-3) {
				l.t.Fatalf("call %d: got %d calls flagged", i+1, got)
			}
		}
		logs := l.rec.Logs(names.EventMCPClientToolLoop)
		if len(logs) != 5 { // no virtual time has passed
			l.t.Fatalf("got %d records, want 5", len(logs))
		}
		time.Sleep(time.Minute)
		l.succeed("search", numbered(277), noHits)
		if got := l.rec.Logs(names.EventMCPClientToolLoop)[5].Text(names.KeyMCPClientSuppressed); got != "268" {
			l.t.Errorf("the next record: got %q suppressed, want 268", got)
		}
		first := logs[0]
		if first.Text(names.KeyMCPClientLoopKind) != names.LoopSameResult ||
			first.Text(names.KeyGenAIToolName) != "search" {
			l.t.Errorf("got %v", first)
		}
		for i, span := range l.spans() {
			if kind := onSpan(span, names.KeyMCPClientLoopKind); (kind == names.LoopSameResult) != (i >= 4) {
				l.t.Fatalf("span of call %d: got %q", i+1, kind)
			}
		}
	})
}

func TestToolHintsDetermineLoopDetection(t *testing.T) {
	const result = `{"content":[{"type":"text","text":"ok"}]}`
	for name, tc := range map[string]struct {
		hints   string
		answer  string
		varied  bool
		flagged int64 // number of flagged calls of 40
	}{
		"no hints, the same call":     {`null`, result, false, 36},
		"no hints, other arguments":   {`null`, result, true, 36},
		"reads, the same call":        {`{"readOnlyHint":true}`, result, false, 11},
		"reads, other arguments":      {`{"readOnlyHint":true}`, result, true, 36},
		"writes, the same call":       {`{"readOnlyHint":false}`, result, false, 11},
		"writes, other arguments":     {`{"readOnlyHint":false}`, result, true, 0},
		"destroys, other arguments":   {`{"destructiveHint":true}`, result, true, 0},
		"idempotent, other arguments": {`{"idempotentHint":true}`, result, true, 0},
		"writes, and fails each time": {`{"readOnlyHint":false}`, `{"content":[],"isError":true}`, true, 36},
		"reads, and fails each time":  {`{"readOnlyHint":true}`, `{"content":[],"isError":true}`, false, 36},
	} {
		t.Run(name, func(t *testing.T) {
			inLoops(t, nil, func(l *looping) {
				l.v.list(l.c, listTools(l.t, l.c), `{"name":"do","inputSchema":{},"annotations":`+tc.hints+`}`)
				for i := range 40 {
					if !tc.varied {
						i = 0
					}
					l.succeed("do", numbered(i), tc.answer)
				}
				if got := l.flagged(); got != tc.flagged {
					l.t.Errorf("got %d calls flagged, want %d", got, tc.flagged)
				}
			})
		})
	}
}

func TestRepeatedServerErrorIsALoop(t *testing.T) {
	inLoops(t, nil, func(l *looping) {
		for i := range 6 {
			done := background(func() error { _, err := l.c.CallTool(l.t.Context(), "read", numbered(i)); return err })
			l.v.Refuse(l.v.Expect(mcp.MethodCallTool), mcp.CodeInvalidParams, "no such file")
			if err := <-done; errors.Is(err, mcpclient.ErrLoop) || !errors.Is(err, mcp.ErrInvalidParams) {
				l.t.Fatalf("want the error of the server, got %v", err)
			}
		}
		if got := l.flagged(); got != 2 {
			l.t.Errorf("got %d calls flagged, want 2", got)
		}
	})
}

func TestLoopsAreDetectedPerConversation(t *testing.T) {
	inLoops(t, &mcpclient.LoopOptions{Break: true}, func(l *looping) {
		in := func(id string) context.Context {
			ctx, err := telemetry.ContextWithConversation(l.t.Context(), telemetry.Conversation{ID: id})
			if err != nil {
				l.t.Fatal(err)
			}
			return ctx
		}
		for i := range 5 {
			for _, id := range []string{"a", "b", "c"} {
				if i == 4 && id == "c" {
					continue
				}
				if err := l.call(in(id), "search", numbered(0), noHits); err != nil {
					l.t.Fatal(err)
				}
			}
		}
		if got := l.flagged(); got != 2 {
			l.t.Errorf("got %d calls flagged, want the calls of two conversations", got)
		}
		if err := l.call(in("a"), "search", numbered(0), ""); !errors.Is(err, mcpclient.ErrLoop) {
			l.t.Errorf("want the loop of a conversation broken, got %v", err)
		}
		if err := l.call(in("c"), "search", numbered(0), noHits); err != nil {
			l.t.Errorf("want another conversation to continue, got %v", err)
		}
		l.succeed("search", numbered(0), noHits) // outside of any conversation
	})
}

func TestLoopIsBrokenUntilAnotherCall(t *testing.T) {
	inLoops(t, &mcpclient.LoopOptions{Break: true}, func(l *looping) {
		for i := range 5 {
			l.succeed("search", numbered(i), noHits)
		}
		l.stop("search", numbered(6), mcpclient.LoopSameResult)
		l.stop("search", numbered(0), mcpclient.LoopSameResult)
		l.succeed("read", nil, noHits) // this call does not belong to the loop
		for i := range 5 {
			l.succeed("search", numbered(i), noHits)
		}
		l.stop("search", numbered(7), mcpclient.LoopSameResult)
		spans := l.spans()
		last := spans[len(spans)-1]
		kind, word := onSpan(last, names.KeyMCPClientLoopKind), onSpan(last, names.KeyErrorType)
		if kind != names.LoopSameResult || word != names.ErrorLoop {
			l.t.Errorf("got kind %q and error.type %q on the span of a call that was not sent", kind, word)
		}
	})
}

func TestAlternatingCallsAreALoop(t *testing.T) {
	inLoops(t, &mcpclient.LoopOptions{Break: true}, func(l *looping) {
		for range 4 {
			l.succeed("open", nil, noHits)
			l.succeed("close", nil, noHits)
		}
		l.succeed("open", nil, noHits)
		l.stop("close", nil, mcpclient.LoopCycle)
		l.succeed("close", map[string]any{"all": true}, noHits)
		l.succeed("open", nil, noHits)
	})
}

func TestBrokenLoopAllowsCallAfterCoolDown(t *testing.T) {
	inLoops(t, &mcpclient.LoopOptions{Repeats: 2, Break: true, CoolDown: time.Hour}, func(l *looping) {
		l.succeed("state", nil, noHits)
		l.succeed("state", nil, noHits)
		l.stop("state", nil, mcpclient.LoopSameCall)
		time.Sleep(time.Hour)
		first := background(func() error { _, err := l.c.CallTool(l.t.Context(), "state", nil); return err })
		asked := l.v.Expect(mcp.MethodCallTool)
		l.stop("state", nil, mcpclient.LoopSameCall) // only one call may be a trial
		l.v.Answer(asked, noHits)
		if err := <-first; err != nil {
			l.t.Fatal(err)
		}
		time.Sleep(time.Hour - 1)
		l.stop("state", nil, mcpclient.LoopSameCall)
		time.Sleep(time.Nanosecond)
		l.succeed("state", nil, `{"content":[]}`)
		l.succeed("state", nil, noHits)
	})
}

func TestExemptToolNeitherFormsNorEndsLoop(t *testing.T) {
	inLoops(t, &mcpclient.LoopOptions{Break: true, Exempt: []string{"clock"}}, func(l *looping) {
		for range 20 {
			l.succeed("clock", nil, noHits)
		}
		for range 5 {
			l.succeed("search", nil, noHits)
			l.succeed("clock", nil, noHits)
		}
		l.stop("search", nil, mcpclient.LoopSameCall)
		l.succeed("clock", nil, noHits)
		l.stop("search", nil, mcpclient.LoopSameCall)
	})
}

func TestLoopDetectionCountsOnlyServerOutcomes(t *testing.T) {
	inLoops(t, &mcpclient.LoopOptions{Repeats: 2, Break: true}, func(l *looping) {
		for range 5 {
			done := background(func() error {
				_, err := l.c.CallTool(l.t.Context(), "search", nil, mcpclient.WithTimeout(time.Second))
				return err
			})
			l.v.Expect(mcp.MethodCallTool)
			if err := <-done; !errors.Is(err, mcpclient.ErrTimeout) {
				l.t.Fatalf("want a timeout, got %v", err)
			}
			l.v.Expect(mcp.NotificationCancelled)
		}
		for range 5 { // the caller encodes the params itself
			done := background(func() error {
				return l.c.Call(l.t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"search"}`), nil)
			})
			l.v.Answer(l.v.Expect(mcp.MethodCallTool), noHits)
			if err := <-done; err != nil {
				l.t.Fatal(err)
			}
		}
		if got := l.flagged(); got != 0 {
			l.t.Errorf("got %d calls flagged, want none", got)
		}
	})
}

func TestInvalidLoopOptionsAreRefused(t *testing.T) {
	for want, o := range map[string]*mcpclient.LoopOptions{
		"Repeats is 1":         {Repeats: 1},
		"Repeats is 17":        {Repeats: 17},
		"Repeats is -1":        {Repeats: -1},
		"Polls is 4":           {Polls: 4},
		"CoolDown is negative": {CoolDown: -1},
	} {
		_, err := mcpclient.New(newScript(t),
			&mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseLoopDetection(o)}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}
