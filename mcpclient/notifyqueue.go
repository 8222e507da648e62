package mcpclient

import (
	"slices"

	"github.com/mcpotel/mcpotel/mcp"
)

// notifyQueue holds the notifications that wait for their handlers, in order of arrival: at most limit
// notifications, and at most bytes bytes of frames, unless a single one is larger. It is pure; the dispatcher
// guards it.
//
// When it is full, it makes room in this order: a list-changed or updated notification that repeats a queued one
// is coalesced with it; the oldest progress and log messages are dropped, only as many as necessary; if that is
// not enough, the new notification is dropped and the old ones stay.
type notifyQueue struct {
	limit   int
	bytes   int             // bound for size; 0 for none
	waiting []*Notification // in order
	size    int             // bytes of all waiting notifications
}

// pushed is the result of push.
type pushed struct {
	coalesced bool            // the new notification repeats a waiting one
	dropped   []*Notification // dropped notifications, the new one or older ones
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

// fits reports whether n fits into a queue that already has others notifications, of size bytes.
func (q *notifyQueue) fits(others, size int, n *Notification) bool {
	return others < q.limit && (others == 0 || q.bytes == 0 || size+n.held() <= q.bytes)
}

// enough returns the oldest expendable notifications, just enough to make room for n; nil if there are too few.
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

// drop removes some notifications, given in order.
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

// repeats reports whether n after w is redundant. It copies nothing, because a queue may hold many long URIs.
func (n *Notification) repeats(w *Notification) bool {
	if n.Method != w.Method || n.missed || w.missed { // not all handlers are called for missed changes
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

// expendable reports whether n may be dropped to make room: the next notification of its kind replaces it.
func (n *Notification) expendable() bool {
	return n.Method == mcp.NotificationProgress || n.Method == mcp.NotificationMessage
}
