package mcpclient

import (
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// overlap is how long the client reads a subscription that another one has replaced. The acknowledgement of the new one
// may overtake an update on the old one: over HTTP each has a stream of its own, and behind a proxy any two may.
const overlap = 5 * time.Second

// maxReplaced bounds the replaced subscriptions that a client reads at once.
const maxReplaced = 4

// replaced is a subscription that another one has replaced, and that the client still reads.
type replaced struct {
	sub   *subscription
	cut   chan struct{}   // closed when the subscription must end before its time
	heard map[string]bool // guarded by subscriptions.mu; changes that a newer subscription has brought, by method and URI
}

// replace reads sub, which is open in session s and which another one has replaced, for the time of overlap. If that
// ends early, the client may have missed changes.
func (subs *subscriptions) replace(s *conn.Session, sub *subscription) {
	r := &replaced{sub: sub, cut: make(chan struct{}), heard: map[string]bool{}}
	subs.mu.Lock()
	defer subs.mu.Unlock()
	if !subs.c.core.During(s, func() { subs.readOut(s, r) }) { // ends after the time of overlap
		sub.close()
		return
	}
	all := subs.replaced()
	if *all = append(*all, r); len(*all) > maxReplaced {
		close((*all)[0].cut)
		*all = slices.Delete(*all, 0, 1)
	}
}

// readOut waits until a replaced subscription ends, and ends it after the time of overlap.
func (subs *subscriptions) readOut(s *conn.Session, r *replaced) {
	t := time.NewTimer(overlap)
	defer t.Stop()
	var missed bool
	select {
	case <-t.C:
		r.sub.close()
	case <-r.cut:
		missed = !r.sub.close()
	case <-s.Ctx.Done():
		r.sub.close()
	case o := <-r.sub.Outcome:
		r.sub.over(o)
		missed = o.Cause != 0
	}
	subs.mu.Lock()
	all := subs.replaced()
	*all = slices.DeleteFunc(*all, func(other *replaced) bool { return other == r })
	w := subs.wishes(s)
	subs.mu.Unlock()
	if missed && s.Ctx.Err() == nil { // else the next session reports it
		subs.c.missed(names.GapReplacement, w.filter)
	}
}

// superseded returns why a notification of the subscription with this id is dropped, a Drop word of package names, or
// "". A change on a replaced subscription needs no handler if a newer one has brought it since, or if the resource is
// wanted no more.
func (subs *subscriptions) superseded(id int64, n *Notification) string {
	subs.mu.Lock()
	defer subs.mu.Unlock()
	if subs.latest == nil {
		return ""
	}
	for _, r := range subs.latest.replaced {
		if r.sub.ID > id || !r.brings(n) {
			continue
		}
		change := n.Method + n.uri
		switch {
		case r.sub.ID < id:
			r.heard[strings.Clone(change)] = true
		case r.heard[change]:
			return names.DropCoalesced
		case n.uri != "" && !subs.watches.wants(n.uri):
			return names.DropUnsubscribed
		}
	}
	return ""
}

// brings reports whether r is exactly about the change that n reports. A resource may be a part of one in the filter;
// then it is not.
func (r *replaced) brings(n *Notification) bool {
	if n.Method != mcp.NotificationResourceUpdated {
		return onlySubscribed(n.Method)
	}
	_, found := slices.BinarySearch(r.sub.filter.ResourceSubscriptions, n.uri)
	return found
}
