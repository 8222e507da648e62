package schema

// A second evaluation of an invalid value, with a meter of its own, collects the problems. If that meter stops, the
// problems found until then are reported.

const (
	maxProblems     = 8 // in a [ValidationError]
	maxAlternatives = 4 // branches of anyOf or oneOf to explain
)

// mismatch is the message if the meter stops before the first problem is found.
const mismatch = "does not match the schema"

// A report collects the problems of a value. A nil report collects none.
type report struct{ problems []Problem }

// explain returns the problems of v, which is not valid.
func (s *Schema) explain(m *meter, v value) []Problem {
	var out report
	s.evaluate(m, v, &out)
	if len(out.problems) == 0 {
		return []Problem{{Message: mismatch}}
	}
	return out.problems
}

// full reports whether out accepts no more problems.
func (out *report) full() bool { return out == nil || len(out.problems) >= maxProblems }

// add records a problem of the value at s, and returns false. It records nothing after the meter has stopped, because
// results are wrong then.
func (r *run) add(s site, schema, keyword, message string) bool {
	if r.err == nil && !s.out.full() {
		s.out.problems = append(s.out.problems, Problem{s.at.String(), schema, keyword, clip(message, maxText)})
	}
	return false
}

// fail records that a value violates a keyword, and returns false.
func (r *run) fail(s site, f failure) bool {
	if s.out.full() {
		return false
	}
	return r.add(s, f.node.pointer+token(f.keyword), f.keyword, messages[f.keyword](r, f))
}

// atItem returns the site of an item of the array at s.
func (s site) atItem(i int) site {
	if s.out == nil {
		return site{}
	}
	return site{out: s.out, at: &path{s.at, i}}
}

// atProperty returns the site of a property of the object at s.
func (s site) atProperty(name value) site {
	if s.out == nil {
		return site{}
	}
	return site{out: s.out, at: &path{s.at, string(name.bytes())}}
}

// alternatives reports that no branch of anyOf or oneOf matched, and why. If only one branch appears to be intended,
// alternatives reports only the problems of this branch.
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

// elsewhere reports whether the problems indicate that the value at the given place was meant for another alternative:
// its type differs, or a constant in it differs.
func (r *run) elsewhere(problems []Problem, at *path) bool {
	here := at.String()
	for _, p := range each(r.meter, problems) {
		if p.Keyword == "const" || p.Keyword == "type" && p.Instance == here {
			return true
		}
	}
	return false
}
