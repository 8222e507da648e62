package schema

import (
	"slices"
	"strconv"
	"strings"
)

// A path is the place of a value: a property or an item in another value. The nil path is the root.
type path struct {
	in   *path
	step any // name of a property or number of an item
}

// String returns the path as a JSON Pointer with truncated names. A path has at most [MaxInstanceDepth] steps.
func (p *path) String() string {
	var tokens []string
	for ; p != nil; p = p.in {
		switch step := p.step.(type) {
		case int:
			tokens = append(tokens, token(strconv.Itoa(step)))
		case string:
			tokens = append(tokens, token(clip(step, maxShown)))
		}
	}
	slices.Reverse(tokens)
	return strings.Join(tokens, "")
}
