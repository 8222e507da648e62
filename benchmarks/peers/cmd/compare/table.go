package main

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// column is a peer of the table, with its name for readers.
type column struct{ peer, name string }

var columns = []column{
	{ours, "mcpotel"}, {absent, "without telemetry"}, {floorJSON, "floor + json"}, {"gosdk", "official SDK"},
	{"mcpgo", "mcp-go"},
}

const tableHead = `# Speed that people feel

Written by ` + "`go -C benchmarks/peers run ./cmd/compare`" + `; raw.txt.gz has the output of the benchmarks.

%s
CPU time of the client's process unless the row has another unit, medians of the passes. The number behind a library is
the multiple of mcpotel's figure.

- *mcpotel* has its defaults, without an SDK of OpenTelemetry; *without telemetry* it is built with telemetry.Off().
- *floor + json* is the least that a usable client does: a goroutine reads, answers are matched by id, encoding/json
  decodes once. In rows of servers, and in rows with "× floor", it is *floor*, which moves the same bytes and
  examines none.
- The *official SDK* is github.com/modelcontextprotocol/go-sdk 1.8.0, *mcp-go* is github.com/mark3labs/mcp-go 1.2.1,
  both as their documentation shows them. They have no telemetry; in the rows "in production" they have a span and a
  histogram around each call, by hand.
- The goal is a multiple of *floor + json* unless the row names another base. *Now* is the median of the ratios within a
  pass, the worst of the row's cases: both eras of the protocol, and each way to have an HTTP client.

`

// tablePage writes table.md.
func tablePage(m *measurements) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, tableHead, m.where())
	b.WriteString("| |")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c.name)
	}
	b.WriteString(" goal | now | met |\n|---|" + strings.Repeat("--:|", len(columns)) + "--:|--:|---|\n")
	met, goals := 0, 0
	for _, r := range rows {
		v := r.judge(m)
		if v.first == nil {
			continue
		}
		fmt.Fprintf(&b, "| %s |", r.title)
		for _, c := range columns {
			fmt.Fprintf(&b, " %s |", v.cell(c.peer))
		}
		if r.goal == 0 {
			b.WriteString(" | | |\n")
			continue
		}
		goals++
		yes := "**no**"
		if v.figure <= r.goal {
			yes, met = "yes", met+1
		}
		fmt.Fprintf(&b, " %s | %s | %s |\n", r.format(r.goal), r.format(v.figure), yes)
	}
	fmt.Fprintf(&b, "\n%d of %d goals are met.\n", met, goals)
	b.WriteString(observedTable(m))
	return b.String(), nil
}

// verdict is the result for a row.
type verdict struct {
	*row
	first  *benchCase // the case that the table shows; nil if none was measured
	figure float64    // the worst figure of all cases, compared with the goal; NaN if no case was measured
}

func (r *row) judge(m *measurements) *verdict {
	v := &verdict{row: r, figure: math.NaN()}
	for _, pattern := range r.cases {
		for _, c := range m.matching(pattern) {
			if _, ok := c.series(r.who(), r.unit); !ok {
				continue
			}
			if v.first == nil {
				v.first = c
			}
			if f := r.compared(m, c); !math.IsNaN(f) && !(f <= v.figure) {
				v.figure = f
			}
		}
	}
	return v
}

// compared returns the figure of a case that the goal limits, or NaN if the case does not have it.
func (r *row) compared(m *measurements, c *benchCase) float64 {
	mine, _ := c.series(r.who(), r.unit)
	if r.how == alone {
		return mine.median()
	}
	if r.other != "" {
		others := m.matching(r.other)
		if len(others) != 1 {
			return math.NaN()
		}
		c = others[0]
	}
	base, ok := c.series(r.base(), r.unit)
	switch {
	case !ok:
		return math.NaN()
	case r.how == added:
		return mine.minus(base).median()
	default:
		return mine.over(base).median()
	}
}

// cell returns the text for a column: the figure of the column's peer, and for other libraries also the ratio to our
// figure.
func (v *verdict) cell(column string) string {
	peer := column
	switch {
	case column == ours:
		peer = v.who()
	case column == floorJSON && v.over == floor:
		peer = floor
	case v.peer != "":
		return "–" // no column of these has such a case
	}
	s, ok := v.first.series(peer, v.unit)
	if !ok {
		return "–"
	}
	if v.how == added {
		base, _ := v.first.series(v.base(), v.unit)
		s = s.minus(base)
	}
	text := quantity(s.median(), v.unit)
	if column == "gosdk" || column == "mcpgo" {
		mine, _ := v.first.series(ours, v.unit)
		text += ", " + multiple(s.over(mine).median())
	}
	return text
}

// format returns the text of a goal, or of a figure that is compared with the goal.
func (r *row) format(f float64) string {
	if r.how == times {
		return multiple(f)
	}
	return quantity(f, r.unit)
}

const observedHead = `
## Telemetry beside otelgrpc and otelhttp

CPU time and allocations that telemetry at both ends adds to a call. The SDK exports to nowhere, in batches.

`

// observedTable writes the cost of telemetry for a call, for this project beside otelgrpc and otelhttp.
func observedTable(m *measurements) string {
	cases := m.matching("Observed/call=.*")
	if len(cases) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(observedHead + "| |")
	for _, c := range cases {
		fmt.Fprintf(&b, " %s |", strings.TrimPrefix(c.rest(), "call="))
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(cases)))
	for _, with := range []string{absent, "no-sdk", "unsampled", "sampled"} {
		fmt.Fprintf(&b, "\n| %s |", strings.Replace(with, absent, "the call alone", 1))
		for _, c := range cases {
			spent, n := c.figures[figure{with, cpu}], c.figures[figure{with, allocs}]
			if with != absent {
				spent, n = spent.minus(c.figures[figure{absent, cpu}]), n.minus(c.figures[figure{absent, allocs}])
			}
			fmt.Fprintf(&b, " %s, %s |", quantity(spent.median(), cpu), number(math.Round(n.median())))
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// where describes the commit, the machine and the time of the measurement.
func (m *measurements) where() string {
	a := m.about
	parts := []string{strings.TrimSpace(a["cpu"]), suffix(a["cores"], " cores"), a["memory"],
		join("/", a["goos"], a["goarch"]), a["go"], prefixed("GOMAXPROCS ", a["gomaxprocs"]),
		prefixed("GOGC ", a["gogc"]), prefixed("commit ", a["commit"]), a["date"], fmt.Sprintf("%d passes", m.passes)}
	if len(m.loads) > 0 {
		parts = append(parts, fmt.Sprintf("load %s to %s", digits(slices.Min(m.loads)), digits(slices.Max(m.loads))))
	}
	return join(", ", parts...) + ".\n"
}

// matching returns the cases that a pattern matches. A pattern has as many elements as the name of the case.
func (m *measurements) matching(pattern string) []*benchCase {
	whole := regexp.MustCompile("^(?:" + strings.ReplaceAll(pattern, ".*", "[^/]*") + ")$")
	var found []*benchCase
	for _, c := range m.cases {
		if whole.MatchString(c.name) {
			found = append(found, c)
		}
	}
	return found
}

// neededBy returns a pattern for -bench that runs the rows' cases for these peers.
func neededBy(rows []*row, peers ...string) string {
	var all []string
	for _, r := range rows {
		for _, pattern := range append(slices.Clone(r.cases), r.other) {
			if pattern == "" {
				continue
			}
			elements := strings.Split("Benchmark"+pattern+"/peer=("+strings.Join(peers, "|")+")", "/")
			for i, e := range elements {
				elements[i] = "^(?:" + e + ")$"
			}
			if p := strings.Join(elements, "/"); !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return strings.Join(all, "|")
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
