package instrument_test

import (
	"context"
	"runtime"
	"runtime/pprof"
	"strconv"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/testsupport/labels"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// labelsIn returns the profile labels of ctx, in the format of package labels.
func labelsIn(ctx context.Context) string {
	all := ""
	pprof.ForLabels(ctx, func(key, value string) bool {
		all += ", " + strconv.Quote(key) + ":" + strconv.Quote(value)
		return true
	})
	if all == "" {
		return ""
	}
	return "{" + all[2:] + "}"
}

// own holds profile labels that the program has set.
const own = `{"team":"a"}`

// asTheProgramHas calls f in a goroutine with labels of the program, and checks that these labels are restored.
func asTheProgramHas(t *testing.T, f func(ctx context.Context)) {
	t.Helper()
	pprof.Do(t.Context(), pprof.Labels("team", "a"), func(ctx context.Context) {
		defer func() {
			if got := labels.Here(t); got != own {
				t.Errorf("after the call the goroutine has the labels %s, want %s", got, own)
			}
		}()
		f(ctx)
	})
}

// wantLabels checks the labels of this goroutine, of ctx, and of a goroutine that this goroutine starts.
func wantLabels(t *testing.T, ctx context.Context, want string) {
	t.Helper()
	started := make(chan string)
	go func() { started <- labels.Here(t) }()
	if inherited := <-started; inherited != want {
		t.Errorf("a new goroutine inherits the labels %s, want %s", inherited, want)
	}
	if here, in := labels.Here(t), labelsIn(ctx); here != want || in != want {
		t.Errorf("the goroutine has the labels %s and the context %s, want %s", here, in, want)
	}
}

func TestOperationSetsProfileLabels(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithProfileLabels(), telemetry.WithToolNameLimit(1))
	s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
	defer s.Close()
	for _, tt := range []struct {
		name string
		in   instrument.Incoming
		want string // labels before the id of the span
	}{
		{"a tool", toolRequest(), `{"gen_ai.tool.name":"add", "mcp.method.name":"tools/call", "span_id":"`},
		{"a tool beyond the limit", instrument.Incoming{Method: "tools/call", TargetKind: instrument.Tool, Target: "sub",
			Known: true, TargetKnown: true}, `{"gen_ai.tool.name":"_OTHER", "mcp.method.name":"tools/call", "span_id":"`},
		{"an unknown tool", instrument.Incoming{Method: "tools/call", TargetKind: instrument.Tool, Target: "x",
			Known: true}, `{"gen_ai.tool.name":"_OTHER", "mcp.method.name":"tools/call", "span_id":"`},
		{"a prompt", instrument.Incoming{Method: "prompts/get", TargetKind: instrument.Prompt, Target: "add", Known: true,
			TargetKnown: true}, `{"gen_ai.prompt.name":"add", "mcp.method.name":"prompts/get", "span_id":"`},
		{"a list", instrument.Incoming{Method: "tools/list", Known: true}, `{"mcp.method.name":"tools/list", "span_id":"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asTheProgramHas(t, func(outer context.Context) {
				ctx, op := s.StartHandler(outer, tt.in)
				defer op.End(instrument.Result{})
				id := trace.SpanContextFromContext(ctx).SpanID().String()
				op.Labelled(ctx, func(ctx context.Context) {
					wantLabels(t, ctx, tt.want+id+`", "team":"a"}`)
				})
			})
		})
	}
}

func TestProfileLabelsAreRestoredAfterPanic(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithProfileLabels())
	s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
	defer s.Close()
	for name, fail := range map[string]func(){"panic": func() { panic("oops") }, "exit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				asTheProgramHas(t, func(ctx context.Context) {
					ctx, op := s.StartHandler(ctx, toolRequest())
					defer op.End(instrument.Result{})
					defer func() { _ = recover() }()
					op.Labelled(ctx, func(context.Context) { fail() })
				})
			}()
			<-done
		})
	}
}

// TestLabelledSetsProfileLabelsOutsideOperation also checks that an unrecorded span adds no label, because its id leads
// nowhere.
func TestLabelledSetsProfileLabelsOutsideOperation(t *testing.T) {
	tel := telemetry.New(telemetry.WithTracerProvider(sdktrace.NewTracerProvider(
		sdktrace.WithSampler(sdktrace.NeverSample()))), telemetry.WithProfileLabels())
	c, s := instrument.NewClient(tel, "demo", pipe), instrument.NewServer(tel, "demo", pipe)
	defer c.Close()
	defer s.Close()
	type labelled func(ctx context.Context, method, tool string, f func(context.Context))
	for name, side := range map[string]labelled{"client": c.Labelled, "server": s.Labelled} {
		t.Run(name, func(t *testing.T) {
			asTheProgramHas(t, func(ctx context.Context) {
				ctx, op := s.StartHandler(ctx, toolRequest())
				defer op.End(instrument.Result{})
				side(ctx, "tools/call", "add", func(ctx context.Context) {
					wantLabels(t, ctx, `{"gen_ai.tool.name":"add", "mcp.method.name":"tools/call", "team":"a"}`)
				})
				side(ctx, "tools/list", "", func(ctx context.Context) {
					wantLabels(t, ctx, `{"mcp.method.name":"tools/list", "team":"a"}`)
				})
			})
		})
	}
}

func TestProfileLabelsNeedOption(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	s, off := instrument.NewServer(rec.Telemetry(), "demo", pipe), instrument.NewServer(telemetry.Off(), "demo", pipe)
	defer s.Close()
	asTheProgramHas(t, func(ctx context.Context) {
		ctx, op := s.StartHandler(ctx, toolRequest())
		defer op.End(instrument.Result{})
		look := func(ctx context.Context) { wantLabels(t, ctx, own) }
		op.Labelled(ctx, look)
		new(instrument.Op).Labelled(ctx, look)
		s.Labelled(ctx, "tools/call", "add", look)
		off.Labelled(ctx, "tools/call", "add", look)
		(*instrument.Client)(nil).Labelled(ctx, "tools/call", "add", look)
		s.SetLabels(context.Background())
		off.SetLabels(context.Background())
		look(ctx)
	})
}

func TestSetLabelsRemovesProfileLabels(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithProfileLabels())
	s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
	defer s.Close()
	ctx, op := s.StartHandler(t.Context(), toolRequest())
	defer op.End(instrument.Result{})
	op.Labelled(ctx, func(ctx context.Context) {
		s.SetLabels(t.Context())
		if got := labels.Here(t); got != "" {
			t.Errorf("the goroutine has the labels %s, want none", got)
		}
	})
}
