package schema

// A value that is not valid is evaluated once more, by a meter of its own, for
// what is wrong with it. When that meter ends, the problems found until then
// have to do.

const (
	maxProblems     = 8 // of a [ValidationError]
	maxAlternatives = 4 // of anyOf and oneOf that are told about
)

// mismatch is said when there is no time to find out more.
const mismatch = "does not match the schema"

// A report takes the problems of a value. A nil one takes none.
type report struct{ problems []Problem }

// explain says what is wrong with v, which is not valid.
func (s *Schema) explain(m *meter, v value) []Problem {
	var out report
	s.evaluate(m, v, &out)
	if len(out.problems) == 0 {
		return []Problem{{Message: mismatch}}
	}
	return out.problems
}

// full reports whether out takes no more problems.
func (out *report) full() bool { return out == nil || len(out.problems) >= maxProblems }

// add adds a problem of the value at s, and returns false. What is found out
// after the meter has ended is not true.
func (r *run) add(s site, schema, keyword, message string) bool {
	if r.err == nil && !s.out.full() {
		s.out.problems = append(s.out.problems, Problem{s.at.String(), schema, keyword, clip(message, maxText)})
	}
	return false
}

// fail adds a problem of a keyword, and returns false.
func (r *run) fail(s site, f failure) bool {
	if s.out.full() {
		return false
	}
	return r.add(s, f.node.pointer+token(f.keyword), f.keyword, messages[f.keyword](r, f))
}

// atItem is the site of an item of the array at s.
func (s site) atItem(i int) site {
	if s.out == nil {
		return site{}
	}
	return site{out: s.out, at: &path{s.at, i}}
}

// atProperty is the site of a property of the object at s.
func (s site) atProperty(name value) site {
	if s.out == nil {
		return site{}
	}
	return site{out: s.out, at: &path{s.at, string(name.bytes())}}
}

// alternatives reports that no branch of anyOf or oneOf matched, and why. If
// only one looks as if it was meant, its problems are reported instead.
func (r *run) alternatives(f failure, branches []*edge, s site) bool {
	if s.out.full() {
		return false
	}
	var told, meant []*report
	for _, e := range each(r.meter, branches) {
		own := new(report)
		r.visit(e, f.value, site{out: own, at: s.at})
		if len(told) < maxAlternatives {
			told = append(told, own)
		}
		if len(meant) < 2 && (len(branches) == 1 || !r.elsewhere(own.problems, s.at)) {
			meant = append(meant, own)
		}
	}
	if r.err != nil {
		return false
	}
	if len(meant) != 1 || len(meant[0].problems) == 0 {
		f.branches, f.count, f.at = told, len(branches), s.at
		return r.fail(s, f)
	}
	for _, p := range each(r.meter, meant[0].problems) {
		if !s.out.full() {
			s.out.problems = append(s.out.problems, p)
		}
	}
	return false
}

// elsewhere reports whether the problems tell that the value at the given
// place was meant for another alternative: it has another type, or something
// in it is a constant that differs.
func (r *run) elsewhere(problems []Problem, at *path) bool {
	here := at.String()
	for _, p := range each(r.meter, problems) {
		if p.Keyword == "const" || p.Keyword == "type" && p.Instance == here {
			return true
		}
	}
	return false
}
