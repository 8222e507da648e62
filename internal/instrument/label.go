package instrument

import "unique"

// label is a name or a word of a limited set that many have, in one word of memory. The zero label is empty.
type label struct{ unique.Handle[string] }

func labelOf(s string) label {
	if s == "" {
		return label{}
	}
	return label{unique.Make(s)}
}

func (l label) String() string {
	if l == (label{}) {
		return ""
	}
	return l.Value()
}

// subject is what an operation is about, a method and perhaps a target, as a label.
type subject struct{ unique.Handle[[2]string] }

func subjectOf(method, target string) subject { return subject{unique.Make([2]string{method, target})} }

// names are those of the subject. The zero subject has none.
func (s subject) names() (method, target string) {
	if s == (subject{}) {
		return "", ""
	}
	both := s.Value()
	return both[0], both[1]
}
