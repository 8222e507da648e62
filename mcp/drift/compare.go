package drift

import (
	"cmp"
	"slices"
)

// Kind is the kind of a change.
type Kind string

// The kinds of changes.
const (
	Added   Kind = "added"
	Removed Kind = "removed"
	Changed Kind = "changed"
)

// Change describes the difference between one tool in two lists.
type Change struct {
	Tool  string `json:"tool"` // name of the tool on the server
	Kind  Kind   `json:"kind"`
	Parts []Part `json:"parts,omitempty"` // the parts that differ, each once; only for Changed
}

// Compare returns the changes from one list to another, sorted by the names of the tools. It returns nil if the lists
// are equal.
func Compare(before, after Tools) []Change {
	var all []Change
	for name, now := range after {
		was, known := before[name]
		switch {
		case !known:
			all = append(all, Change{Tool: name, Kind: Added})
		case was != now:
			all = append(all, Change{Tool: name, Kind: Changed, Parts: changed(was, now)})
		}
	}
	for name := range before {
		if _, there := after[name]; !there {
			all = append(all, Change{Tool: name, Kind: Removed})
		}
	}
	slices.SortFunc(all, func(a, b Change) int { return cmp.Compare(a.Tool, b.Tool) })
	return all
}
