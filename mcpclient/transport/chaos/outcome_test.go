package chaos

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// patience is the timeout of a call.
const patience = 2 * time.Second

// rig is a client with a connection that follows a plan of faults. It runs in a bubble.
type rig struct {
	*mcpclient.Client
	server *mcptest.Server
	rec    *telemetrytest.Recording
	ran    atomic.Int64 // number of runs of the tool echo
}

type text struct {
	Text string `json:"text"`
}

// newRig connects a client that supports only protocol version v.
func newRig(t *testing.T, v mcp.Version, p *Plan) *rig {
	t.Helper()
	r := &rig{server: mcptest.NewServer(t, nil), rec: telemetrytest.Recorder(t)}
	echo := func(_ context.Context, in text) (text, error) {
		r.ran.Add(1)
		return in, nil
	}
	if err := mcpserver.AddTool(r.server.Server, &mcp.Tool{Name: "echo"}, echo); err != nil {
		t.Fatal(err)
	}
	w, err := Wrap(r.server, p)
	if err != nil {
		t.Fatal(err)
	}
	r.Client, err = mcpclient.Connect(t.Context(), w, &mcpclient.Options{
		TelemetryGroup: "tenant",
		Versions:       []mcp.Version{v}, Telemetry: r.rec.Telemetry(), Limits: mcpclient.Limits{Frame: 1 << 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return r
}

// echo calls the tool echo. It returns the tool's text, the duration of the call and its error.
func (r *rig) echo(ctx context.Context, s string) (string, time.Duration, error) {
	begun := time.Now()
	result, err := r.CallTool(ctx, "echo", text{s}, mcpclient.WithTimeout(patience))
	if err != nil {
		return "", time.Since(begun), err
	}
	var out text
	if err = result.Decode(&out); err != nil {
		return "", 0, err
	}
	return out.Text, time.Since(begun), nil
}

// becomes is the outcome of a call.
type becomes string

const (
	answered  becomes = "answered"
	timedOut  becomes = "timed out"
	lost      becomes = "lost"
	malformed becomes = "malformed"
	refused   becomes = "an error of the server"
	tooLarge  becomes = "too large"
	putOff    becomes = "put off"
)

func outcomeOf(err error) becomes {
	e, _ := errors.AsType[*mcpclient.Error](err)
	_, large := errors.AsType[*transport.FrameTooLargeError](err)
	switch {
	case err == nil:
		return answered
	case errors.Is(err, mcpclient.ErrConnectionLost):
		return lost
	case errors.Is(err, mcpclient.ErrBackpressure):
		return putOff
	case e == nil:
		return becomes(err.Error())
	case e.Kind == mcpclient.KindTimeout:
		return timedOut
	case e.Kind == mcpclient.KindJSONRPC:
		return refused
	case large:
		return tooLarge
	case e.Kind == mcpclient.KindProtocol:
		return malformed
	}
	return becomes(err.Error())
}

// eras has one protocol version of each era.
var eras = []mcp.Version{mcp.Version20260728, mcp.Version20251125}

// outcomes lists the effect of each fault that hits a call once, over a connection without HTTP: the outcome of the
// call, its minimum duration and the number of runs of the tool.
var outcomes = []struct {
	fault Fault
	want  becomes
	least time.Duration
	runs  int64
}{
	{Fault{Kind: Latency, Delay: 300 * time.Millisecond}, answered, 300 * time.Millisecond, 1},
	{Fault{Kind: Latency, Delay: 300 * time.Millisecond, On: OnRequest}, answered, 300 * time.Millisecond, 1},
	{Fault{Kind: Latency, Delay: 3 * time.Second}, timedOut, patience, 1},
	{Fault{Kind: Latency, Delay: 3 * time.Second, On: OnRequest}, timedOut, patience, 0},
	{Fault{Kind: Drip, Rate: 1000}, answered, 50 * time.Millisecond, 1},
	{Fault{Kind: Drip, Rate: 1000, On: OnRequest}, answered, 50 * time.Millisecond, 1},
	{Fault{Kind: Drop}, timedOut, patience, 1},
	{Fault{Kind: Drop, On: OnRequest}, timedOut, patience, 0},
	{Fault{Kind: Duplicate}, answered, 0, 1},
	{Fault{Kind: Reorder}, answered, time.Second, 1},
	{Fault{Kind: Truncate}, timedOut, patience, 1},
	{Fault{Kind: Garbage}, answered, 0, 1},
	{Fault{Kind: Oversize}, tooLarge, 0, 1},
	{Fault{Kind: Error}, refused, 0, 1},
	{Fault{Kind: Busy, Code: 429}, answered, 0, 1},
	{Fault{Kind: Busy, RetryAfter: time.Second}, answered, time.Second, 1},
	{Fault{Kind: Busy}, putOff, 0, 0},
	{Fault{Kind: Freeze}, timedOut, patience, 0},
	{Fault{Kind: Freeze, On: OnAnswer}, timedOut, patience, 1},
	{Fault{Kind: Freeze, Delay: 300 * time.Millisecond}, answered, 300 * time.Millisecond, 1},
	{Fault{Kind: Freeze, Delay: 300 * time.Millisecond, On: OnAnswer}, answered, 300 * time.Millisecond, 1},
	{Fault{Kind: Cut}, lost, 0, 0},
	{Fault{Kind: Cut, On: OnAnswer}, lost, 0, 1},
	{Fault{Kind: Death}, lost, 0, 0},
	{Fault{Kind: Death, On: OnAnswer}, lost, 0, 1},
}

// counted lists the kinds of faults that also increase a metric by one, and that metric.
var counted = map[Kind]string{
	Duplicate: names.MetricMCPClientResponseDrops, Garbage: names.MetricMCPClientProtocolViolations,
	Truncate: names.MetricMCPClientProtocolViolations,
}

func TestEachFaultKindHasExpectedEffectOnCall(t *testing.T) {
	for _, v := range eras {
		for _, o := range outcomes {
			f := o.fault
			f.Tool, f.Limit = "echo", 1
			t.Run(string(v)+" "+string(f.Kind)+" "+string(f.On), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, v, &Plan{Faults: []Fault{f}})
					got, took, err := r.echo(t.Context(), "first")
					if outcomeOf(err) != o.want || took < o.least || err == nil && got != "first" {
						t.Errorf("%s, %q after %v, %v; want %s after %v", outcomeOf(err), got, took, err, o.want, o.least)
					}
					synctest.Wait()
					if n := r.ran.Load(); n != o.runs {
						t.Errorf("the tool ran %d times, want %d", n, o.runs)
					}
					r.seen(t, f)
					if m := counted[f.Kind]; m != "" && r.rec.Value(m) != 1 {
						t.Errorf("%s is %d, want 1", m, r.rec.Value(m))
					}
					if f.Kind == Freeze && f.Delay == 0 {
						return // the freeze lasts as long as the connection
					}
					if err := r.WaitForReady(t.Context()); err != nil {
						t.Fatal(err)
					}
					if got, _, err := r.echo(t.Context(), "second"); err != nil || got != "second" {
						t.Errorf("the next call: %q, %v", got, err)
					}
				})
			})
		}
	}
}

// seen checks that the fault was logged once, in the span of the call, and that the span has the fault's kind.
func (r *rig) seen(t *testing.T, f Fault) {
	t.Helper()
	l := r.rec.Log(names.EventMCPClientFaultInjected)
	if l.Text(names.KeyMCPClientFaultKind) != string(f.Kind) || l.Text(names.KeyGenAIToolName) != "echo" ||
		l.Text(names.KeyMCPClientGroup) != "tenant" {
		t.Errorf("got the log record %+v", l)
	}
	call := r.rec.SpansNamed("tools/call echo", trace.SpanKindClient)[0]
	want := attribute.String(names.KeyMCPClientFaultKind, string(f.Kind))
	if !slices.Contains(call.Attributes(), want) || call.SpanContext().SpanID() != l.Span.SpanID() {
		t.Errorf("the call's span has %v, want %v and the id %v", call.Attributes(), want, l.Span.SpanID())
	}
}
