package mcpclient

import (
	"slices"

	"github.com/mcpotel/mcpotel/mcp"
)

// notifyQueue holds the notifications that wait for their handlers, in the order of arrival: at most limit of them, and
// at most so many bytes of frames, unless a single one is larger. It is pure; the dispatcher guards it.
//
// When it is full, room is made in this order: a list-changed or updated notification that says again what one in the
// queue says is coalesced with it; the oldest progress and log messages are dropped, no more of them than it takes; if
// that is not enough, the new one is dropped and they stay.
type notifyQueue struct {
	limit   int
	bytes   int             // the limit of size; 0 for none
	waiting []*Notification // in order
	size    int             // of all that wait, in bytes
}

// pushed says what push did with the new notification, or with those that made room for it.
type pushed struct {
	coalesced bool            // the new one says what a waiting one says
	dropped   []*Notification // lost, the new one or older ones
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

// fits reports whether there is room for n beside so many others of so many bytes.
func (q *notifyQueue) fits(others, size int, n *Notification) bool {
	return others < q.limit && (others == 0 || q.bytes == 0 || size+n.held() <= q.bytes)
}

// enough returns the oldest of those that may be dropped, as many as make room for n, nil if all of them do not.
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

// drop takes out some, which are in order.
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

// held is what n keeps in memory, and roughly so: its frame and, if it is about a resource, the URI once more.
func (n *Notification) held() int { return n.size + len(n.uri) }

// repeats reports whether hearing n behind w says nothing new. It copies nothing: a queue may hold many long URIs.
func (n *Notification) repeats(w *Notification) bool {
	if n.Method != w.Method || n.missed || w.missed { // not all handlers hear what was missed
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

// expendable reports whether n may be dropped to make room: the next one of its kind makes up for it.
func (n *Notification) expendable() bool {
	return n.Method == mcp.NotificationProgress || n.Method == mcp.NotificationMessage
}
