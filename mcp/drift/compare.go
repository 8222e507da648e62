package drift

import (
	"cmp"
	"slices"
)

// Kind says what has become of a tool.
type Kind string

// The kinds.
const (
	Added   Kind = "added"
	Removed Kind = "removed"
	Changed Kind = "changed"
)

// Change is what has become of one tool from one list to another.
type Change struct {
	Tool  string `json:"tool"` // as the server calls it
	Kind  Kind   `json:"kind"`
	Parts []Part `json:"parts,omitempty"` // those that differ, of a tool that is Changed; each once
}

// Compare returns what has changed from one list to another, by the names of the tools in the order of their bytes; nil
// if nothing has.
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
