package store

import (
	"cmp"
	"container/heap"
	"container/list"
)

// eventHolder is on whose account events are kept in a memory store: the sessions of an account together, and each
// other session by itself.
type eventHolder struct {
	key   eventHolderKey
	bytes int
	ages  list.List // *kept for each event, of the session it is the oldest of, in the order of their coming
	place int       // among all holders
}

type eventHolderKey struct {
	account any
	session string // if the account is that of clients which cannot be told apart
}

// oldest returns the number of the oldest event.
func (h *eventHolder) oldest() uint64 { return h.ages.Front().Value.(*kept).events[0].number }

// eventHolders are those that hold events, the one that holds most first, and of several the one with the oldest event.
// So what one takes too much is at its own expense.
type eventHolders struct {
	byKey map[eventHolderKey]*eventHolder
	order []*eventHolder
}

// of returns the holder of a session's events.
func (e *eventHolders) of(account any, session string) *eventHolder {
	key := eventHolderKey{account: account}
	if account == nil {
		key.session = session
	}
	h := e.byKey[key]
	if h == nil {
		h = &eventHolder{key: key, place: -1}
		e.byKey[key] = h
	}
	return h
}

// add notes that an event of a session has come.
func (e *eventHolders) add(k *kept, cost int) *list.Element {
	h := k.holder
	age := h.ages.PushBack(k)
	h.bytes += cost
	if h.place < 0 {
		heap.Push(e, h)
	} else {
		heap.Fix(e, h.place)
	}
	return age
}

// remove notes that an event is gone.
func (e *eventHolders) remove(h *eventHolder, age *list.Element, cost int) {
	h.ages.Remove(age)
	h.bytes -= cost
	if h.ages.Len() > 0 {
		heap.Fix(e, h.place)
		return
	}
	heap.Remove(e, h.place)
	delete(e.byKey, h.key)
}

// most returns the session whose oldest event is to go.
func (e *eventHolders) most() *kept { return e.order[0].ages.Front().Value.(*kept) }

// Len, Less, Swap, Push and Pop are those of [heap.Interface].

func (e *eventHolders) Len() int { return len(e.order) }

func (e *eventHolders) Less(i, j int) bool {
	a, b := e.order[i], e.order[j]
	if c := cmp.Compare(b.bytes, a.bytes); c != 0 || a.ages.Len() == 0 || b.ages.Len() == 0 {
		// one that is about to go has none
		return c < 0
	}
	return a.oldest() < b.oldest()
}

func (e *eventHolders) Swap(i, j int) {
	e.order[i], e.order[j] = e.order[j], e.order[i]
	e.order[i].place, e.order[j].place = i, j
}

func (e *eventHolders) Push(h any) {
	h.(*eventHolder).place = len(e.order)
	e.order = append(e.order, h.(*eventHolder))
}

func (e *eventHolders) Pop() any {
	h := e.order[len(e.order)-1]
	e.order[len(e.order)-1] = nil
	e.order = e.order[:len(e.order)-1]
	return h
}
