package schema

import (
	"slices"
	"strings"
)

// maxChain bounds how many subschemas apply to one value by way of each
// other. With [MaxInstanceDepth] it bounds the stack.
const maxChain = 128

// A composition walks the subschemas that apply to the same value. What it
// finds out is about the schema alone; the work on one value is what its meter pays for.
type composition struct {
	// seen has what is known of a node; while it is being walked, nothing yet.
	seen map[*node]*reach
	// trail are the nodes being walked.
	trail []*node
}

// reach is what one visit of a node leads to.
type reach struct {
	visits int // visits of nodes for the same value, itself included
	chain  int // the longest trail of them
}

// checkComposition refuses a schema that validation could not end: one that
// applies itself to the same value, and one that applies more subschemas to a
// single value than may be visited in all.
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

// cycle names the way from n to itself.
func (c *composition) cycle(n *node) error {
	var way []string
	for _, m := range c.trail[slices.Index(c.trail, n):] {
		way = append(way, "#"+m.pointer)
	}
	way = append(way, "#"+n.pointer)
	return fail(ErrCycle, n.pointer, "applies itself to the same value: %s", clip(strings.Join(way, " → "), maxText))
}
