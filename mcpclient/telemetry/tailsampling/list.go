package tailsampling

import "iter"

// A list is a doubly linked list with its elements embedded in their values. Unlike [container/list], it removes an
// element without knowing the list, and joins two lists in constant time. The zero list is empty.
type list[T any] struct{ root element[T] }

// An element is in at most one list.
type element[T any] struct {
	next, prev *element[T]
	value      T
}

func (l *list[T]) init() {
	if l.root.next == nil {
		l.root.next, l.root.prev = &l.root, &l.root
	}
}

func (l *list[T]) empty() bool { return l.root.next == nil || l.root.next == &l.root }

// front returns the first value. The list must not be empty.
func (l *list[T]) front() T { return l.root.next.value }

// push appends an element, which must be in no list.
func (l *list[T]) push(e *element[T]) {
	l.init()
	e.prev, e.next = l.root.prev, &l.root
	e.prev.next, e.next.prev = e, e
}

// take moves all elements of the other list to the end.
func (l *list[T]) take(other *list[T]) {
	if other.empty() {
		return
	}
	l.init()
	first, last := other.root.next, other.root.prev
	first.prev, last.next = l.root.prev, &l.root
	first.prev.next, last.next.prev = first, last
	other.root.next, other.root.prev = nil, nil
}

// remove removes the element from its list, if it is in one.
func (e *element[T]) remove() {
	if e.next == nil {
		return
	}
	e.prev.next, e.next.prev = e.next, e.prev
	e.next, e.prev = nil, nil
}

// all returns the values. The loop may remove the yielded value.
func (l *list[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		for e := l.root.next; e != nil && e != &l.root; {
			next := e.next
			if !yield(e.value) {
				return
			}
			e = next
		}
	}
}

// remembered is the number of kept spans that are remembered, for spans that follow them.
const remembered = 512

// recent holds the keys of the latest kept spans.
type recent struct {
	keys [remembered]spanKey
	next int
	set  map[spanKey]struct{}
}

func (r *recent) has(key spanKey) bool { _, ok := r.set[key]; return ok }

func (r *recent) add(key spanKey) {
	if r.set == nil {
		r.set = make(map[spanKey]struct{}, len(r.keys))
	}
	if r.has(key) {
		return
	}
	delete(r.set, r.keys[r.next])
	r.keys[r.next] = key
	r.set[key] = struct{}{}
	r.next = (r.next + 1) % len(r.keys)
}
