package tailsampling

import "iter"

// A list is doubly linked, and its elements are part of what they hold: one is removed without knowing its list, and
// two lists are joined at once, both of which [container/list] cannot. The zero list is empty.
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

// front is the first value. The list is not empty.
func (l *list[T]) front() T { return l.root.next.value }

// push puts an element, which is in no list, at the end.
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

// remove takes the element out of its list, if it is in one.
func (e *element[T]) remove() {
	if e.next == nil {
		return
	}
	e.prev.next, e.next.prev = e.next, e.prev
	e.next, e.prev = nil, nil
}

// all are the values. The one that is yielded may be removed.
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

// remembered is how many spans that were kept are known, for those that follow.
const remembered = 512

// recent remembers the last ones.
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
