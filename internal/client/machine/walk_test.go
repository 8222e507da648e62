package machine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

var noon = time.Date(2026, time.July, 28, 12, 0, 0, 0, time.UTC)

// The test walks the whole graph. Every machine that can be reached from the start gets every event, with its own and
// with other epochs, before and after its deadline. Absolute times and the numbers of epochs and sessions are factored
// out, which makes the graph finite. The machine's world is part of the graph: everything that its effects opened,
// closed, requested and failed.
func TestEveryReachableStateHandlesEveryEvent(t *testing.T) {
	for _, attempts := range []int{0, 1, 3} {
		t.Run(fmt.Sprintf("initial attempts %d", attempts), func(t *testing.T) {
			p := Defaults()
			p.InitialAttempts = attempts
			w := walk{t: t, policy: p, nodes: map[node]Machine{}, edges: map[node][]edge{}}
			w.run()
			w.wantEveryRowTaken()
			w.wantReadyWithinReach()
			w.wantStopToEnd()
			t.Logf("%d machines, %d moves", len(w.nodes), w.moves())
		})
	}
}

type walk struct {
	t      *testing.T
	policy Policy
	nodes  map[node]Machine // one machine for each node
	edges  map[node][]edge
	taken  map[pair]bool
}

type pair struct {
	state connstate.State
	event Event
}

type edge struct {
	event Event
	to    node
}

// node is a machine and its world, without values that grow forever.
type node struct {
	machine Machine
	world   world
}

func (w *walk) nodeOf(m Machine, around world) node {
	m.Epoch, m.Since = 0, time.Time{}
	m.Session = min(m.Session, 1)
	m.Attempt = min(m.Attempt, w.policy.InitialAttempts+1)
	if !m.Deadline.IsZero() {
		m.Deadline = noon
	}
	return node{m, around}
}

func (w *walk) run() {
	w.taken = map[pair]bool{}
	m, effects := w.policy.Start(noon)
	s := step{t: w.t, policy: w.policy, next: m, effects: effects, in: Input{Now: noon}}
	around := s.carryOut(world{delay: w.policy.BackoffMin})
	first := w.nodeOf(m, around)
	w.nodes[first] = m
	for queue := []node{first}; len(queue) > 0 && !w.t.Failed(); queue = queue[1:] {
		here := queue[0]
		for e := range eventCount {
			for _, in := range w.policy.inputs(w.nodes[here], e) {
				there, m := w.step(here, in)
				if there == here {
					continue
				}
				if _, known := w.nodes[there]; !known {
					w.nodes[there] = m
					queue = append(queue, there)
				}
				if move := (edge{e, there}); !slices.Contains(w.edges[here], move) {
					w.edges[here] = append(w.edges[here], move)
				}
			}
		}
	}
}

// inputs returns the event e with each combination of epoch, time and random number that a machine like m may get.
func (p Policy) inputs(m Machine, e Event) (all []Input) {
	times := []time.Time{m.Since, m.Since.Add(p.BackoffMax - 1), m.Since.Add(p.BackoffMax), m.Since.Add(time.Minute)}
	if !m.Deadline.IsZero() {
		times = []time.Time{m.Since, m.Deadline.Add(-1), m.Deadline, m.Deadline.Add(time.Second)}
	}
	in := Input{Event: e}
	if !unscoped.has(e) {
		for _, in.Epoch = range []uint64{0, m.Epoch - 1, m.Epoch + 1} {
			in.Now = times[0]
			all = append(all, in)
		}
		in.Epoch = m.Epoch
	}
	for _, in.Now = range times {
		for _, in.Jitter = range []float64{0, 0.5, 0x1.fffffffffffffp-1} {
			for _, in.Wait = range []time.Duration{0, 5 * time.Second, time.Hour} {
				all = append(all, in)
			}
			if in.Wait = 0; e == TransportUp {
				in.Launched = true
				all = append(all, in)
				in.Launched = false
			}
		}
	}
	return all
}

func (w *walk) step(here node, in Input) (node, Machine) {
	m := w.nodes[here]
	next, effects, ok := w.policy.Step(m, in)
	if ok {
		w.taken[pair{m.State, in.Event}] = true
	}
	s := step{t: w.t, policy: w.policy, m: m, in: in, next: next, effects: effects, ok: ok}
	around := s.check(here.world)
	return w.nodeOf(next, around), next
}

func (w *walk) moves() (n int) {
	for _, edges := range w.edges {
		n += len(edges)
	}
	return n
}

func (w *walk) wantEveryRowTaken() {
	rows := map[int]bool{}
	for s := range closing + 1 {
		for e := range eventCount {
			if !w.taken[pair{s, e}] {
				w.t.Errorf("%v in %v: never happened", e, s)
				continue
			}
			rows[rowsOf(s, e)[0]] = true
		}
	}
	for i := range table {
		if !rows[i] {
			w.t.Errorf("row %d: never taken", i)
		}
	}
}

// wantReadyWithinReach checks that no machine is stuck: ready can be reached from every state except closing.
func (w *walk) wantReadyWithinReach() {
	reaches := map[node]bool{}
	for n := range w.nodes {
		reaches[n] = n.machine.State == ready
	}
	for grown := true; grown; {
		grown = false
		for n, edges := range w.edges {
			if !reaches[n] && slices.ContainsFunc(edges, func(e edge) bool { return reaches[e.to] }) {
				reaches[n], grown = true, true
			}
		}
	}
	for n := range w.nodes {
		if reaches[n] == (n.machine.State == closing) {
			w.t.Errorf("%+v: reaches ready %v", n, reaches[n])
		}
	}
}

// wantStopToEnd checks that a stop, by the user or because the client is idle, and the close timeout end every machine.
func (w *walk) wantStopToEnd() {
	for n, m := range w.nodes {
		if m.Ended {
			continue
		}
		m, _, _ = w.policy.Step(m, Input{Event: Stop, Now: noon})
		if m.State != closing || m.Deadline.IsZero() {
			w.t.Errorf("%+v: stopped, got %+v, want it closing, with a deadline", n, m)
		}
		m, effects, _ := w.policy.Step(m, Input{Event: Elapsed, Now: m.Deadline})
		if !m.Ended || !slices.Equal(effects, []Effect{End}) {
			w.t.Errorf("%+v: stopped and waited, got %+v with %v, want it ended", n, m, effects)
		}
	}
}
