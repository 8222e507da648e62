package machine

import (
	"slices"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// row is one row of the table.
type row struct {
	in stateSet
	on eventSet
	do []Effect
	to connstate.State // the next state, or same, or done
}

type (
	stateSet uint8
	eventSet uint32
)

// nothing is the list of effects of an event that is ignored.
var nothing []Effect

func in(states ...connstate.State) (set stateSet) {
	for _, s := range states {
		set |= 1 << s
	}
	return set
}

func on(events ...Event) (set eventSet) {
	for _, e := range events {
		set |= 1 << e
	}
	return set
}

func otherThan(events ...Event) eventSet { return (1<<eventCount - 1) &^ on(events...) }

func do(effects ...Effect) []Effect { return effects }

func (set stateSet) has(s connstate.State) bool { return set>>s&1 != 0 }

func (set eventSet) has(e Event) bool { return set>>e&1 != 0 }

// cell is the entry of the table for one state and one event.
type cell struct {
	do []Effect
	to connstate.State

	// givingUp lists the effects, instead of do, if the row leads to backoff but no further attempt is allowed.
	givingUp []Effect
}

// cells indexes the table by state and event.
var cells = compile(table)

func compile(rows []row) (cells [closing + 1][eventCount]cell) {
	for _, r := range rows {
		c := cell{do: r.do, to: r.to}
		if r.to == backoff {
			c.givingUp = append(slices.Clip(r.do), ReportCause)
		}
		for s := range closing + 1 {
			for e := range eventCount {
				if r.in.has(s) && r.on.has(e) {
					cells[s][e] = c
				}
			}
		}
	}
	return cells
}
