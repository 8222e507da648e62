package schema

import (
	"slices"
	"strconv"
	"strings"
)

// A path is where a value is: a property or an item in another value. A nil
// one is the root.
type path struct {
	in   *path
	step any // a name or a number
}

// String is the path as a JSON Pointer, with names cut short. A place is at
// most [MaxInstanceDepth] deep.
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
