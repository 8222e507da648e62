package mcpclient

import (
	"slices"

	"github.com/mcpotel/mcpotel/mcp"
)

// notifyQueue holds the notifications that wait for their handlers, in order of arrival. limit bounds the number of
// notifications, and bytes bounds the total size of their frames, but an empty queue accepts any notification. The
// queue has no lock of its own; the dispatcher guards it.
//
// A full queue makes room for a new notification in this order:
//
//   - If the new notification is a list-changed or updated notification that repeats a queued one, it is coalesced with
//     that one.
//   - The oldest progress and log messages are dropped, as many as necessary.
//   - If that does not make enough room, the new notification is dropped and the queued ones stay.
type notifyQueue struct {
	limit   int
	bytes   int             // limit of size, in bytes; 0 for no limit
	waiting []*Notification // in order of arrival
	size    int             // bytes of all waiting notifications
}

// pushed is the outcome of push.
type pushed struct {
	coalesced bool            // the new notification repeats a queued one
	dropped   []*Notification // dropped notifications: either the new one or older ones
}

func (q *notifyQueue) push(n *Notification) (p pushed) {
	if q.fits(len(q.waiting), q.size, n) {
		q.append(n)
		return p
	}
	if slices.ContainsFunc(q.waiting, n.repeats) {
		return pushed{coalesced: true}
	}
	if p.dropped = q.enough(n); p.dropped == nil {
		return pushed{dropped: []*Notification{n}}
	}
	q.drop(p.dropped)
	q.append(n)
	return p
}

// fits reports whether n fits into a queue that already holds other notifications. others is the number of those
// notifications, and size is their total size in bytes.
func (q *notifyQueue) fits(others, size int, n *Notification) bool {
	return others < q.limit && (others == 0 || q.bytes == 0 || size+n.held() <= q.bytes)
}

// enough returns the oldest expendable notifications, just enough to make room for n. It returns nil if there are too
// few.
func (q *notifyQueue) enough(n *Notification) (oldest []*Notification) {
	size := q.size
	for _, w := range q.waiting {
		if !w.expendable() {
			continue
		}
		oldest, size = append(oldest, w), size-w.held()
		if q.fits(len(q.waiting)-len(oldest), size, n) {
			return oldest
		}
	}
	return nil
}

// drop removes the notifications in some, which must be in queue order.
func (q *notifyQueue) drop(some []*Notification) {
	q.waiting = slices.DeleteFunc(q.waiting, func(w *Notification) bool {
		if len(some) == 0 || w != some[0] {
			return false
		}
		q.size -= w.held()
		some = some[1:]
		return true
	})
}

func (q *notifyQueue) pop() (*Notification, bool) {
	if len(q.waiting) == 0 {
		return nil, false
	}
	n := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	q.size -= n.held()
	return n, true
}

func (q *notifyQueue) append(n *Notification) {
	q.waiting = append(q.waiting, n)
	q.size += n.held()
}

// held is the approximate memory of n: its frame and a copy of its URI.
func (n *Notification) held() int { return n.size + len(n.uri) }

// repeats reports whether n is redundant after w. It copies nothing, because a queue may hold many long URIs.
func (n *Notification) repeats(w *Notification) bool {
	if n.Method != w.Method || n.missed || w.missed { // some handlers are not called for missed changes
		return false
	}
	switch n.Method {
	case mcp.NotificationToolListChanged, mcp.NotificationPromptListChanged, mcp.NotificationResourceListChanged:
		return true
	case mcp.NotificationResourceUpdated:
		return n.uri == w.uri
	}
	return false
}

// expendable reports whether n may be dropped to make room: n reports progress or is a log message.
func (n *Notification) expendable() bool {
	return n.Method == mcp.NotificationProgress || n.Method == mcp.NotificationMessage
}
