package instrument

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// A budget is the places that an instrument has for sets of attributes, words.MaxSets in all, for all clients and
// servers of the meter: the SDK puts what comes beyond its limit into one set that says nothing, and goes on doing so
// until the process ends. A place once taken stays taken, since the SDK forgets no set of a counter or histogram.
//
// A set that finds no place is recorded in a shorter form. What the forms are, and which places are kept for the short
// ones, is decision 0021.
//
// The mutex is taken when a client or server uses a set for the first time, and never after that: its caches have the
// options then.
type budget struct {
	forGroups int // places kept for sets of groups
	least     int // places kept for the shortest forms, as many as there are

	mu    sync.Mutex
	taken map[attribute.Distinct]*options
}

// options record a measurement with one set of attributes. All who use the set share them.
type options struct {
	adding    []metric.AddOption
	recording []metric.RecordOption
}

// A form is a set of attributes, and how many sets the instrument may have for this one to be a new one.
type form struct {
	room int
	set  attribute.Set
}

// take returns the options for the first of the forms that has a place or gets one. The last form has one.
func (b *budget) take(forms ...form) *options {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := len(forms) - 1
	for _, f := range forms[:last] {
		if o := b.taken[f.set.Equivalent()]; o != nil {
			return o
		}
		if len(b.taken) < f.room {
			return b.add(f.set)
		}
	}
	if o := b.taken[forms[last].set.Equivalent()]; o != nil {
		return o
	}
	return b.add(forms[last].set)
}

// add gives the set a place. mu is held.
func (b *budget) add(set attribute.Set) *options {
	o := metric.WithAttributeSet(set)
	all := &options{[]metric.AddOption{o}, []metric.RecordOption{o}}
	if b.taken == nil {
		b.taken = map[attribute.Distinct]*options{}
	}
	b.taken[set.Equivalent()] = all
	return all
}

// How many sets there may be for a new one of each form.
func (b *budget) roomForGroups() int { return words.MaxSets - b.least }
func (b *budget) roomForNames() int  { return b.roomForGroups() - b.forGroups }
func (b *budget) roomForTools(names int) int {
	return min(words.MaxPrecisely, b.roomForNames()-words.SetsForName*names)
}

// places are the budgets of the instruments that clients have, or servers. Those that have the name alone share one:
// each has the same sets.
type places struct {
	plain, active, handlers, panic, notification, violation, drop, retry, size, decode, lost, stream, streamEnd,
	session, transition, attempt, lookup, execution, result, loop, toolChange, gap, task, taskEnd, policy,
	refusal budget
}

// init keeps the places of the shortest forms, of which each group has as many as the words that it keeps.
func (p *places) init() {
	const directions, kinds, failedOrNot, withToolOrNot, usual = 2, 4, 2, 2, words.SetsForGroups
	for _, b := range []struct {
		*budget
		forGroups, least int
	}{
		{&p.plain, 0, 1},
		{&p.active, usual, 1},
		{&p.handlers, usual, 1},
		{&p.panic, usual, 1},
		{&p.notification, usual, directions},
		{&p.violation, 0, directions * anyOf(len(words.ViolationReasons))},
		{&p.drop, 0, anyOf(len(words.DropReasons))},
		{&p.retry, 0, anyOf(len(words.RetryReasons))},
		{&p.size, 0, directions * kinds},
		{&p.decode, usual, kinds * failedOrNot},
		{&p.lost, usual, anyOf(len(words.DropReasons))},
		{&p.stream, 0, anyOf(len(words.StreamKinds))},
		{&p.streamEnd, usual, anyOf(len(words.StreamKinds)) * failedOrNot},
		{&p.session, usual, anyOf(len(words.SessionErrors)) + 1},
		{&p.transition, usual, anyOf(len(connstate.States()))},
		{&p.attempt, usual, len(words.AttemptKinds) * failedOrNot},
		{&p.lookup, usual, len(words.CacheOutcomes)},
		{&p.execution, usual, failedOrNot},
		{&p.result, 0, 1},
		{&p.loop, 0, anyOf(len(words.LoopKinds))},
		{&p.toolChange, 0, len(words.ToolChanges)},
		{&p.gap, 0, len(words.GapCauses)},
		{&p.task, 0, 1},
		{&p.taskEnd, 0, anyOf(len(words.TaskStatuses)) * failedOrNot},
		{&p.policy, 0, anyOf(len(words.PolicyDecisions)) * withToolOrNot},
		{&p.refusal, 0, anyOf(len(words.Refusals))},
	} {
		b.budget.keep(b.forGroups, b.least)
	}
}

// outcomesAtLeast is how many outcomes the durations tell apart in their shortest form: see outcome.anonymous.
const outcomesAtLeast = 4

// keep keeps places for sets of groups, and for as many shortest forms of each.
func (b *budget) keep(forGroups, least int) {
	b.forGroups, b.least = forGroups, least*words.FoldedNames
}

// anyOf is how many values an attribute with so many words has: these and _OTHER.
func anyOf(n int) int { return n + 1 }
