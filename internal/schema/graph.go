package schema

import (
	"slices"
	"strings"
)

// maxChain bounds the length of a chain of subschemas, each of which applies the next one to the same value. Together
// with [MaxInstanceDepth], it bounds the stack.
const maxChain = 128

// A composition walks the subschemas that apply to the same value. It looks only at the schema. The work on a value is
// bounded later, by the meter of the evaluation.
type composition struct {
	// seen has the result for each finished node, and nil for a node on the trail.
	seen map[*node]*reach
	// trail is the path of nodes from the start of the walk.
	trail []*node
}

// reach is the extent of one visit of a node.
type reach struct {
	visits int // visits of nodes for the same value, including this one
	chain  int // length of the longest path of such visits
}

// checkComposition rejects schemas that would make validation endless or too long: a subschema that applies itself to
// the same value, and a subschema that applies more subschemas to a single value than the budget allows.
func checkComposition(nodes []*node) error {
	c := composition{seen: make(map[*node]*reach, len(nodes))}
	for _, n := range nodes {
		if _, err := c.walk(n); err != nil {
			return err
		}
	}
	return nil
}

func (c *composition) walk(n *node) (*reach, error) {
	if r, ok := c.seen[n]; ok {
		if r == nil {
			return nil, c.cycle(n)
		}
		return r, nil
	}
	c.seen[n] = nil
	c.trail = append(c.trail, n)
	r := &reach{visits: 1, chain: 1}
	for _, e := range n.edges {
		if e.on != same {
			continue
		}
		to, err := c.walk(e.to)
		if err != nil {
			return nil, err
		}
		r.visits = min(r.visits+to.visits, baseWork+1)
		r.chain = max(r.chain, to.chain+1)
	}
	if r.visits > baseWork {
		return nil, fail(ErrLimit, n.pointer, "applies more than %d subschemas to one value", baseWork)
	}
	if r.chain > maxChain {
		return nil, fail(ErrLimit, n.pointer, "applies subschemas to one value through more than %d others", maxChain)
	}
	c.trail = c.trail[:len(c.trail)-1]
	c.seen[n] = r
	return r, nil
}

// cycle returns the error for a cycle, with the path from n to itself.
func (c *composition) cycle(n *node) error {
	var way []string
	for _, m := range c.trail[slices.Index(c.trail, n):] {
		way = append(way, "#"+m.pointer)
	}
	way = append(way, "#"+n.pointer)
	return fail(ErrCycle, n.pointer, "applies itself to the same value: %s", clip(strings.Join(way, " → "), maxText))
}
