package gameday

import "time"

// State is what an alerting system says of an alert.
type State uint8

// The states, of which the later ones outweigh the earlier ones.
const (
	Inactive State = iota
	Pending
	Firing
)

// Outcome is what became of a drill.
type Outcome string

// The outcomes.
const (
	Passed      Outcome = "passed"
	NotLoaded   Outcome = "not_loaded"   // the alerting system has no such alert
	NotClear    Outcome = "not_clear"    // it fired before anything was broken, and went on
	NotFired    Outcome = "not_fired"    // it did not fire in the time there was
	NotResolved Outcome = "not_resolved" // it fired, and did so still at the end
	NoTrace     Outcome = "no_trace"     // it fired and ended, and no trace that shows the cause was found
)

// phase is where a drill is.
type phase uint8

const (
	clearing phase = iota // until the alert does not fire, and the drill is warm
	raising
	mending
	over
)

// progress is what has been seen of a drill. The zero value is one that has not begun.
type progress struct {
	phase                          phase
	began, broke, fired, recovered time.Time
}

// begin begins the drill.
func (p *progress) begin(now time.Time) { p.began = now }

// see takes what the alerting system says, and reports whether the phase has changed. All is well at first, for as long
// as warm says.
func (p *progress) see(now time.Time, s State, warm time.Duration) bool {
	switch {
	case p.phase == clearing && s != Firing && now.Sub(p.began) >= warm:
		p.phase, p.broke = raising, now
	case p.phase == raising && s == Firing:
		p.phase, p.fired = mending, now
	case p.phase == mending && s == Inactive:
		p.phase, p.recovered = over, now
	default:
		return false
	}
	return true
}

// outcome is what has become of it, if no more is seen. traced says whether a trace was found, or none was looked for.
func (p *progress) outcome(traced bool) Outcome {
	switch {
	case p.phase == clearing:
		return NotClear
	case p.phase == raising:
		return NotFired
	case p.phase == mending:
		return NotResolved
	case !traced:
		return NoTrace
	}
	return Passed
}
