package loops

import "slices"

// Size is the number of calls that a [Ring] remembers.
const Size = 64

// Periods is the maximum number of calls in a [Cycle].
const Periods = 4

// MaxRepeats is the number of rounds that a [Ring] remembers of the longest cycle.
const MaxRepeats = Size / Periods

// Traits of a call decide whether it may be repeated. They combine the annotations of the tool and the outcome of the
// call.
type Traits uint8

const (
	// ReadOnly marks a tool that only reads: it has readOnlyHint. Repeating the same call is polling; making different
	// calls that all have the same result is not.
	ReadOnly Traits = 1 << iota
	// Idempotent marks a tool that has idempotentHint: a repeated call has no further effect, so the repetition also
	// counts as polling.
	Idempotent
	// Writes marks a tool that changes something according to its annotations: readOnlyHint is false, or it has one of the
	// hints that are only for such tools. If every result of the tool is "ok", its calls may still have different effects.
	Writes
	// Failed marks a call with an error of the tool or of the server as its result. Repeating such a call is not polling.
	Failed
)

// Call is one finished call.
type Call struct {
	Tool   uint64 // hash of the tool's name
	Args   uint64 // hash of the tool and the arguments
	Result uint64 // hash of the result
	Traits Traits
}

// polls reports whether there is a good reason to repeat the call: to check for a new answer, or to repeat its effect.
func (c *Call) polls() bool {
	return c.Traits&Failed == 0 && c.Traits&(ReadOnly|Idempotent|Writes) != 0
}

// mayChange reports whether the call may have changed the results of other calls.
func (c *Call) mayChange() bool { return c.Traits&(ReadOnly|Failed) == 0 }

// exact returns a hash of the call and its result.
func (c *Call) exact() uint64 { return mix(c.Args, c.Result) }

// told returns a hash for the comparison of calls in a cycle. For a read-only tool and for a failed call, it covers the
// tool and the result but not the arguments. For all other calls, it is the result of exact.
func (c *Call) told() uint64 {
	if c.Traits&(ReadOnly|Failed) != 0 {
		return mix(c.Tool, c.Result)
	}
	return c.exact()
}

// Kind is the kind of a loop.
type Kind uint8

// The kinds of loops. None is the zero Kind.
const (
	None Kind = iota
	SameCall
	SameResult
	Cycle
)

// Loop is the loop that the latest call belongs to. The zero Loop means no loop.
type Loop struct {
	Kind   Kind
	Calls  int // number of calls in the loop, including the latest
	period int // period of a cycle
}

// Limits are the thresholds from which repeated calls are a loop.
type Limits struct {
	Repeats int // repetitions of a call, a result or a cycle; 2 to [MaxRepeats]
	Polls   int // repetitions of a polling call, and number of calls in a cycle of polling calls; at least Repeats
}

// Ring holds the last calls of one conversation. The zero Ring is ready to use. Add maintains counters, so that it has
// to search the remembered calls only in rare cases.
type Ring struct {
	calls [Size]Call
	exact [Size]uint64
	told  [Periods]uint64
	alike [256]uint8 // number of remembered calls by the last byte of exact
	n     uint       // number of calls so far

	row          int              // number of latest consecutive calls of the same tool with the same result
	same         [Periods + 1]int // by period: number of latest calls that repeat exactly with that period
	sameAsBefore [Periods + 1]int // like same, but calls are compared by told instead of exact

	loop Loop // loop of the latest call
}

// Loop returns the loop that the latest call belongs to.
func (r *Ring) Loop() Loop { return r.loop }

// Add adds a call and returns the loop that it belongs to.
func (r *Ring) Add(c Call, l Limits) Loop {
	exact, told := c.exact(), c.told()
	if r.n > 0 && r.at(0).Tool == c.Tool && r.at(0).Result == c.Result {
		r.row++
	} else {
		r.row = 1
	}
	repeats := false
	for period := 1; period <= Periods; period++ {
		back := uint(period)
		known := back <= r.n
		same := known && r.exact[(r.n-back)%Size] == exact
		sameAsBefore := known && r.told[(r.n-back)%Periods] == told
		follow(&r.same[period], period, r.n, same)
		follow(&r.sameAsBefore[period], period, r.n, sameAsBefore)
		repeats = repeats || same || sameAsBefore
	}
	at := r.n % Size
	if r.n >= Size {
		r.alike[uint8(r.exact[at])]--
	}
	r.calls[at], r.exact[at], r.told[r.n%Periods] = c, exact, told
	r.alike[uint8(exact)]++
	r.n++
	r.loop = r.find(repeats, l)
	return r.loop
}

// follow extends a run of calls that repeat with a period, or restarts the run. A new run has one round: as many of the
// latest calls as the period, or all calls if there are fewer.
func follow(run *int, period int, before uint, repeats bool) {
	if repeats {
		*run++
	} else {
		*run = int(min(before+1, uint(period)))
	}
}

// Continues reports whether a call would continue the loop of the latest call.
func (r *Ring) Continues(tool, args uint64) bool {
	switch r.loop.Kind {
	case SameCall:
		return r.at(0).Args == args
	case SameResult:
		return r.at(0).Tool == tool
	case Cycle:
		next := r.at(r.loop.period - 1)
		return next.Args == args || next.Tool == tool && next.Traits&(ReadOnly|Failed) != 0
	}
	return false
}

// at returns the call at the distance back from the latest call, so at(0) is the latest call.
func (r *Ring) at(back int) *Call { return &r.calls[r.index(back)] }

func (r *Ring) index(back int) uint { return (r.n - 1 - uint(back)) % Size }

// len returns the number of remembered calls.
func (r *Ring) len() int { return int(min(r.n, Size)) }

// find returns the loop of the latest call. repeats is set if the latest call equals one of the few calls before it.
func (r *Ring) find(repeats bool, l Limits) Loop {
	for period := 2; repeats && period <= Periods; period++ {
		if n := r.cycle(period, l); n > 0 {
			return Loop{Cycle, n, period}
		}
	}
	if n := r.sameCalls(l); n > 0 {
		return Loop{Kind: SameCall, Calls: n}
	}
	if r.differ(l.Repeats) {
		return Loop{Kind: SameResult, Calls: r.row}
	}
	return Loop{}
}

// cycle returns the number of calls that repeat with the period. It returns 0 unless the latest call has occurred
// Repeats times, which makes the calls a loop.
func (r *Ring) cycle(period int, l Limits) int {
	need := period*(l.Repeats-1) + 1
	n := r.same[period]
	if n >= need && r.same[1] < period {
		for back := range period {
			if c := r.at(back); !c.polls() {
				return n
			}
		}
		if n >= l.Polls {
			return n
		}
		return 0
	}
	if n = r.sameAsBefore[period]; n >= need && r.sameAsBefore[1] < period {
		return n
	}
	return 0
}

// sameCalls counts the latest call with the same result, back to the last call of another tool that may have changed
// something. It returns 0 if the number is too small for a loop.
func (r *Ring) sameCalls(l Limits) int {
	latest, exact, need := r.at(0), r.exact[r.index(0)], l.Repeats
	if latest.polls() {
		need = l.Polls
	}
	switch n := r.same[1]; {
	case n >= need:
		return n
	case int(r.alike[uint8(exact)]) < need:
		return 0
	}
	n := 0
	for back := range r.len() {
		if r.exact[r.index(back)] == exact {
			n++
		} else if c := r.at(back); c.Tool != latest.Tool && c.mayChange() {
			break
		}
	}
	if n < need {
		return 0
	}
	return n
}

// differ reports whether the latest consecutive calls with the same tool and result had at least the given number of
// different arguments, as far as these calls are remembered.
func (r *Ring) differ(repeats int) bool {
	if r.row-r.same[1]+1 < repeats || r.at(0).Traits&(Writes|Failed) == Writes {
		return false
	}
	var all [MaxRepeats]uint64
	args := all[:0]
	for back := range min(r.row, Size) {
		if a := r.at(back).Args; !slices.Contains(args, a) {
			if args = append(args, a); len(args) == repeats {
				return true
			}
		}
	}
	return false
}
