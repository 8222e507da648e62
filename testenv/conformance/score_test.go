package conformance

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// scoreboard counts passed scenarios and checks. Its zero value is empty.
type scoreboard struct {
	rows []score
}

// score is the score of one revision: passed scenarios of all that ran, and passed checks of all that judged.
type score struct {
	revision             string
	required, extensions ratio
	checks               ratio
}

type ratio struct{ passed, of int }

func (r *ratio) add(passed, of int) {
	r.passed += passed
	r.of += of
}

func (r ratio) String() string {
	if r.of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", r.passed, r.of)
}

// add counts one scenario, also a known failure.
func (b *scoreboard) add(r revision, scenario string, o outcome) {
	i := slices.IndexFunc(b.rows, func(s score) bool { return s.revision == r.name() })
	if i < 0 {
		i, b.rows = len(b.rows), append(b.rows, score{revision: r.name()})
	}
	row, passed := &b.rows[i], 0
	if len(o.faults()) == 0 {
		passed = 1
	}
	if slices.Contains(r.required, scenario) {
		row.required.add(passed, 1)
	} else {
		row.extensions.add(passed, 1)
	}
	row.checks.add(o.succeeded(), o.judged())
}

// String returns the table of scores.
func (b *scoreboard) String() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "revision\trequired\textensions\tchecks")
	for _, s := range b.rows {
		fmt.Fprintf(w, "%s\t%v\t%v\t%v\n", s.revision, s.required, s.extensions, s.checks)
	}
	w.Flush()
	return text.String()
}
