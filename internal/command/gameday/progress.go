package gameday

import "time"

// State is the state of an alert in an alerting system.
type State uint8

// The states. A later state takes precedence over an earlier one.
const (
	Inactive State = iota
	Pending
	Firing
)

// Outcome is the outcome of a drill.
type Outcome string

// The outcomes.
const (
	Passed      Outcome = "passed"
	NotLoaded   Outcome = "not_loaded"   // the alerting system has no such alert
	NotClear    Outcome = "not_clear"    // the alert fired before the drill, and did not resolve
	NotFired    Outcome = "not_fired"    // the alert did not fire in time
	NotResolved Outcome = "not_resolved" // the alert fired, and had not resolved at the end
	NoTrace     Outcome = "no_trace"     // the alert fired and resolved, but no trace shows the cause
	Unexplained Outcome = "unexplained"  // everything passed, but the explanation of the alert lacks a part
)

// phase is the phase of a drill.
type phase uint8

const (
	clearing phase = iota // until the alert does not fire and the warm-up is over
	raising
	mending
	over
)

// progress records the phases of a drill. The zero value is a drill that has not begun.
type progress struct {
	phase                          phase
	began, broke, fired, recovered time.Time
}

// begin starts the drill.
func (p *progress) begin(now time.Time) { p.began = now }

// see records the state of the alert, and reports whether the phase has changed. The drill causes no failure before
// warm has passed.
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

// outcome returns the outcome at the end. traced reports whether a trace was found, or none was needed.
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
