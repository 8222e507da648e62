package flight

import (
	"testing"

	"go.opentelemetry.io/otel/trace"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Each entry keeps its trace, or its lack of a trace, before and after the ring has wrapped.
func TestEntryKeepsTrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Recorder
		var want []trace.TraceID
		plain := rapid.IntRange(0, telemetry.FlightSize+1).Draw(t, "without a trace at first")
		n := rapid.IntRange(plain, 2*telemetry.FlightSize).Draw(t, "entries")
		for i := range n {
			var e Entry
			e.Kind, e.Out = Handler, int64(i)
			if i >= plain && rapid.Bool().Draw(t, "traced") {
				e.Trace = trace.TraceID{byte(i), byte(i >> 8), 1}
			}
			want = append(want, e.Trace)
			r.Add(&e)
		}
		got := r.snapshot()
		want = want[max(0, n-telemetry.FlightSize):]
		if len(got) != len(want) {
			t.Fatalf("got %d entries, want %d", len(got), len(want))
		}
		for i := range got {
			if got[i].Trace != want[i] {
				t.Fatalf("entry %d: got trace %v, want %v", i, got[i].Trace, want[i])
			}
		}
	})
}
