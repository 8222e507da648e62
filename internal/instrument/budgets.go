package instrument

import (
	"github.com/mcpotel/mcpotel/internal/instrument/series"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// places holds the budgets of the instruments of all clients, or of all servers. Instruments with only one attribute,
// the name of the client or server, have the same attribute sets. They share the budget plain.
type places struct {
	plain, active, handlers, panic, notification, violation, drop, retry, size, decode, lost, stream, streamEnd,
	session, transition, attempt, lookup, execution, result, loop, toolChange, gap, task, taskEnd, policy,
	refusal series.Budget
}

// init reserves places in each budget: see [series.Budget.Keep]. The last number in each row is the number of attribute
// sets of one name in the shortest form.
func (p *places) init() {
	const directions, kinds, failedOrNot, withToolOrNot, usual = 2, 4, 2, 2, words.SetsForGroups
	for _, b := range []struct {
		*series.Budget
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
		b.Budget.Keep(b.forGroups, b.least)
	}
}

// minOutcomes is the number of outcomes in the shortest form of a duration: see outcome.anonymous.
const minOutcomes = 4

// anyOf returns the number of values of an attribute with n known words. _OTHER is one more value.
func anyOf(n int) int { return n + 1 }
