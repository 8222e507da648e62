package main

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
)

// verdict is the result for a target.
type verdict struct {
	*target
	worst     *benchCase // case with the largest figure; nil if there is no figure
	figure    float64
	low, high float64 // of the passes, where they make sense
}

// met reports whether the figure is within the limit.
func (v *verdict) met() bool { return v.worst != nil && v.figure <= v.limit }

// holds reports whether the figure is within the guarded limit, or within a factor of it if the figure is not an exact
// count.
func (v *verdict) holds(factor float64) bool {
	if v.exact() {
		factor = 1
	}
	return v.worst != nil && v.figure <= v.guarded()*factor
}

// judgeAll compares targets with the measurements.
func judgeAll(m *measurements, targets []*target) []*verdict {
	var all []*verdict
	for _, t := range targets {
		all = append(all, t.judge(m))
	}
	return all
}

// judgeFairly compares targets with the results of measure. If again is true, it measures targets beyond factor again,
// up to three times in all; one success is enough.
func judgeFairly(
	targets []*target, factor float64, measure func([]*target) (*measurements, error), again bool,
) (all []*verdict, err error) {
	for tries := 1; ; tries++ {
		m, err := measure(targets)
		if err != nil {
			return nil, err
		}
		var missed []*target
		verdicts := judgeAll(m, targets)
		for _, v := range verdicts {
			if !v.holds(factor) && v.worst != nil {
				missed = append(missed, v.target)
			}
		}
		if len(missed) == 0 || tries == 3 || !again {
			return append(all, verdicts...), nil
		}
		for _, v := range verdicts {
			if !slices.Contains(missed, v.target) {
				all = append(all, v)
			}
		}
		targets = missed
	}
}

// judge finds the worst case of a target.
func (t *target) judge(m *measurements) *verdict {
	v := &verdict{target: t}
	for _, c := range m.matching(t.cases) {
		f, s := t.measured(m, c)
		if math.IsNaN(f) || v.worst != nil && f <= v.figure {
			continue
		}
		v.worst, v.figure = c, f
		v.low, v.high = s.spread()
	}
	return v
}

// measured returns a target's figure in a case, NaN without one, and its values in each pass.
func (t *target) measured(m *measurements, c *benchCase) (float64, series) {
	s, ok := c.series(t.of(), t.unit)
	if !ok {
		return math.NaN(), nil
	}
	if t.over == "" {
		return s.median(), s
	}
	other := c
	if t.overCases != "" {
		matching := m.matching(t.overCases)
		if len(matching) != 1 { // ambiguous
			return math.NaN(), nil
		}
		other = matching[0]
	}
	base, ok := other.series(t.over, t.unit)
	if !ok {
		return math.NaN(), nil
	}
	switch t.how {
	case best:
		return s.least() / base.least(), s.over(base)
	case added:
		return s.minus(base).median(), s.minus(base)
	default:
		return s.over(base).median(), s.over(base)
	}
}

// matching returns the cases that a pattern matches, see target.cases.
func (m *measurements) matching(pattern string) []*benchCase {
	elements := strings.Split(pattern, "/")
	var found []*benchCase
	for _, c := range m.cases {
		if matches(strings.Split(c.name, "/"), elements) {
			found = append(found, c)
		}
	}
	return found
}

func matches(name, pattern []string) bool {
	if len(name) < len(pattern) {
		return false
	}
	for i, p := range pattern {
		if !regexp.MustCompile("^(?:" + p + ")$").MatchString(name[i]) {
			return false
		}
	}
	return true
}

// neededBy returns a pattern for -bench that runs the cases of the targets, and more if targets do not name all
// elements.
func neededBy(targets []*target) string {
	var alternatives []string
	seen := map[string]bool{"": true}
	for _, t := range targets {
		for _, cases := range []string{t.cases, t.overCases} {
			if seen[cases] {
				continue
			}
			seen[cases] = true
			elements := strings.Split(cases, "/")
			elements[0] = "Benchmark" + elements[0]
			for i, e := range elements {
				elements[i] = "^(?:" + e + ")$"
			}
			alternatives = append(alternatives, strings.Join(elements, "/"))
		}
	}
	return strings.Join(alternatives, "|")
}

// shown are peers that only tables show beside ours.
var shown = []string{"gosdk", "mcpgo", "v1", "v2"}

// needless returns a pattern for -skip: shown peers that no target needs. The peer may be any element of a name.
func needless(targets []*target) string {
	peers := slices.DeleteFunc(slices.Clone(shown), func(peer string) bool {
		return slices.ContainsFunc(targets, func(t *target) bool { return peer == t.of() || peer == t.over })
	})
	if len(peers) == 0 {
		return ""
	}
	var alternatives []string
	element := "^peer=(" + strings.Join(peers, "|") + ")$"
	for range deepest {
		element = ".*/" + element
		alternatives = append(alternatives, element)
	}
	return strings.Join(alternatives, "|")
}

// deepest is the maximum number of elements before the peer.
const deepest = 8

// check prints the targets that are met within a factor, and returns an error if a target is missed. Unmeasured targets
// are misses, unless only some benchmarks were requested.
func check(out io.Writer, all []*verdict, factor float64, some bool) error {
	var checked, missed int
	for _, v := range all {
		switch {
		case v.worst == nil && some:
			continue
		case v.met():
			fmt.Fprintf(out, "ok    %s: %s, target %s\n", v.row, v.told(), v.format(v.limit))
		case v.holds(factor):
			fmt.Fprintf(out, "ok    %s: %s, over the target of %s but within %g times %s\n",
				v.row, v.told(), v.format(v.limit), factor, v.format(v.guarded()))
		case v.worst == nil:
			missed++
			fmt.Fprintf(out, "FAIL  %s: not measured, want a benchmark %s/peer=%s that reports %s\n", v.row, v.cases, v.of(),
				v.unit)
		default:
			missed++
			fmt.Fprintf(out, "FAIL  %s: want at most %s%s, got %s in %s\n", v.row, v.format(v.guarded()), v.margin(factor),
				v.told(), v.worst.name)
		}
		checked++
	}
	switch {
	case missed > 0:
		return fmt.Errorf("%d of %d targets missed", missed, checked)
	case checked == 0:
		return fmt.Errorf("no benchmark that ran has a target")
	}
	return nil
}

func (v *verdict) margin(factor float64) string {
	if v.exact() || factor == 1 {
		return ""
	}
	return fmt.Sprintf(" times %g", factor)
}

// format writes a figure of the target: a multiple, or a value with its unit.
func (t *target) format(f float64) string {
	switch {
	case t.over != "" && t.how != added:
		return multiple(f)
	case t.how == added:
		return number(f) + " more"
	default:
		return quantity(f, t.unit)
	}
}
