package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The library's error is a chain with one link for each subschema that failed
// inside another; the last one begins with the keyword. It does not say which
// property or item failed, and it prints values whole. So the explainer follows
// the chain through the nodes, finds the failing parts of the value by
// validating each against its own subschema, and words the problem itself.

const (
	maxProblems     = 8 // of a [ValidationError]
	maxAlternatives = 4 // of anyOf and oneOf that are told about
)

// mismatch is said when the library's error is not understood.
const mismatch = "does not match the schema"

type explainer struct {
	parts    *parts
	meter    *meter
	problems []Problem
}

// explain turns the library's error about v into problems.
func (s *Schema) explain(v any, err error) []Problem {
	parts, perr := s.parts()
	if perr != nil {
		return []Problem{{Message: mismatch}}
	}
	x := explainer{parts: parts, meter: &meter{left: baseWork}}
	x.node(s.root, new(edge), v, "", err)
	return x.problems
}

// try returns the library's error for v against n; nil also when the budget
// for explanations is gone.
func (x *explainer) try(n *node, v any) error {
	if x.meter.visit(n, v); x.meter.left < 0 {
		return nil
	}
	return x.parts.validate(n, v)
}

// node reports the problems of v, which is at the given place and was not
// valid against n. It came to n by the edge via.
func (x *explainer) node(n *node, via *edge, v any, at string, err error) {
	if n.never() {
		x.add(at, n.pointer, via.keyword, notAllowed(via))
		return
	}
	err = errors.Unwrap(err)
	inner := errors.Unwrap(err)
	if inner == nil {
		x.leaf(failure{n, keywordOf(n, err.Error()), v, err.Error()}, at)
		return
	}
	label := strings.TrimPrefix(strings.TrimSuffix(err.Error(), ": "+inner.Error()), "validating ")
	switch e := x.failed(n, label, v); {
	case e == nil:
		x.add(at, n.pointer, "", mismatch)
	case e.on == same && !e.dependent():
		x.node(e.to, e, v, at, err)
	default:
		x.below(n, e, v, at)
	}
}

// failed returns the edge of n that leads to the node with the given label,
// and by which v failed. If a subschema is both referred to and applied to a
// part, the reference comes first.
func (x *explainer) failed(n *node, label string, v any) *edge {
	var found *edge
	for _, e := range n.edges {
		if e.to.label() != label {
			continue
		}
		if found == nil || found.on != same && x.try(e.to, v) != nil {
			found = e
		}
	}
	return found
}

func (x *explainer) add(at, schema, keyword, message string) {
	if len(x.problems) < maxProblems {
		x.problems = append(x.problems, Problem{at, schema, keyword, clip(message, maxText)})
	}
}

// part reports the problems of v against the subschema that e leads to, if
// it has any.
func (x *explainer) part(e *edge, v any, at string) {
	if len(x.problems) == maxProblems {
		return
	}
	if err := x.try(e.to, v); err != nil {
		x.node(e.to, e, v, at, err)
	}
}

// leaf reports the failure of a keyword that is not another subschema's.
func (x *explainer) leaf(f failure, at string) {
	pointer := f.node.pointer + token(f.keyword)
	if f.keyword == "anyOf" || strings.HasPrefix(f.verdict, "oneOf: did not") {
		x.alternatives(f, at, pointer)
		return
	}
	if say := messages[f.keyword]; say != nil {
		x.add(at, pointer, f.keyword, say(f))
		return
	}
	x.add(at, f.node.pointer, "", mismatch)
}

// alternatives reports that no branch of anyOf or oneOf matched, and why. If
// only one looks as if it was meant, its problems are reported instead.
func (x *explainer) alternatives(f failure, at, pointer string) {
	var branches, meant [][]Problem
	for _, e := range f.node.edges {
		if e.keyword != f.keyword {
			continue
		}
		branch := explainer{parts: x.parts, meter: x.meter}
		branch.part(e, f.value, at)
		branches = append(branches, branch.problems)
		if !slices.ContainsFunc(branch.problems, func(p Problem) bool { return p.elsewhere(at) }) {
			meant = append(meant, branch.problems)
		}
	}
	if len(branches) == 1 {
		meant = branches
	}
	if len(meant) == 1 && len(meant[0]) > 0 {
		for _, p := range meant[0] {
			x.add(p.Instance, p.Schema, p.Keyword, p.Message)
		}
		return
	}
	var message strings.Builder
	fmt.Fprintf(&message, "matches none of %d alternatives", len(branches))
	for i, problems := range branches[:min(len(branches), maxAlternatives)] {
		for _, p := range problems[:min(len(problems), 1)] {
			p.Instance = strings.TrimPrefix(p.Instance, at)
			fmt.Fprintf(&message, "; %d: %s", i+1, p)
		}
	}
	x.add(at, pointer, f.keyword, message.String())
}

// elsewhere reports whether p tells that the value at the given place was
// meant for another alternative: it has another type, or something in it is a
// constant that differs.
func (p Problem) elsewhere(at string) bool {
	return p.Keyword == "const" || p.Keyword == "type" && p.Instance == at
}
