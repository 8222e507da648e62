package main

import (
	"fmt"
	"strings"
)

// targetsPage writes targets.md.
func targetsPage(m *measurements) (string, error) {
	all := judgeAll(m, targets)
	var b strings.Builder
	met := 0
	for _, v := range all {
		if v.met() {
			met++
		}
	}
	fmt.Fprintf(&b, "# Targets\n\n%s\n%s\n", generated, m.where())
	fmt.Fprintf(&b, "%d of %d are met. A ratio is the median over the passes of the ratio within a pass; \"best\" is "+
		"the best pass of ours over the best\n"+
		"of the floor's. Of several cases the worst counts. In brackets: the lowest and the highest of the passes.\n\n", met,
		len(all))
	b.WriteString("| what | target | measured | met | where |\n|---|--:|--:|---|---|\n")
	for _, v := range all {
		fmt.Fprintf(&b, "| %s | ≤ %s | %s | %s | %s |\n", v.row, v.format(v.limit), v.told(), v.verdict(), v.where())
	}
	return b.String(), nil
}

func (v *verdict) told() string {
	if v.worst == nil {
		return "–"
	}
	if v.low == v.high {
		return v.format(v.figure)
	}
	return fmt.Sprintf("%s (%s to %s)", v.format(v.figure), v.format(v.low), v.format(v.high))
}

func (v *verdict) verdict() string {
	switch {
	case v.worst == nil:
		return "not measured"
	case v.met():
		return "yes"
	default:
		return "**no**"
	}
}

func (v *verdict) where() string {
	if v.worst == nil {
		return "`" + v.cases + "`"
	}
	return "`" + v.worst.name + "`"
}
