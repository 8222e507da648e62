package flight

import "unique"

// Label is an interned name or word from a limited set. It takes one machine word of memory. The zero Label is empty.
type Label struct{ unique.Handle[string] }

// LabelOf returns the label of a text.
func LabelOf(s string) Label {
	if s == "" {
		return Label{}
	}
	return Label{unique.Make(s)}
}

func (l Label) String() string {
	if l == (Label{}) {
		return ""
	}
	return l.Value()
}

// Subject is the method of an operation, and the target if the operation has one. It takes one machine word of memory.
// The zero Subject has neither.
type Subject struct{ unique.Handle[[2]string] }

// SubjectOf returns the subject of a method and a target. The target may be empty.
func SubjectOf(method, target string) Subject { return Subject{unique.Make([2]string{method, target})} }

// names returns the method and the target.
func (s Subject) names() (method, target string) {
	if s == (Subject{}) {
		return "", ""
	}
	both := s.Value()
	return both[0], both[1]
}
