package gameday

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/command/receiver"
	"github.com/mcpotel/mcpotel/internal/explain"
)

// TestDrillPhasesAreSequential checks the order of phases for random answers of the alerting system.
func TestDrillPhasesAreSequential(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		warm := time.Duration(rapid.IntRange(0, 5).Draw(t, "warm")) * time.Second
		now := time.Unix(1000, 0)
		var p progress
		p.begin(now)
		for range rapid.IntRange(0, 30).Draw(t, "looks") {
			now = now.Add(time.Second)
			s := rapid.SampledFrom([]State{Inactive, Pending, Firing}).Draw(t, "state")
			was := p.phase
			changed := p.see(now, s, warm)
			if changed != (p.phase != was) || p.phase < was || p.phase > was+1 {
				t.Fatalf("phase changed from %d to %d, reported %v", was, p.phase, changed)
			}
			may := map[phase]bool{clearing: s != Firing && now.Sub(p.began) >= warm, raising: s == Firing,
				mending: s == Inactive}
			if changed != may[was] {
				t.Fatalf("in phase %d with state %d: changed %v", was, s, changed)
			}
		}
		want := []Outcome{NotClear, NotFired, NotResolved, Passed}[p.phase]
		if got := p.outcome(true); got != want {
			t.Fatalf("in phase %d: got outcome %s, want %s", p.phase, got, want)
		}
		if got := p.outcome(false); p.phase == over && got != NoTrace || p.phase < over && got != want {
			t.Fatalf("in phase %d without a trace: got outcome %s", p.phase, got)
		}
	})
}

// pretended is a fake alerting system and trace backend.
type pretended struct {
	rules   []string
	state   func(alert string, at time.Duration) (State, map[string]string)
	since   time.Time
	failing atomic.Bool
	ids     []string // trace ids of exemplars
	has     string   // trace id that shows the cause
	found   []string // trace ids that a search finds
}

func (p *pretended) Rules(context.Context) ([]string, error) {
	if p.rules == nil {
		return nil, errors.New("no such host")
	}
	return p.rules, nil
}

func (p *pretended) Active(context.Context) (all []Alert, err error) {
	if p.failing.Load() {
		return nil, errors.New("out of order")
	}
	for _, name := range p.rules {
		if s, labels := p.state(name, time.Since(p.since)); s != Inactive {
			all = append(all, Alert{Name: name, State: s, Labels: labels})
		}
	}
	return all, nil
}

func (p *pretended) Exemplars(context.Context, map[string]string, time.Time) ([]string, error) {
	return p.ids, nil
}

func (p *pretended) Has(_ context.Context, id, _ string, _ map[string]string) (bool, error) {
	return id == p.has, nil
}

func (p *pretended) Tagged(context.Context, string, map[string]string, time.Time) ([]string, error) {
	return p.found, nil
}

const example = "MCPProtocolViolations"

// of returns the labels of an alert about the example drill.
func of(run string) map[string]string {
	return map[string]string{"job": Service, "mcp_client_name": "gameday-" + example + run}
}

// fires returns the state of an alert that fires after one minute and resolves two minutes later.
func fires(_ string, at time.Duration) (State, map[string]string) {
	if at > 57500*time.Millisecond && at < 177500*time.Millisecond {
		return Firing, of("-1")
	}
	return Inactive, nil
}

func TestGameDayReportsTheOutcomeOfEachAlert(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(p *pretended, o *Options)
		want   Result
	}{
		{"passed", func(*pretended, *Options) {}, Result{Outcome: Passed, Fired: time.Minute, Resolved: 2 * time.Minute,
			Trace: "b", Link: ByExemplar}},
		{"by a search", func(p *pretended, _ *Options) { p.ids = nil },
			Result{Outcome: Passed, Fired: time.Minute, Resolved: 2 * time.Minute, Trace: "c", Link: BySearch}},
		{"without traces", func(_ *pretended, o *Options) { o.Traces = nil },
			Result{Outcome: Passed, Fired: time.Minute, Resolved: 2 * time.Minute}},
		{"no trace", func(p *pretended, _ *Options) { p.ids, p.found = []string{"a"}, nil },
			Result{Outcome: NoTrace, Fired: time.Minute, Resolved: 2 * time.Minute}},
		{"not loaded", func(p *pretended, _ *Options) { p.rules = []string{"Other"} }, Result{Outcome: NotLoaded}},
		{"of another client", func(p *pretended, _ *Options) {
			p.state = func(_ string, at time.Duration) (State, map[string]string) {
				s, _ := fires("", at)
				return s, of("-2")
			}
		}, Result{Outcome: NotFired}},
		{"of another service", func(p *pretended, _ *Options) {
			p.state = func(_ string, at time.Duration) (State, map[string]string) {
				s, _ := fires("", at)
				return s, map[string]string{"job": "shop"}
			}
		}, Result{Outcome: NotFired}},
		{"in a namespace", func(p *pretended, _ *Options) {
			p.state = func(_ string, at time.Duration) (State, map[string]string) {
				s, _ := fires("", at)
				return s, map[string]string{"job": "tools/" + Service}
			}
		}, Result{Outcome: Passed, Fired: time.Minute, Resolved: 2 * time.Minute, Trace: "b", Link: ByExemplar}},
		{"fired before", func(p *pretended, _ *Options) {
			p.state = func(string, time.Duration) (State, map[string]string) { return Firing, nil }
		}, Result{Outcome: NotClear}},
		{"still fires", func(p *pretended, _ *Options) {
			p.state = func(_ string, at time.Duration) (State, map[string]string) {
				if at > 57500*time.Millisecond {
					return Firing, nil
				}
				return Pending, nil
			}
		}, Result{Outcome: NotResolved, Fired: time.Minute, Trace: "b", Link: ByExemplar}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pretended{rules: []string{example}, state: fires, since: time.Now(), ids: []string{"a", "b"}, has: "b",
					found: []string{"c"}}
				o := &Options{Drills: []Drill{drillFor(t, example)}, Alerts: p, Traces: p, Run: "-1", Poll: 5 * time.Second,
					Begin: func(context.Context, string) (Exporting, error) { return record(t), nil }}
				tc.change(p, o)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				got, err := Run(ctx, o)
				if err != nil || len(got) != 1 {
					t.Fatalf("got %v, %v; want one result", got, err)
				}
				got[0].Fired, got[0].Resolved = got[0].Fired.Round(10*time.Second), got[0].Resolved.Round(10*time.Second)
				tc.want.Alert = example
				if got[0] != tc.want {
					t.Errorf("got %+v, want %+v", got[0], tc.want)
				}
			})
		})
	}
}

// complete returns an explanation with all parts.
func complete() *receiver.Message {
	return &receiver.Message{
		Causes: []explain.Cause{{ID: "violation_batch", Evidence: []string{"a metric"}}, {ID: "injected_garbage",
			Evidence: []string{"a span"}}},
		Trace: &receiver.Link{URL: "https://j/trace/b", TraceID: "b"}, Runbook: &receiver.Link{URL: "https://r"}}
}

func TestGameDayChecksTheExplanationOfEachAlert(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(m *receiver.Message)
		err    error
		want   string // trouble
	}{
		{"complete", func(*receiver.Message) {}, nil, ""},
		{"no cause", func(m *receiver.Message) { m.Causes, m.Missing = nil, []string{"a trace"} }, nil,
			"the explanation lacks a cause; the cause injected_garbage; a trace"},
		{"another cause", func(m *receiver.Message) { m.Causes = m.Causes[:1] }, nil,
			"the explanation lacks the cause injected_garbage"},
		{"no evidence", func(m *receiver.Message) { m.Causes[1].Evidence = nil }, nil,
			"the explanation lacks evidence of the cause injected_garbage"},
		{"no trace", func(m *receiver.Message) { m.Trace = nil }, nil, "the explanation lacks a link to a trace"},
		{"only a search", func(m *receiver.Message) { m.Trace.TraceID = "" }, nil, "the explanation lacks a link to a trace"},
		{"no runbook", func(m *receiver.Message) { m.Runbook = nil }, nil, "the explanation lacks a link to the runbook"},
		{"no answer", func(*receiver.Message) {}, errors.New("HTTP 502"), "HTTP 502"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pretended{rules: []string{example}, state: fires, since: time.Now(), ids: []string{"b"}, has: "b"}
				var asked Alert
				var after time.Duration
				got, err := Run(t.Context(), &Options{Drills: []Drill{drillFor(t, example)}, Alerts: p, Traces: p, Run: "-1",
					Poll: time.Second, Begin: func(context.Context, string) (Exporting, error) { return record(t), nil },
					Explain: func(_ context.Context, a Alert) (*receiver.Message, error) {
						asked, after = a, time.Since(p.since)
						m := complete()
						tc.change(m)
						return m, tc.err
					}})
				if err != nil || len(got) != 1 {
					t.Fatalf("got %v, %v; want one result", got, err)
				}
				want := Passed
				if tc.want != "" {
					want = Unexplained
				}
				if got[0].Outcome != want || got[0].Trouble != tc.want {
					t.Errorf("want %s, %q, got %+v", want, tc.want, got[0])
				}
				if asked.Name != example || asked.Labels["mcp_client_name"] != "gameday-"+example+"-1" || after < 88*time.Second {
					t.Errorf("want the question about the alert after group_wait, got it after %v: %+v", after, asked)
				}
			})
		})
	}
}

// TestAFailureLastsUntilItsAlertIsExplained checks that a call is stuck when the receiver looks for it.
func TestAFailureLastsUntilItsAlertIsExplained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &drilling{o: &Options{Explain: func(context.Context, Alert) (*receiver.Message, error) {
			return complete(), nil
		}}}
		d.begin(time.Now())
		d.o.Poll = time.Second
		look := func(s State) bool {
			d.Drill, d.stage.name = Drill{Alert: "A"}, ""
			d.o.look(t.Context(), []*drilling{d}, []Alert{{Name: "A", State: s}})
			return d.broken.Load()
		}
		for i, step := range []struct {
			state  State
			wait   time.Duration
			broken bool
		}{{Inactive, 0, true}, {Firing, 0, true}, {Firing, 20 * time.Second, true}, {Firing, 11 * time.Second, false},
			{Inactive, 0, false}} {
			time.Sleep(step.wait)
			synctest.Wait()
			if got := look(step.state); got != step.broken {
				t.Errorf("step %d: want broken %v, got %v", i, step.broken, got)
			}
		}
		d.explaining.Wait()
	})
}

func TestGameDaySurvivesAnOutageOfTheAlertingSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pretended{rules: []string{example}, state: fires, since: time.Now()}
		p.failing.Store(true)
		time.AfterFunc(19500*time.Millisecond, func() { p.failing.Store(false) })
		var said []string
		got, err := Run(t.Context(), &Options{Drills: []Drill{drillFor(t, example)}, Alerts: p, Run: "-1", Poll: time.Second,
			Begin: func(context.Context, string) (Exporting, error) { return record(t), nil },
			Say:   func(e Event) { said = append(said, e.Alert+": "+e.Text) }})
		if err != nil || got[0].Outcome != Passed {
			t.Errorf("got %+v, %v; want the drill to pass", got, err)
		}
		want := []string{": cannot read the alerts: out of order", example + ": garbage precedes the answers",
			example + ": fires after 38s; the failure is now repaired", example + ": resolves after 2m0s"}
		if !slices.Equal(said, want) {
			t.Errorf("events: got %q, want %q", said, want)
		}
	})
}

func TestAGameDayNeedsAlertsAndTelemetry(t *testing.T) {
	begins := func(context.Context, string) (Exporting, error) { return nil, errors.New("no endpoint") }
	if _, err := Run(t.Context(), &Options{Alerts: &pretended{}, Begin: begins}); err == nil ||
		err.Error() != "no such host" {
		t.Errorf("got %v, want an error about the rules", err)
	}
	if _, err := Run(t.Context(), &Options{Alerts: &pretended{rules: []string{""}}, Begin: begins}); err == nil ||
		err.Error() != "no endpoint" {
		t.Errorf("got %v, want an error about the telemetry", err)
	}
}
