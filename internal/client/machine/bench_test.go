package machine

import (
	"testing"
	"time"
)

var (
	frame = Input{Event: ResponseInFlight, Epoch: 1, Now: noon.Add(time.Second)}
	move  = Input{Event: OpenFailed, Epoch: 1, Now: noon.Add(time.Second), Jitter: 0.5}
)

// The benchmark measures the machine's cost for each frame and each transition.
func BenchmarkStep(b *testing.B) {
	p := Defaults()
	start, _ := p.Start(noon)
	connected := start
	connected.State, connected.Deadline = ready, time.Time{}
	for _, c := range []struct {
		name string
		m    Machine
		in   Input
	}{
		{"frame", connected, frame},
		{"move", start, move},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Step(c.m, c.in)
			}
		})
	}
}
