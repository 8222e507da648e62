package loops

import "slices"

// Size is how many calls of a conversation are remembered.
const Size = 64

// Periods is how many calls a [Cycle] has at most.
const Periods = 4

// MaxRepeats is how many rounds of the longest cycle are remembered.
const MaxRepeats = Size / Periods

// Traits are what decides whether a call that brings nothing new is one too many: what the server says of its tool, and
// how it ended.
type Traits uint8

const (
	// ReadOnly tools only read: readOnlyHint. To ask one the same again is polling; to ask it ever other questions that
	// have the same answer is not.
	ReadOnly Traits = 1 << iota
	// Idempotent tools may be called again: idempotentHint. That is polling, too.
	Idempotent
	// Writes is a tool that changes something, as the server says: readOnlyHint is false, or there is one of the hints
	// that only such a tool has. That it always says "ok" says nothing of what it has done.
	Writes
	// Failed calls have an error of the tool or of the server for a result. To make one again is no polling.
	Failed
)

// Call is one call that has had its result.
type Call struct {
	Tool   uint64 // hash of its name
	Args   uint64 // hash of the tool and the arguments
	Result uint64 // hash of the result
	Traits Traits
}

// polls reports whether the call is one that is repeated for a reason: to see whether the answer has changed, or to do
// once more what it does.
func (c *Call) polls() bool {
	return c.Traits&Failed == 0 && c.Traits&(ReadOnly|Idempotent|Writes) != 0
}

// mayChange reports whether the call may have changed what another one says.
func (c *Call) mayChange() bool { return c.Traits&(ReadOnly|Failed) == 0 }

// exact is the call with its result, as one hash.
func (c *Call) exact() uint64 { return mix(c.Args, c.Result) }

// told is what the call has told of its tool, whatever its arguments; in turns with others, that is believed of a tool
// that says so, or of an error.
func (c *Call) told() uint64 {
	if c.Traits&(ReadOnly|Failed) != 0 {
		return mix(c.Tool, c.Result)
	}
	return c.exact()
}

// Kind is what kind of loop it is; zero for none.
type Kind uint8

// The kinds of loops.
const (
	None Kind = iota
	SameCall
	SameResult
	Cycle
)

// Loop is a loop that the latest call belongs to. The zero Loop is none.
type Loop struct {
	Kind   Kind
	Calls  int // that belong to it, the latest among them
	period int // of a cycle
}

// Limits say from when on calls are a loop.
type Limits struct {
	Repeats int // of a call, of a result, of a cycle; 2 to [MaxRepeats]
	Polls   int // of a call that polls, likewise of all calls of a cycle of these; not less than Repeats
}

// Ring are the last calls of one conversation. The zero Ring is ready. What is looked for with each call is counted as
// calls come; only what few calls come to is looked for among those that are remembered.
type Ring struct {
	calls [Size]Call
	exact [Size]uint64
	told  [Periods]uint64
	alike [256]uint8 // how many calls have this last byte of exact
	n     uint       // calls so far

	row          int              // calls in a row of one tool with one result
	same         [Periods + 1]int // by period: how many of the latest calls repeat with it
	sameAsBefore [Periods + 1]int // the same of what calls have told

	loop Loop // that the latest call belongs to
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

// follow counts one more call that repeats with a period, or begins anew: any calls are one round of themselves.
func follow(run *int, period int, before uint, repeats bool) {
	if repeats {
		*run++
	} else {
		*run = int(min(before+1, uint(period)))
	}
}

// Continues reports whether a call would go on with the loop that the latest call belongs to.
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

// at returns the call that is so many before the latest.
func (r *Ring) at(back int) *Call { return &r.calls[r.index(back)] }

func (r *Ring) index(back int) uint { return (r.n - 1 - uint(back)) % Size }

// len is how many calls are remembered.
func (r *Ring) len() int { return int(min(r.n, Size)) }

// find returns the loop of the latest call, which repeats one of the last few or does not.
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

// cycle returns how many calls have come in turns of this period, 0 for less than is a loop: the latest call has come
// Repeats times then.
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

// sameCalls returns how often the latest call has been made with its result since another tool may have changed
// something, 0 for less than is a loop.
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

// differ reports whether the calls in a row that were of the latest tool, and had its result, had so many different
// arguments, as far as they are remembered.
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
