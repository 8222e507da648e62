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
