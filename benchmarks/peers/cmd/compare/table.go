package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// section holds the results of one benchmark function.
type section struct {
	base  string
	peers []string // in the order of the columns
	cases []*benchCase
}

// sections are the benchmark functions, in the order in which they ran.
func (m *measurements) sections() []*section {
	var all []*section
	for _, c := range m.cases {
		i := slices.IndexFunc(all, func(s *section) bool { return s.base == c.base() })
		if i < 0 {
			i, all = len(all), append(all, &section{base: c.base()})
		}
		all[i].cases = append(all[i].cases, c)
		for _, p := range c.peers {
			if !slices.Contains(all[i].peers, p) {
				all[i].peers = append(all[i].peers, p)
			}
		}
	}
	for _, s := range all {
		slices.SortStableFunc(s.peers, func(a, b string) int { return column(a) - column(b) })
	}
	return all
}

// column orders the known peers; unknown peers follow in their own order.
func column(peer string) int {
	known := []string{floor, floorJSON, ours, "gosdk", "mcpgo"}
	if i := slices.Index(known, peer); i >= 0 {
		return i
	}
	return len(known)
}

// tablePage writes table.md.
func tablePage(m *measurements) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# What was measured\n\n%s\n%s\n", generated, m.where())
	b.WriteString(howToRead)
	for _, s := range m.sections() {
		fmt.Fprintf(&b, "\n## %s\n\n", s.base)
		if note := leavesOut[s.base]; note != "" {
			fmt.Fprintf(&b, "%s\n\n", note)
		}
		s.table(&b, floor)
		if s.some(floorJSON) && s.some(floor) {
			b.WriteString("\nAgainst floorjson: wall (CPU).\n\n")
			s.against(&b, floorJSON)
		}
	}
	return b.String(), nil
}

const generated = "Written by `go -C benchmarks/peers run ./cmd/compare`; the lines it comes from are in raw.txt.gz.\n"

// where describes the commit, the machine and the time of the measurement.
func (m *measurements) where() string {
	var b strings.Builder
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", name, value)
		}
	}
	a := m.about
	b.WriteString("| | |\n|---|---|\n")
	row("machine", join(", ", a["cpu"], suffix(a["cores"], " cores"), a["memory"]))
	row("system", join(", ", join("/", a["goos"], a["goarch"]), prefixed("kernel ", a["kernel"])))
	row("Go", join(", ", a["go"], prefixed("GOMAXPROCS ", a["gomaxprocs"]), prefixed("GOGC ", a["gogc"])))
	row("commit", a["commit"])
	row("date", a["date"])
	row("passes", join(", ", fmt.Sprint(m.passes), suffix(a["benchtime"], " a benchmark")))
	if len(m.loads) > 0 {
		row("load when a pass began", fmt.Sprintf("%s to %s", digits(slices.Min(m.loads)), digits(slices.Max(m.loads))))
	}
	return b.String()
}

// table writes a row for each case: the absolute cost of the floor, or of its replacement, and the others as multiples.
func (s *section) table(b *strings.Builder, base string) {
	s.head(b)
	for _, c := range s.cases {
		fmt.Fprintf(b, "| %s |", orElse(strings.ReplaceAll(c.rest(), "/", " "), "–"))
		against := base
		for _, next := range []string{floorJSON, absent} {
			if !c.has(against) {
				against = next
			}
		}
		for _, p := range s.peers {
			fmt.Fprintf(b, " %s |", c.cell(p, against))
		}
		b.WriteByte('\n')
	}
}

// against writes a row with the ratios only for each case with the base.
func (s *section) against(b *strings.Builder, base string) {
	s.head(b)
	for _, c := range s.cases {
		if !c.has(base) {
			continue
		}
		fmt.Fprintf(b, "| %s |", orElse(strings.ReplaceAll(c.rest(), "/", " "), "–"))
		for _, p := range s.peers {
			fmt.Fprintf(b, " %s |", orElse(c.times(p, base), "–"))
		}
		b.WriteByte('\n')
	}
}

func (s *section) head(b *strings.Builder) {
	fmt.Fprintf(b, "| case | %s |\n|---|%s\n", strings.Join(s.peers, " | "), strings.Repeat("--:|", len(s.peers)))
}

func (s *section) some(peer string) bool { return slices.Contains(s.peers, peer) }

// cell writes a peer's time, or its multiple of the base's, then its allocations, then the other reported figures.
func (c *benchCase) cell(peer, base string) string {
	if !c.has(peer) {
		return "–"
	}
	cost := c.times(peer, base)
	if cost == "" || peer == base {
		cost = c.absolute(peer)
	}
	return join("; ", cost, c.allocated(peer), c.others(peer))
}

// times writes the medians of ratios, as in ×1.83 (CPU ×2.02); empty without ratios.
func (c *benchCase) times(peer, base string) string {
	w, p := c.ratio(peer, base, wall), c.ratio(peer, base, cpu)
	if math.IsNaN(w) {
		return ""
	}
	if math.IsNaN(p) {
		return multiple(w)
	}
	return fmt.Sprintf("%s (CPU %s)", multiple(w), multiple(p))
}

func (c *benchCase) ratio(peer, base, unit string) float64 {
	s, ok1 := c.series(peer, unit)
	t, ok2 := c.series(base, unit)
	if !ok1 || !ok2 {
		return math.NaN()
	}
	return s.over(t).median()
}

func (c *benchCase) absolute(peer string) string {
	s, ok := c.series(peer, wall)
	if !ok {
		return ""
	}
	text := duration(s.median())
	if s, ok := c.series(peer, cpu); ok {
		text += fmt.Sprintf(" (CPU %s)", duration(s.median()))
	}
	return text
}

func (c *benchCase) allocated(peer string) string {
	n, ok1 := c.series(peer, allocs)
	size, ok2 := c.series(peer, bytesPerOp)
	if !ok1 || !ok2 {
		return ""
	}
	return fmt.Sprintf("%s, %s", number(math.Round(n.median())), quantity(math.Round(size.median()), bytesPerOp))
}

// others writes the figures of few benchmarks, with their units.
func (c *benchCase) others(peer string) string {
	var parts []string
	for f, s := range c.figures {
		if f.peer == peer && !slices.Contains([]string{wall, cpu, rate, bytesPerOp, allocs}, f.unit) {
			parts = append(parts, other(s.median(), f.unit))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// other formats a figure with its name or unit, as in "p50 0.21 ms" and "9.8 KiB/client".
func other(v float64, unit string) string {
	switch {
	case unit == peak:
		return "peak " + multiple(v)
	case strings.HasSuffix(unit, "-ns"):
		return strings.TrimSuffix(unit, "-ns") + " " + duration(v)
	case strings.HasPrefix(unit, "B/"):
		return quantity(v, unit) + strings.TrimPrefix(unit, "B")
	default:
		return number(v) + " " + unit
	}
}

// join joins the parts that are not empty.
func join(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// suffix appends after to s, unless s is empty.
func suffix(s, after string) string {
	if s == "" {
		return ""
	}
	return s + after
}

func prefixed(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}
