package mcpclient

import (
	"slices"

	"github.com/mcpotel/mcpotel/mcp"
)

// notifyQueue holds the notifications that wait for their handlers, at most limit of them, in the order of arrival. It is
// pure; the dispatcher guards it.
//
// When it is full, room is made in this order: a list-changed or updated notification that says again what one in the
// queue says is coalesced with it; the oldest progress or log message is dropped; the new one is dropped.
type notifyQueue struct {
	limit   int
	waiting []*Notification // waiting[head:] in order
	head    int
}

// pushed says what push did with the new notification, or with the one that made room for it.
type pushed struct {
	coalesced bool          // the new one says what a waiting one says
	dropped   *Notification // lost, the new one or an older one; nil for none
}

func (q *notifyQueue) push(n *Notification) pushed {
	if q.len() < q.limit {
		q.append(n)
		return pushed{}
	}
	waiting := q.waiting[q.head:]
	if key := n.sameness(); key != "" && slices.ContainsFunc(waiting, func(w *Notification) bool { return w.sameness() == key }) {
		return pushed{coalesced: true}
	}
	if i := slices.IndexFunc(waiting, (*Notification).expendable); i >= 0 {
		oldest := waiting[i]
		q.waiting = slices.Delete(q.waiting, q.head+i, q.head+i+1)
		q.append(n)
		return pushed{dropped: oldest}
	}
	return pushed{dropped: n}
}

func (q *notifyQueue) pop() (*Notification, bool) {
	if q.len() == 0 {
		return nil, false
	}
	n := q.waiting[q.head]
	q.waiting[q.head] = nil
	q.head++
	if q.head == len(q.waiting) {
		q.waiting, q.head = q.waiting[:0], 0
	}
	return n, true
}

func (q *notifyQueue) len() int { return len(q.waiting) - q.head }

// append reuses the space of what was popped before it grows.
func (q *notifyQueue) append(n *Notification) {
	if q.head > 0 && len(q.waiting) == cap(q.waiting) {
		kept := copy(q.waiting, q.waiting[q.head:])
		clear(q.waiting[kept:])
		q.waiting, q.head = q.waiting[:kept], 0
	}
	q.waiting = append(q.waiting, n)
}

// sameness returns a key that two notifications share if hearing the second says nothing new; empty if every one counts.
func (n *Notification) sameness() string {
	if n.missed {
		return "" // not all handlers hear it
	}
	switch n.Method {
	case mcp.NotificationToolListChanged, mcp.NotificationPromptListChanged, mcp.NotificationResourceListChanged:
		return n.Method
	case mcp.NotificationResourceUpdated:
		return n.Method + " " + n.uri
	}
	return ""
}

// expendable reports whether n may be dropped to make room: the next one of its kind makes up for it.
func (n *Notification) expendable() bool {
	return n.Method == mcp.NotificationProgress || n.Method == mcp.NotificationMessage
}
