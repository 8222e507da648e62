package store

import (
	"cmp"
	"container/heap"
	"container/list"
)

// eventHolder owns events in a memory store. A holder is an account with all its sessions, or a single session without
// an account.
type eventHolder struct {
	key   eventHolderKey
	bytes int
	ages  list.List // the *kept of each event, oldest event first
	place int       // index in the heap of holders
}

type eventHolderKey struct {
	account any
	session string // set only for clients without an account
}

// oldest returns the number of the holder's oldest event.
func (h *eventHolder) oldest() uint64 { return h.ages.Front().Value.(*kept).events[0].number }

// eventHolders is a heap of holders. The largest holder is first; among holders of equal size, the one with the oldest
// event is first. So an account that stores too much loses its own events first.
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

// add records a new event of a session.
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

// remove removes an event from its holder.
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

// most returns the session that must drop its oldest event first.
func (e *eventHolders) most() *kept { return e.order[0].ages.Front().Value.(*kept) }

// Len, Less, Swap, Push and Pop implement [heap.Interface].

func (e *eventHolders) Len() int { return len(e.order) }

func (e *eventHolders) Less(i, j int) bool {
	a, b := e.order[i], e.order[j]
	if c := cmp.Compare(b.bytes, a.bytes); c != 0 || a.ages.Len() == 0 || b.ages.Len() == 0 {
		// a holder that is being removed has no events
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
