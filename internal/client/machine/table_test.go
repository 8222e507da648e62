package machine

import (
	"slices"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

func TestEveryStateAndEventMatchOneRow(t *testing.T) {
	for s := range closing + 1 {
		for e := range eventCount {
			if got := rowsOf(s, e); len(got) != 1 {
				t.Errorf("%v in %v: got rows %v, want exactly one", e, s, got)
			}
		}
	}
}

func TestRowsHaveValidTargetStates(t *testing.T) {
	for i, r := range table {
		if r.in == 0 || r.on == 0 {
			t.Errorf("row %d: covers no state or event", i)
		}
		if r.to != same && r.to != done && r.in.has(r.to) {
			t.Errorf("row %d: writes %v for the state it is in, want same", i, r.to)
		}
		if r.in.has(closing) && r.to != same && r.to != done {
			t.Errorf("row %d: leads out of closing to %v, want none to", i, r.to)
		}
	}
}

func TestTransitionTableUsesEveryEffect(t *testing.T) {
	for e := range effectCount {
		if !slices.ContainsFunc(table, func(r row) bool { return slices.Contains(r.do, e) }) {
			t.Errorf("%v: no row has this effect", e)
		}
	}
}

// The reasons are public. Each reason except Other must belong to some transition.
func TestEveryTransitionHasAReason(t *testing.T) {
	used := map[connstate.Reason]bool{connstate.ReasonOther: true}
	for i, r := range table {
		if r.to == same {
			continue
		}
		for _, s := range statesIn(r.in) {
			for _, e := range eventsIn(r.on) {
				why := e.reason(s)
				if why == connstate.ReasonOther {
					t.Errorf("row %d, %v in %v: moves without a reason", i, e, s)
				}
				used[why] = true
			}
		}
	}
	for _, why := range connstate.Reasons() {
		if !used[why] {
			t.Errorf("reason %v: no transition has it", why)
		}
	}
}

func TestNameListsMatchConstants(t *testing.T) {
	consts := constants(t)
	var got []string
	for e := range eventCount {
		got = append(got, e.String())
	}
	if want := names(consts["Event"]); !slices.Equal(got, want) {
		t.Errorf("events: got %q, want %q", got, want)
	}
	got = nil
	for e := range effectCount {
		got = append(got, e.String())
	}
	if want := names(consts["Effect"]); !slices.Equal(got, want) {
		t.Errorf("effects: got %q, want %q", got, want)
	}
}

func names(consts []constant) (out []string) {
	for _, c := range consts {
		out = append(out, c.name)
	}
	return out
}

// rowsOf returns the numbers of the rows that contain the pair.
func rowsOf(s connstate.State, e Event) (rows []int) {
	for i, r := range table {
		if r.in.has(s) && r.on.has(e) {
			rows = append(rows, i)
		}
	}
	return rows
}

func statesIn(set stateSet) (states []connstate.State) {
	for s := range closing + 1 {
		if set.has(s) {
			states = append(states, s)
		}
	}
	return states
}

func eventsIn(set eventSet) (events []Event) {
	for e := range eventCount {
		if set.has(e) {
			events = append(events, e)
		}
	}
	return events
}
