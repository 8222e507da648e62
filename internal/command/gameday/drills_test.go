package gameday

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/dashboard"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
)

func TestEachAlertOfTheDashboardsHasADrill(t *testing.T) {
	var want, got []string
	for _, a := range dashboard.Alerts() {
		if !a.OfPipeline() {
			want = append(want, a.Name)
		}
	}
	for _, d := range Drills() {
		got = append(got, d.Alert)
		if d.Does == "" || d.Takes <= 0 || d.Takes > 25*time.Minute {
			t.Errorf("%s: want a description, and less than 25 min, got %q and %v", d.Alert, d.Does, d.Takes)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got drills for %v, want them for %v", got, want)
	}
}

// recorded is the telemetry of a service, for a test to read.
type recorded struct {
	*telemetrytest.Recording
	ended int
}

func (r *recorded) Telemetry(...telemetry.Option) *telemetry.Telemetry {
	return r.Recording.Telemetry()
}

func (r *recorded) Shutdown(context.Context) error {
	r.ended++
	return nil
}

func record(t *testing.T) *recorded {
	return &recorded{Recording: telemetrytest.Recorder(t, telemetry.WithContextCost())}
}

// practice is a drill under test: the test runs its rounds.
type practice struct {
	t     *testing.T
	d     Drill
	rec   *recorded
	begun int
	stage *stage
	round round
}

func practise(t *testing.T, d Drill) *practice {
	p := &practice{t: t, d: d, rec: record(t)}
	p.stage = &stage{name: "gameday-" + d.Alert, service: p.rec, begin: func(context.Context) (Exporting, error) {
		p.begun++
		return p.rec, nil
	}}
	var err error
	if p.round, err = d.open(t.Context(), p.stage); err != nil {
		t.Fatal(err)
	}
	return p
}

// play runs n rounds, and waits up to one minute for the calls that outlive their round.
func (p *practice) play(n int, broken bool) {
	p.t.Helper()
	every := p.d.every
	if every == 0 {
		every = time.Second
	}
	for range n {
		if err := p.round(p.t.Context(), broken); err != nil {
			p.t.Errorf("%s, broken %v: %v", p.d.Alert, broken, err)
		}
		time.Sleep(every)
	}
	time.Sleep(time.Minute)
}

func (p *practice) end() {
	if err := p.stage.close(p.t.Context()); err != nil {
		p.t.Errorf("%s: close: %v", p.d.Alert, err)
	}
}

// moved returns the value of the metric behind the drill's alert.
func (p *practice) moved() int64 {
	client := func(name string, attributes ...string) int64 {
		return p.rec.Value(name, append(attributes, names.KeyMCPClientName, p.stage.name)...)
	}
	ended := func(attributes ...string) int64 {
		return int64(p.rec.Count(names.MetricMCPClientOperationDuration, attributes...))
	}
	switch p.d.Alert {
	case "MCPClientErrorBudgetFast", "MCPClientErrorBudgetSlow":
		return ended(names.KeyErrorType, "-32603")
	case "MCPServerErrorBudgetFast", "MCPServerErrorBudgetSlow":
		return int64(p.rec.Count(names.MetricMCPServerOperationDuration, names.KeyErrorType, "-32603"))
	case "MCPClientSlow":
		return ended(names.KeyGenAIToolName, bad)
	case "MCPToolErrors":
		return ended(names.KeyErrorType, names.ErrorToolError)
	case "MCPToolLoop":
		return client(names.MetricMCPClientToolLoops)
	case "MCPToolChanged":
		return client(names.MetricMCPClientToolChanges)
	case "MCPClientNotReady":
		return ended(names.KeyErrorType, names.ErrorNotReady)
	case "MCPClientReconnectLoop":
		return client(names.MetricMCPClientConnectionTransitions, names.KeyMCPClientConnectionTo, "ready") - 1
	case "MCPProtocolViolations":
		return client(names.MetricMCPClientProtocolViolations)
	case "MCPTransportBusy":
		return client(names.MetricMCPClientTransportSendRetries)
	case "MCPServerRefusals":
		return p.rec.Value(names.MetricMCPServerRequestRefused)
	case "MCPNotificationsDropped":
		return client(names.MetricMCPClientNotificationDrops, names.KeyMCPClientDropReason, "queue_full")
	case "MCPResponsesDropped":
		return client(names.MetricMCPClientResponseDrops, names.KeyMCPClientDropReason, "duplicate")
	case "MCPHandlerPanics":
		return p.rec.Value(names.MetricMCPServerHandlerPanics)
	}
	return -1
}

// TestDrillRaisesAndStopsTheMetricOfItsAlert covers drills for alerts on counters.
func TestDrillRaisesAndStopsTheMetricOfItsAlert(t *testing.T) {
	for _, d := range Drills() {
		if slices.Contains([]string{"MCPToolListGrew", "MCPServerNearLimit", "MCPStuckInFlight", "MCPSendQueueWait",
			"MCPCardinalityOverflow", "MCPTelemetryAbsent"}, d.Alert) {
			continue // these drills have separate tests
		}
		t.Run(d.Alert, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := practise(t, d)
				defer p.end()
				p.play(1, false)
				start := p.moved()
				p.play(20, true)
				broke := p.moved() - start
				if broke < 5 && d.Alert != "MCPToolChanged" || broke < 1 {
					t.Errorf("after 20 broken rounds: got %d, want 5 or more", broke)
				}
				p.play(1, false) // lets the calls in flight end
				before := p.moved()
				p.play(10, false)
				if after := p.moved(); after != before && d.Alert != "MCPToolErrors" {
					t.Errorf("after ten more rounds without failures: got %d, want %d", after, before)
				}
			})
		})
	}
}

func TestToolListGrowsFasterThanItsMedian(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := practise(t, drillFor(t, "MCPToolListGrew"))
		defer p.end()
		var sizes []int64
		grown := time.Duration(0)
		for range 84 { // 21 min
			if err := p.round(t.Context(), true); err != nil {
				t.Fatal(err)
			}
			size := p.rec.Value(names.MetricMCPClientToolListSize)
			sizes = append(sizes, size)
			median := slices.Sorted(slices.Values(sizes))[len(sizes)/2]
			if float64(size) > 1.25*float64(median) {
				grown += p.d.every
			} else {
				grown = 0
			}
		}
		if grown < 16*time.Minute || sizes[0] < 4096 {
			t.Errorf("the list was more than a quarter larger than the median for %v in a row, and %d bytes at first; want "+
				"16 min and 4,096 bytes", grown, sizes[0])
		}
		p.play(1, false)
		if size := p.rec.Value(names.MetricMCPClientToolListSize); size != sizes[0] {
			t.Errorf("after the repair: got %d bytes, want %d", size, sizes[0])
		}
	})
}

func TestStuckCallLastsForTheBrokenPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := practise(t, drillFor(t, "MCPStuckInFlight"))
		defer p.end()
		p.play(1200, true)
		active := func() int64 {
			return p.rec.Value(names.MetricMCPClientActiveRequests, names.KeyMCPMethodName, "tools/call")
		}
		if n := active(); n != 1 {
			t.Errorf("after twenty minutes: got %d calls in flight, want one", n)
		}
		p.play(1, false)
		if n := active(); n != 0 {
			t.Errorf("after the repair: got %d calls in flight, want none", n)
		}
	})
}

func TestServerReachesItsLimitAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := practise(t, drillFor(t, "MCPServerNearLimit"))
		defer p.end()
		used := func() int64 {
			return p.rec.Value(names.MetricMCPServerCapacityUsage, names.KeyMCPServerCapacityKind, names.CapacityRequest)
		}
		p.play(600, true)
		limit := p.rec.Value(names.MetricMCPServerCapacityLimit, names.KeyMCPServerCapacityKind, names.CapacityRequest)
		if n := used(); n != 2 || limit != 2 {
			t.Errorf("after ten minutes: got %d of %d requests in flight, want 2 of 2", n, limit)
		}
		p.play(1, false)
		if n := used(); n != 0 {
			t.Errorf("after the repair: got %d requests in flight, want none", n)
		}
	})
}

func TestSendQueueWaitsForASlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := practise(t, drillFor(t, "MCPSendQueueWait"))
		defer p.end()
		wait := func() (count uint64, sum float64) {
			for _, point := range p.rec.Points(names.MetricMCPClientSendQueueWait) {
				count, sum = count+point.Count, sum+point.Sum
			}
			return count, sum
		}
		p.play(30, true)
		n, waited := wait()
		if mean := waited / float64(n); n < 30 || mean < 0.5 {
			t.Errorf("got %d messages that waited %.3f s on average, want at least 30 messages and 0.5 s", n, mean)
		}
		p.play(10, false)
		if more, later := wait(); later-waited > 0.5 || more < n {
			t.Errorf("after the repair: messages waited %.3f s more, want almost none", later-waited)
		}
	})
}

func TestServiceStopsAndRestarts(t *testing.T) {
	for alert, first := range map[string]bool{"MCPTelemetryAbsent": false, "MCPCardinalityOverflow": true} {
		t.Run(alert, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := practise(t, drillFor(t, alert))
				for i, broken := range []bool{first, !first, first} {
					p.play(3, broken)
					if begun, ended := (i+2)/2, (i+1)/2; p.begun != begun || p.rec.ended != ended {
						t.Errorf("step %d: the service started %d times and ended %d times, want %d and %d", i,
							p.begun, p.rec.ended, begun, ended)
					}
				}
				if n := p.rec.Count(names.MetricMCPClientOperationDuration, names.KeyMCPMethodName, "tools/call"); n != 6 {
					t.Errorf("got %d calls, want one for each round in which the service was running", n)
				}
				p.end()
			})
		})
	}
}

func TestPlanFaultsAreInjectedInTheBrokenPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := Injected("Mine", []chaos.Fault{{Kind: chaos.Drop}}, 2*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		p := practise(t, d)
		defer p.end()
		lost := func() uint64 {
			return p.rec.Count(names.MetricMCPClientOperationDuration, names.KeyErrorType, names.ErrorTimeout)
		}
		p.play(5, false)
		if n := lost(); n != 0 {
			t.Errorf("before: got %d calls without an answer, want none", n)
		}
		p.play(5, true)
		if n := lost(); n != 5 {
			t.Errorf("got %d calls without an answer, want 5", n)
		}
		p.play(5, false)
		if n := lost(); n != 5 {
			t.Errorf("afterwards: got %d calls without an answer, want 5 as before", n)
		}
	})
	if _, err := Injected("Mine", []chaos.Fault{{Kind: "rain"}}, 0); err == nil {
		t.Error("want an error about an unknown kind of fault")
	}
}

// drillFor returns the drill of an alert.
func drillFor(t *testing.T, alert string) Drill {
	t.Helper()
	for _, d := range Drills() {
		if d.Alert == alert {
			return d
		}
	}
	t.Fatalf("no drill for %s", alert)
	return Drill{}
}
