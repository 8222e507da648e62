package chaos

import (
	"math/bits"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// This file chooses the faults of each message. The result depends only on the arguments.

// event is a message or an attempt to connect, to which a plan applies.
type event struct {
	on           On
	method, tool string
	since        time.Duration // time since Wrap
}

// tally counts the events of a rule.
type tally struct {
	seen uint64 // events that match the rule
	hit  int    // events to which the rule was applied
}

// verdict is the sum of the faults for one event.
type verdict struct {
	delay time.Duration // sum of all latencies
	drips []int         // indexes of the drip rules that hit
	hit   *rule         // the fault of any other kind, nil for none
	kinds []Kind        // all faults that hit
	draw  uint64        // random bits for hit
}

// judge returns the faults for an event, and counts the event in tallies, which has one element for each rule.
func judge(seed uint64, rules []rule, tallies []tally, e event) (v verdict) {
	for i := range rules {
		r, t := &rules[i], &tallies[i]
		if !r.isFor(e) {
			continue
		}
		n := t.seen
		t.seen++
		if v.hit != nil && r.Kind != Latency && r.Kind != Drip || !r.hits(chance(seed, uint64(i), n, 0), n, t.hit) {
			continue
		}
		t.hit++
		v.kinds = append(v.kinds, r.Kind)
		switch draw := chance(seed, uint64(i), n, 1); r.Kind {
		case Latency:
			v.delay += r.Delay + time.Duration(part(draw)*float64(r.Jitter))
		case Drip:
			v.drips = append(v.drips, i)
		default:
			v.hit, v.draw = r, draw
		}
	}
	return v
}

// isFor reports whether the event matches the rule.
func (r *rule) isFor(e event) bool {
	if e.on != r.On || e.since < r.After || r.For > 0 && e.since-r.After >= r.For {
		return false
	}
	if r.tool != nil && (e.method != mcp.MethodCallTool || !r.tool.MatchString(e.tool)) {
		return false
	}
	if r.method == nil {
		return e.method != mcp.MethodInitialize && e.method != mcp.MethodDiscover
	}
	return r.method.MatchString(e.method)
}

// hits reports whether the rule selects the event. n counts the earlier events that match the rule. already counts
// those of them to which the rule was applied. draw is random.
func (r *rule) hits(draw, n uint64, already int) bool {
	skip := uint64(r.Skip)
	return n >= skip && (n-skip+1)%uint64(r.Every) == 0 && (r.Limit == 0 || already < r.Limit) &&
		part(draw) < r.Probability
}

// part converts random bits to a number in [0, 1).
func part(draw uint64) float64 { return float64(draw>>11) / (1 << 53) }

// chance returns 64 pseudorandom bits that depend on all arguments. It applies splitmix64 to each of them.
func chance(seed uint64, parts ...uint64) uint64 {
	x := seed
	for _, p := range parts {
		x = mix(x + 0x9e3779b97f4a7c15*(p+1))
	}
	return x
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return bits.RotateLeft64(x^x>>31, 17)
}
