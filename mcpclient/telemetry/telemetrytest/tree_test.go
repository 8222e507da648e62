package telemetrytest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// draw records the spans of a drawing, all in one trace. A span ends when the spans below it have been drawn, and half
// a second later if (late) follows its name.
func draw(r *Recording, drawing string) {
	tracer := r.TracerProvider().Tracer("test")
	for _, o := range parseForest(drawing) {
		start(context.Background(), tracer, o)
	}
}

func parseForest(drawing string) []outline {
	if o := parseOutline(drawing); o.text != "" {
		return []outline{o}
	} else {
		return o.below
	}
}

func start(ctx context.Context, tracer trace.Tracer, o outline) {
	kind, name, _ := strings.Cut(o.text, " ")
	name, late := strings.CutSuffix(name, " (late)")
	ctx, span := tracer.Start(ctx, name, trace.WithSpanKind(map[string]trace.SpanKind{
		"CLIENT": trace.SpanKindClient, "SERVER": trace.SpanKindServer, "INTERNAL": trace.SpanKindInternal,
	}[kind]))
	for _, b := range o.below {
		start(ctx, tracer, b)
	}
	if late {
		time.AfterFunc(500*time.Millisecond, func() { span.End() })
	} else {
		span.End()
	}
}

const order = `
	INTERNAL handle order
	  CLIENT tools/call price
	    SERVER tools/call price
	  CLIENT tools/call add
	    SERVER tools/call add`

func TestAssertOneTraceComparesWithDrawnTree(t *testing.T) {
	const connect = "\n\tCLIENT connect"
	for _, tt := range []struct {
		name, recorded, want string
		ok                   bool
	}{
		{"the same", order, order, true},
		{"nothing", "", order, false},
		{"another trace beside it", order + connect, order, true},
		{"side by side in another order", order, `
			INTERNAL handle order
				CLIENT tools/call add
					SERVER tools/call add
				CLIENT tools/call price
					SERVER tools/call price
			`, true},
		{"a span that ends late", strings.Replace(order, "SERVER tools/call add", "SERVER tools/call add (late)", 1), order,
			true},
		{"a root that ends late", strings.Replace(order, "order", "order (late)", 1), order, true},
		{"twice", order + order, order, false},
		{"a part in another trace", order + "\n\tSERVER tools/call add", order, false},
		{"an extra span", order + "\n\t    INTERNAL look", order, false},
		{"a missing span", "INTERNAL handle order\n  CLIENT tools/call price", order, false},
		{"another kind", strings.Replace(order, "INTERNAL", "SERVER", 1), order, false},
		{"under another parent", strings.ReplaceAll(order, "\t    SERVER", "\t  SERVER"), order, false},
		{"two roots in the drawing", order + connect, order + connect, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &failing{TB: t}
				r := newRecording(f, nil)
				draw(r, tt.recorded)
				began := time.Now()
				r.AssertOneTrace(tt.want)
				if ok := f.said == ""; ok != tt.ok {
					t.Errorf("passed is %v, want %v: %s", ok, tt.ok, f.said)
				}
				if took := time.Since(began); took > 1100*time.Millisecond {
					t.Errorf("it took %v, want a second at most", took)
				}
				time.Sleep(time.Second) // until late spans have ended
			})
		})
	}
}

func TestAssertOneTraceShowsOtherTraces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &failing{TB: t}
		r := newRecording(f, nil)
		remote := trace.ContextWithRemoteSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled, Remote: true,
		}))
		start(remote, r.TracerProvider().Tracer("test"), parseOutline("SERVER tools/call add\n  INTERNAL look"))
		draw(r, "\tCLIENT connect")
		r.AssertOneTrace("CLIENT tools/call add\n SERVER tools/call add\n  INTERNAL look")
		want := "want one trace:\nCLIENT tools/call add\n  SERVER tools/call add\n    INTERNAL look\ngot:\n" +
			"SERVER tools/call add (its parent was not recorded)\n  INTERNAL look\n\nCLIENT connect"
		if f.said != want {
			t.Errorf("got\n%s\nwant\n%s", f.said, want)
		}
	})
}

// failing is a test that should fail.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper() {}

func (f *failing) Errorf(format string, args ...any) { f.said = fmt.Sprintf(format, args...) }
