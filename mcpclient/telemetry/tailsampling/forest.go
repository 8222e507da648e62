package tailsampling

import "go.opentelemetry.io/otel/trace"

// nodeBytes is what a span costs that is open: its node, and its entry in the table.
const nodeBytes = 176

// A forest is the spans of traces that are not sampled, as trees: those that are open, and with each of them those that
// have ended below it and are held. A span is open until it and all below it have ended. The forest has no lock and
// knows nothing of the SDK's spans but S. What it has is bounded in bytes, of which open spans take half at most.
type forest[S any] struct {
	max       int64
	bytes     int64 // of all
	openBytes int64 // of those, of open spans
	open      map[spanKey]*node[S]
	nodes     list[*node[S]] // open ones, the oldest first: a parent before its children
	held      list[*item[S]] // the first to end first
	kept      recent

	dropped, evicted uint64 // as in Stats
}

// A spanKey names a span.
type spanKey struct {
	trace trace.TraceID
	span  trace.SpanID
}

func keyOf(sc trace.SpanContext) spanKey { return spanKey{sc.TraceID(), sc.SpanID()} }

// A node is an open span. It lives on, forgotten, while spans below it are open.
type node[S any] struct {
	key       spanKey
	parent    *node[S]
	age       element[*node[S]]
	held      list[*item[S]] // it and what has ended below it, as far as nothing there is open
	own       *item[S]       // in held, once it has ended
	below     int            // how many of its children are open
	ended     bool
	kept      bool // and so is all below it
	path      bool // it is exported, since a span below it is kept
	follows   bool // its parent was kept, and ended before it started
	forgotten bool
}

// An item is a span that has ended and is held.
type item[S any] struct {
	span  S
	bytes int64
	of    *node[S]          // while that is open
	age   element[*item[S]] // in forest.held
	place element[*item[S]] // in node.held
}

func newForest[S any](maxBytes int64) *forest[S] {
	return &forest[S]{max: maxBytes, open: make(map[spanKey]*node[S])}
}

// start notes that a span has started.
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

// accompany has the span, if it is open, and all above it exported: those that have ended now, the others at their end.
func (f *forest[S]) accompany(key spanKey) (export []S) { return f.up(f.open[key], nil) }

// end notes that a span has ended, of so many bytes. It returns whether it is exported, and what else is, now.
func (f *forest[S]) end(key spanKey, span S, bytes int64, keep bool) (self bool, company []S) {
	if keep {
		f.kept.add(key)
	}
	n := f.open[key]
	if n == nil || n.ended { // it was forgotten for want of room
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

// close hands up what a span holds, if it is open no more, and closes those above it that were open only for it. It
// appends to export what a span above that is kept takes along. What has no span above it is dropped.
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

// up has n and those above it exported: now if they have ended and are held, else when they end.
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

// makeRoom forgets the oldest spans that are open until they have but their half, and lets go of what ended first until
// all is within the bound.
func (f *forest[S]) makeRoom() {
	for f.openBytes > f.max/2 && !f.nodes.empty() {
		n := f.nodes.front() // none above it is open: it would be older
		n.forgotten, n.parent = true, nil
		f.remove(n)
		f.evicted += uint64(len(f.release(&n.held, nil)))
	}
	for f.bytes > f.max && !f.held.empty() {
		f.let(f.held.front())
		f.evicted++
	}
}

// clear drops all.
func (f *forest[S]) clear() {
	for n := range f.nodes.all() {
		n.forgotten, n.parent = true, nil
		f.remove(n)
		f.dropped += uint64(len(f.release(&n.held, nil)))
	}
	f.open = make(map[spanKey]*node[S]) // a map does not shrink
}

// release lets go of all items of a list, and appends their spans.
func (f *forest[S]) release(items *list[*item[S]], spans []S) []S {
	for i := range items.all() {
		spans = append(spans, i.span)
		f.let(i)
	}
	return spans
}

// let lets go of an item.
func (f *forest[S]) let(i *item[S]) {
	i.age.remove()
	i.place.remove()
	if i.of != nil {
		i.of.own = nil
	}
	f.bytes -= i.bytes
}

// remove takes a span out of the table of those that are open.
func (f *forest[S]) remove(n *node[S]) {
	n.age.remove()
	delete(f.open, n.key)
	f.bytes -= nodeBytes
	f.openBytes -= nodeBytes
}
