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

// Plan lists the faults of a connection.
type Plan struct {
	// Seed seeds the pseudorandom choices. The same seed gives the same choices.
	Seed uint64

	// Faults are applied to each message in order. All delays (latency and drip) that hit a message add up. Of the other
	// faults, only the first that hits is applied.
	Faults []Fault
}

// Fault is one kind of damage. The zero value of each field except Kind selects its default.
//
// On, Method and Tool select the messages. Matching messages are counted over all connections of the transport. Skip,
// Every, Probability and Limit, in this order, then select the messages that are hit. A request that is sent again
// counts again. The fault applies from the time After since [Wrap], for the duration For.
type Fault struct {
	Kind Kind

	// On is the kind of message. The default is OnRequest for busy, expire, freeze, cut and death, otherwise
	// OnAnswer.
	On On

	// Method is a shell pattern for the method of the message, or of the request that an answer belongs to: * matches any
	// text, ? matches any character, [a-z] matches a character of the set. If Method is empty, the fault matches all
	// methods except initialize and server/discover, which open a connection.
	Method string

	// Tool is a shell pattern for tool names. If it is not empty, the fault matches only calls of these tools.
	Tool string

	Skip        int     // the first Skip messages pass
	Every       int     // of the messages after these, every Every-th may be hit; 0 means every message
	Probability float64 // the chance that such a message is hit, above 0 and at most 1; 0 means 1
	Limit       int     // maximum number of hits; 0 means no limit
	After       time.Duration
	For         time.Duration // duration from After; 0 means no end

	Delay      time.Duration // for latency; for freeze, 0 means until the connection is closed; for reorder, 0 means 1 s
	Jitter     time.Duration // for latency: maximum of an additional random delay
	Rate       int           // for drip, in bytes a second
	Code       int           // for error, 0 means -32603 (internal error); for busy 429 or 503, 0 means 503
	RetryAfter time.Duration // for busy; 0 means no Retry-After
}

// PlanError is an invalid member of a plan.
type PlanError struct {
	Fault  int    // index in [Plan.Faults], from 0
	Kind   Kind   // the kind of the fault, which may be invalid
	Member string // the name of the member in a plan file, such as retry_after
	Reason string
}

// Error names the fault by its number, from 1, and its kind.
func (e *PlanError) Error() string {
	return fmt.Sprintf("fault %d, %s: %s: %s", e.Fault+1, e.Kind, e.Member, e.Reason)
}

// Check returns the first error in the plan, a [*PlanError], or nil.
func (p *Plan) Check() error {
	_, err := compile(p)
	return err
}

// rule is a valid fault with its defaults.
type rule struct {
	Fault
	method, tool *regexp.Regexp // nil for any
}

// compile validates a plan and returns its rules.
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

// rule validates a fault.
func (f Fault) rule() (r rule, wrong *PlanError) {
	t, known := f.Kind.traits()
	if !known {
		return r, &PlanError{Member: "kind", Reason: "want one of " + joined(Kinds())}
	}
	if f.On == "" {
		f.On = t.on[0]
	}
	if !slices.Contains(t.on, f.On) {
		return r, &PlanError{Member: "on", Reason: fmt.Sprintf("%q does not apply to this kind; want %s", f.On, joined(t.on))}
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

// patterns compiles Method and Tool.
func (r *rule) patterns() (wrong *PlanError) {
	for _, p := range []struct {
		member, text string
		to           **regexp.Regexp
	}{{"method", r.Method, &r.method}, {"tool", r.Tool, &r.tool}} {
		if p.text == "" {
			continue
		}
		if r.On == onDial {
			return &PlanError{Member: p.member, Reason: "an attempt to connect has no method and no tool"}
		}
		var err error
		if *p.to, err = glob.Compile(p.text); err != nil {
			return &PlanError{Member: p.member, Reason: err.Error()}
		}
	}
	return nil
}

// counts validates the members that select messages.
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

// sizes validates the members that set amounts.
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
			return &PlanError{Member: s.member, Reason: "this kind does not use it"}
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

// reorderFor is the default of Delay for Reorder: how long a message is held if no other follows.
const reorderFor = time.Second

// withDefaults returns the fault with each zero field set to its default.
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

// joined returns the words, separated by commas.
func joined[T ~string](all []T) string {
	words := make([]string, len(all))
	for i, w := range all {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}
