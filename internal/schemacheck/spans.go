package schemacheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
)

// check checks a span against the best matching row. For users, see [Signals.Users].
func (s *Span) check(users bool) []string {
	best := []string{fmt.Sprintf("span %q: no row has kind %s", s.Name, s.Kind)}
	found := false
	for _, row := range schema.Current.Spans {
		if row.Kind != s.Kind {
			continue
		}
		problems := s.checkAs(&row, users)
		if len(problems) == 0 {
			return nil
		}
		for i := range problems {
			problems[i] = fmt.Sprintf("span %q as %s: %s", s.Name, row.ID, problems[i])
		}
		if !found || len(problems) < len(best) {
			best, found = problems, true
		}
	}
	return best
}

// row returns the id of the row that matches the span, or "". If the attributes of a sent notification also match the
// row of a request, the method decides.
func (s *Span) row(users bool) (id string) {
	notice := strings.HasPrefix(s.Attrs["mcp.method.name"].Text, "notifications/")
	for _, row := range schema.Current.Spans {
		if row.Kind != s.Kind || len(s.checkAs(&row, users)) > 0 {
			continue
		}
		if id == "" || notice && strings.HasSuffix(row.ID, ".notification") {
			id = row.ID
		}
	}
	return id
}

func (s *Span) checkAs(row *schema.Span, users bool) []string {
	problems := s.Attrs.check(users, slices.Concat(row.AtStart, row.AtEnd, schema.Current.Baggage)...)
	if s.AtStart != nil {
		for _, p := range s.AtStart.check(users, row.AtStart...) {
			problems = append(problems, "at start: "+p)
		}
	}
	if !hasForm(s.Name, row.NameForm, s.Attrs) {
		problems = append(problems, "its name is not of the form "+row.NameForm)
	}
	if _, failed := s.Attrs["error.type"]; !statusFits(s.Status, failed, users) {
		problems = append(problems, fmt.Sprintf("status %s with error.type present: %v", s.Status, failed))
	}
	if s.Events > 0 && !users {
		problems = append(problems, "it has span events")
	}
	if s.Links > len(row.Links) && !users {
		problems = append(problems, fmt.Sprintf("%d links, want at most %d", s.Links, len(row.Links)))
	}
	if s.Dangling {
		problems = append(problems, "a link refers to no span")
	}
	if s.Endless {
		problems = append(problems, "it ends before it starts")
	}
	return problems
}

// statusFits reports whether a span with this status is valid. failed means that the span has error.type. A program may
// set a status where the library sets none, and OK takes precedence over the library's status.
func statusFits(status string, failed, users bool) bool {
	if users {
		return !failed || status != Unset
	}
	return status != OK && failed == (status == Error)
}

// hasForm reports whether the name of a span has a form: one literal word, "word {key}", or "{key} {key|key}". The
// second part of the last form is required if the span has one of the part's attributes. Only the URI of a resource may
// be omitted.
func hasForm(name, form string, got Attrs) bool {
	if !strings.HasPrefix(form, "{") {
		word, key, keyed := strings.Cut(form, " ")
		if !keyed {
			return name == word
		}
		target, ok := strings.CutPrefix(name, word+" ")
		return ok && (target == got[strings.Trim(key, "{}")].Text || target == other)
	}
	first, second, _ := strings.Cut(form, " ")
	method, target, _ := strings.Cut(name, " ")
	if method != other && method != got[strings.Trim(first, "{}")].Text {
		return false
	}
	wanted := false
	for key := range strings.SplitSeq(strings.Trim(second, "{}"), "|") {
		v, ok := got[key]
		if ok && (target == v.Text || target == other) {
			return true
		}
		wanted = wanted || ok && key != "mcp.resource.uri"
	}
	return target == "" && !wanted
}
