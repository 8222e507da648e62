package chaos

import (
	"math/bits"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// What happens to a message is decided here, and depends on nothing but the arguments.

// event is what a plan decides on.
type event struct {
	on           On
	method, tool string
	since        time.Duration // since Wrap
}

// tally is how often a rule was asked.
type tally struct {
	seen uint64 // messages that the rule is for
	hit  int    // of those, how many it was to hit
}

// verdict is what becomes of a message.
type verdict struct {
	delay time.Duration // of all latencies
	drips []int         // rules
	hit   *rule         // what else, nil for nothing
	kinds []Kind        // all of that
	draw  uint64        // chance for what hit does
}

// judge decides on an event, and counts it. tallies has an element for each rule.
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

// isFor reports whether the rule counts the event.
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

// hits reports whether the rule hits the event that is preceded by n others that it is for, of which it was to hit so
// many. draw is chance.
func (r *rule) hits(draw, n uint64, already int) bool {
	skip := uint64(r.Skip)
	return n >= skip && (n-skip+1)%uint64(r.Every) == 0 && (r.Limit == 0 || already < r.Limit) &&
		part(draw) < r.Probability
}

// part makes a number from 0, up to and without 1, of chance.
func part(draw uint64) float64 { return float64(draw>>11) / (1 << 53) }

// chance returns 64 bits that depend on all of the arguments: splitmix64, over each of them.
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
