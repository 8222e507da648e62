package tailsampling

import "go.opentelemetry.io/otel/trace"

// nodeBytes is the memory for an open span: its node, and its entry in the table.
const nodeBytes = 176

// A forest holds the spans of unsampled traces as trees: open spans, and for each of them the held spans that have
// ended below it. A span is open until it and all spans below it have ended. The forest has no lock, and does not
// depend on S, the type of the SDK's spans. Its memory is bounded, and open spans take at most half of it.
type forest[S any] struct {
	max       int64
	bytes     int64 // memory of all spans
	openBytes int64 // memory of open spans
	open      map[spanKey]*node[S]
	nodes     list[*node[S]] // open spans, the oldest first: a parent before its children
	held      list[*item[S]] // held spans, in the order of their ends
	kept      recent

	dropped, evicted uint64 // as in Stats
}

// A spanKey identifies a span.
type spanKey struct {
	trace trace.TraceID
	span  trace.SpanID
}

func keyOf(sc trace.SpanContext) spanKey { return spanKey{sc.TraceID(), sc.SpanID()} }

// A node is an open span. After it was removed from the table, it lives while spans below it are open.
type node[S any] struct {
	key       spanKey
	parent    *node[S]
	age       element[*node[S]]
	held      list[*item[S]] // ended spans whose nearest open span is this one, and own
	own       *item[S]       // the span's own item in held, after its end
	below     int            // number of open children
	ended     bool
	kept      bool // the span is exported with all spans below it
	path      bool // the span is exported, since a span below it is kept
	follows   bool // its parent was kept, and ended before this span started
	forgotten bool // removed by makeRoom or clear
}

// An item is a held span, which has ended.
type item[S any] struct {
	span  S
	bytes int64
	of    *node[S]          // open span that holds this item
	age   element[*item[S]] // element of forest.held
	place element[*item[S]] // element of node.held
}

func newForest[S any](maxBytes int64) *forest[S] {
	return &forest[S]{max: maxBytes, open: make(map[spanKey]*node[S])}
}

// start adds a span that has started.
func (f *forest[S]) start(key, parent spanKey) {
	if f.open[key] != nil {
		return
	}
	n := &node[S]{key: key, parent: f.open[parent]}
	n.age.value = n
	if n.parent != nil {
		n.parent.below++
	} else {
		n.follows = f.kept.has(parent)
	}
	f.open[key] = n
	f.nodes.push(&n.age)
	f.bytes += nodeBytes
	f.openBytes += nodeBytes
	f.makeRoom()
}

// accompany exports the span with this key, if it is open, and all spans above it: ended spans now, open spans at their
// end.
func (f *forest[S]) accompany(key spanKey) (export []S) { return f.up(f.open[key], nil) }

// end records the end of a span with this size. It returns whether the span is exported, and the other spans to
// export now.
func (f *forest[S]) end(key spanKey, span S, bytes int64, keep bool) (self bool, company []S) {
	if keep {
		f.kept.add(key)
	}
	n := f.open[key]
	if n == nil || n.ended { // removed to free memory
		if !keep {
			f.evicted++
		}
		return keep, nil
	}
	n.ended = true
	switch {
	case keep || n.follows || n.parent != nil && n.parent.kept:
		n.kept = true
		company = f.release(&n.held, f.up(n.parent, nil))
		return true, f.close(n, company)
	case n.path:
		return true, f.close(n, nil)
	}
	i := &item[S]{span: span, bytes: bytes, of: n}
	i.age.value, i.place.value, n.own = i, i, i
	f.held.push(&i.age)
	n.held.push(&i.place)
	f.bytes += bytes
	company = f.close(n, nil)
	f.makeRoom()
	return false, company
}

// close removes n if neither n nor any span below it is open, and hands its held spans to its parent. If only n kept
// the parent open, close removes the parent in the same way. If the parent was kept, its held spans are exported
// instead: close appends them to export. The held spans of a root are dropped.
func (f *forest[S]) close(n *node[S], export []S) []S {
	for n.ended && n.below == 0 && !n.forgotten {
		f.remove(n)
		if n.own != nil {
			n.own.of, n.own = nil, nil
		}
		p := n.parent
		switch {
		case p == nil:
			f.dropped += uint64(len(f.release(&n.held, nil)))
			return export
		case p.kept:
			export = f.release(&n.held, export)
		case p.forgotten:
			f.evicted += uint64(len(f.release(&n.held, nil)))
		default:
			p.held.take(&n.held)
		}
		p.below--
		n = p
	}
	return export
}

// up exports n and all spans above it: now if they have ended and are held, otherwise at their end.
func (f *forest[S]) up(n *node[S], export []S) []S {
	for ; n != nil && !n.path && !n.kept; n = n.parent {
		n.path = true
		if n.own != nil {
			export = append(export, n.own.span)
			f.let(n.own)
		}
	}
	return export
}

// makeRoom removes the oldest open spans until open spans take at most half of the memory, and then evicts the spans
// that ended first until everything is within the bound.
func (f *forest[S]) makeRoom() {
	for f.openBytes > f.max/2 && !f.nodes.empty() {
		n := f.nodes.front() // no span above n is open, because such a span would be older
		n.forgotten, n.parent = true, nil
		f.remove(n)
		f.evicted += uint64(len(f.release(&n.held, nil)))
	}
	for f.bytes > f.max && !f.held.empty() {
		f.let(f.held.front())
		f.evicted++
	}
}

// clear drops all spans.
func (f *forest[S]) clear() {
	for n := range f.nodes.all() {
		n.forgotten, n.parent = true, nil
		f.remove(n)
		f.dropped += uint64(len(f.release(&n.held, nil)))
	}
	f.open = make(map[spanKey]*node[S]) // a map does not shrink
}

// release releases all items of a list, and appends their spans.
func (f *forest[S]) release(items *list[*item[S]], spans []S) []S {
	for i := range items.all() {
		spans = append(spans, i.span)
		f.let(i)
	}
	return spans
}

// let releases the memory of one item.
func (f *forest[S]) let(i *item[S]) {
	i.age.remove()
	i.place.remove()
	if i.of != nil {
		i.of.own = nil
	}
	f.bytes -= i.bytes
}

// remove removes a span from the table of open spans.
func (f *forest[S]) remove(n *node[S]) {
	n.age.remove()
	delete(f.open, n.key)
	f.bytes -= nodeBytes
	f.openBytes -= nodeBytes
}
