package chaos

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/glob"
	"github.com/mcpotel/mcpotel/mcp"
)

// Plan says what is broken, and when.
type Plan struct {
	// Seed is what chance is made of. The same seed makes the same choices.
	Seed uint64

	// Faults are tried in their order on each message. The delays of all that hit it add up. Of the others, the first
	// that hits it is done.
	Faults []Fault
}

// Fault is one way to break a connection. The zero value of each field but Kind means its default.
//
// Which messages it is for say On, Method and Tool. Those are counted, over all connections of the transport together,
// and which of them it hits say Skip, Every, Probability and Limit, in this order. A request that is sent again counts
// again. After and For are times since [Wrap].
type Fault struct {
	Kind Kind

	// On is which messages. The default is OnRequest for busy, expire, freeze, cut and death, else OnAnswer.
	On On

	// Method is a pattern of the methods: of the request, also for its answer. Patterns are as in a shell: * is any text,
	// ? any character, [a-z] one of some. Empty means all but initialize and server/discover, which open a connection.
	Method string

	// Tool is a pattern of the names of tools. If it is not empty, the fault is for calls of these tools only.
	Tool string

	Skip        int     // so many pass at first
	Every       int     // then each Nth is hit; 0 means each
	Probability float64 // and of those this part, by chance: above 0, and 1 at most; 0 means all
	Limit       int     // so many are hit at most; 0 means any number
	After       time.Duration
	For         time.Duration // from After; 0 means without end

	Delay      time.Duration // of latency; of freeze, 0 for as long as the connection is open; of reorder, 0 for 1 s
	Jitter     time.Duration // of latency: up to so much more, by chance
	Rate       int           // of drip, in bytes a second
	Code       int           // of error, 0 for -32603 (internal error); of busy 429 or 503, 0 for 503
	RetryAfter time.Duration // of busy; 0 means that the server does not say when to come back
}

// PlanError says what is wrong with a plan.
type PlanError struct {
	Fault  int    // which of [Plan.Faults], from 0
	Kind   Kind   // its kind, which may be none
	Member string // what of it, as in a file: retry_after
	Reason string
}

// Error names the fault by its number, from 1, and its kind.
func (e *PlanError) Error() string {
	return fmt.Sprintf("fault %d, %s: %s: %s", e.Fault+1, e.Kind, e.Member, e.Reason)
}

// Check returns the first thing that is wrong with the plan, a [*PlanError], or nil.
func (p *Plan) Check() error {
	_, err := compile(p)
	return err
}

// rule is a fault that has been checked and has its defaults.
type rule struct {
	Fault
	method, tool *regexp.Regexp // nil for any
}

// compile returns the rules of a plan.
func compile(p *Plan) ([]rule, error) {
	rules := make([]rule, len(p.Faults))
	for i, f := range p.Faults {
		r, wrong := f.rule()
		if wrong != nil {
			wrong.Fault, wrong.Kind = i, f.Kind
			return nil, wrong
		}
		rules[i] = r
	}
	return rules, nil
}

// rule checks a fault, and says what is wrong with it.
func (f Fault) rule() (r rule, wrong *PlanError) {
	t, known := f.Kind.traits()
	if !known {
		return r, &PlanError{Member: "kind", Reason: "is none of " + joined(Kinds())}
	}
	if f.On == "" {
		f.On = t.on[0]
	}
	if !slices.Contains(t.on, f.On) {
		return r, &PlanError{Member: "on", Reason: fmt.Sprintf("%q is not for this kind; it is for %s", f.On, joined(t.on))}
	}
	if wrong = f.counts(); wrong == nil {
		wrong = f.sizes(t)
	}
	if wrong != nil {
		return r, wrong
	}
	r.Fault = f.withDefaults()
	return r, r.patterns()
}

// patterns compiles the patterns.
func (r *rule) patterns() (wrong *PlanError) {
	for _, p := range []struct {
		member, text string
		to           **regexp.Regexp
	}{{"method", r.Method, &r.method}, {"tool", r.Tool, &r.tool}} {
		if p.text == "" {
			continue
		}
		if r.On == onDial {
			return &PlanError{Member: p.member, Reason: "an attempt to connect has none"}
		}
		var err error
		if *p.to, err = glob.Compile(p.text); err != nil {
			return &PlanError{Member: p.member, Reason: err.Error()}
		}
	}
	return nil
}

// counts checks what says when.
func (f *Fault) counts() *PlanError {
	for _, c := range []struct {
		member string
		n      int64
	}{
		{"skip", int64(f.Skip)}, {"every", int64(f.Every)}, {"limit", int64(f.Limit)}, {"after", int64(f.After)},
		{"for", int64(f.For)},
	} {
		if c.n < 0 {
			return &PlanError{Member: c.member, Reason: "is negative"}
		}
	}
	if p := f.Probability; math.IsNaN(p) || p < 0 || p > 1 {
		return &PlanError{Member: "probability", Reason: fmt.Sprintf("%v is not between 0 and 1", p)}
	}
	return nil
}

// sizes checks what says how much.
func (f *Fault) sizes(t trait) *PlanError {
	for _, s := range []struct {
		member string
		n      int64
	}{
		{"delay", int64(f.Delay)}, {"jitter", int64(f.Jitter)}, {"rate", int64(f.Rate)}, {"code", int64(f.Code)},
		{"retry_after", int64(f.RetryAfter)},
	} {
		switch taken := s.member == t.needs || slices.Contains(t.takes, s.member); {
		case s.n != 0 && !taken:
			return &PlanError{Member: s.member, Reason: "this kind has none"}
		case s.n < 0 && s.member != "code":
			return &PlanError{Member: s.member, Reason: "is negative"}
		case s.n == 0 && s.member == t.needs:
			return &PlanError{Member: s.member, Reason: "is missing"}
		}
	}
	if f.Kind == Busy && f.Code != 0 && f.Code != http.StatusTooManyRequests && f.Code != http.StatusServiceUnavailable {
		return &PlanError{Member: "code", Reason: fmt.Sprintf("%d is neither 429 nor 503", f.Code)}
	}
	return nil
}

// reorderFor is how long a message is held back when none follows it, unless the plan says.
const reorderFor = time.Second

// withDefaults returns the fault with what a zero stands for.
func (f Fault) withDefaults() Fault {
	f.Every = max(f.Every, 1)
	if f.Probability == 0 {
		f.Probability = 1
	}
	switch {
	case f.Kind == Reorder && f.Delay == 0:
		f.Delay = reorderFor
	case f.Kind == Error && f.Code == 0:
		f.Code = mcp.CodeInternalError
	case f.Kind == Busy && f.Code == 0:
		f.Code = http.StatusServiceUnavailable
	}
	return f
}

// joined lists words.
func joined[T ~string](all []T) string {
	words := make([]string, len(all))
	for i, w := range all {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}
