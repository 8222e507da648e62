package schema

// array applies the keywords for arrays.
func (r *run) array(n *node, a value, s site) bool {
	return r.items(n, a, s) && r.contains(n, a, s) && r.countItems(n, a, s) && r.unique(n, a, s) && r.loose(n, a, s)
}

// items applies the keywords prefixItems and items, or in draft-07 the keywords items and additionalItems.
func (r *run) items(n *node, a value, s site) bool {
	if n.rest == nil && n.prefix == nil {
		return true
	}
	valid := true
	for i, v := range inside(r.meter, a) {
		e := n.rest
		if i < len(n.prefix) {
			e = n.prefix[i]
		}
		if e == nil {
			break
		}
		if !r.visit(e, v, s.atItem(i)) {
			if valid = false; s.out.full() {
				break
			}
		}
		s.seen.put(i)
	}
	return valid
}

// contains counts the matching items. It stops as soon as the result is certain.
func (r *run) contains(n *node, a value, s site) bool {
	if n.contains == nil {
		return true
	}
	atLeast, found := 1, 0
	if n.minContains != nil {
		atLeast = *n.minContains
	}
	for i, v := range inside(r.meter, a) {
		if r.visit(n.contains, v, site{}) {
			found++
			s.seen.put(i)
		}
		if found >= atLeast && n.maxContains == nil && s.seen == nil {
			break
		}
	}
	f := failure{node: n, value: a}
	switch {
	case found == 0 && atLeast > 0:
		f.keyword = "contains"
	case found < atLeast:
		f.keyword = "minContains"
	case n.maxContains != nil && found > *n.maxContains:
		f.keyword = "maxContains"
	default:
		return true
	}
	return r.fail(s, f)
}

func (r *run) countItems(n *node, a value, s site) bool {
	f := failure{node: n, value: a}
	switch {
	case n.minItems != nil && a.size() < *n.minItems:
		f.keyword = "minItems"
	case n.maxItems != nil && a.size() > *n.maxItems:
		f.keyword = "maxItems"
	default:
		return true
	}
	return r.fail(s, f)
}

// uniqueCost is the cost of an item's entry in the hash table, in addition to the cost of its hash.
const uniqueCost = unit

// unique applies the keyword uniqueItems. It compares only items with equal hashes.
func (r *run) unique(n *node, a value, s site) bool {
	if !n.uniqueItems || a.size() < 2 || !r.pay(a.size()*uniqueCost) {
		return true
	}
	last := make(map[uint64]int, a.size()) // by hash: number of the last item with this hash, from 1
	all := make([]value, a.size())
	before := make([]int, a.size()) // by item: number of the previous item with the same hash, from 1
	for i, v := range inside(r.meter, a) {
		h := r.hash(v)
		all[i] = v
		for j := range back(r.meter, before, last[h]) {
			if r.equal(v, all[j]) {
				return r.fail(s, failure{node: n, keyword: "uniqueItems", value: a, pair: [2]int{i, j}})
			}
		}
		before[i], last[h] = last[h], i+1
	}
	return true
}

// loose applies the keyword unevaluatedItems.
func (r *run) loose(n *node, a value, s site) bool {
	if n.looseItems == nil {
		return true
	}
	valid := true
	for i, v := range inside(r.meter, a) {
		if !s.seen.holds(i) && !r.visit(n.looseItems, v, s.atItem(i)) {
			if valid = false; s.out.full() {
				break
			}
		}
	}
	return valid
}
