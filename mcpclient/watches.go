package mcpclient

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/lock"
)

// watches are the resources that the user is subscribed to, or is subscribing to, in any session.
type watches struct {
	mu  sync.Mutex
	all map[string]*watch // guarded by mu; by URI
}

// watch is one resource. It exists as long as it is wanted or a goroutine uses it.
type watch struct {
	uri  string
	turn lock.Mutex // held to subscribe, to unsubscribe and to restore

	users  int  // goroutines that hold or await the turn; guarded by watches.mu
	wanted bool // the user wants updates, in every session; guarded by watches.mu
	// capacity 1; the subscribing caller waits here for the server's answer; nil if no caller waits; guarded by
	// watches.mu
	asked  chan error
	agreed *conn.Session // session in which the server reports changes; guarded by watches.mu
	lost   bool          // the loss of the subscription was reported; guarded by watches.mu
}

// enter waits until no other goroutine changes the subscription to a resource, and reports false if ctx ends
// first. If it need not wait, it succeeds even after ctx has ended. A goroutine that has entered must leave.
func (t *watches) enter(ctx context.Context, uri string) (*watch, bool) {
	t.mu.Lock()
	w := t.all[uri]
	if w == nil {
		w = &watch{uri: uri}
		if t.all == nil {
			t.all = map[string]*watch{}
		}
		t.all[uri] = w
	}
	w.users++
	t.mu.Unlock()
	if w.turn.LockContext(ctx) != nil {
		t.forgo(w)
		return nil, false
	}
	return w, true
}

func (t *watches) leave(w *watch) {
	w.turn.Unlock()
	t.forgo(w)
}

func (t *watches) forgo(w *watch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.users--; w.users == 0 && !w.wanted {
		delete(t.all, w.uri)
	}
}

// want sets whether the resource is wanted.
func (t *watches) want(w *watch, wanted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.wanted, w.agreed, w.lost = wanted, nil, false
}

// unwant marks the resource as not wanted, even while another goroutine has the turn.
func (t *watches) unwant(uri string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.all[uri]; w != nil {
		w.wanted, w.agreed, w.lost = false, nil, false
		if w.users == 0 {
			delete(t.all, uri)
		}
	}
}

func (t *watches) wanted(w *watch) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return w.wanted
}

// wants reports whether the resource is wanted, or a caller is subscribing to it.
func (t *watches) wants(uri string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.all[uri]
	return w != nil && (w.wanted || w.asked != nil)
}

// uris returns all resources that are wanted or used.
func (t *watches) uris() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.all))
}

// filter returns the resources for a subscription, whether a caller waits for one of them, and the wanted
// resources that the server does not report.
func (t *watches) filter() (uris []string, asked bool, lost []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for uri, w := range t.all {
		if w.wanted || w.asked != nil {
			uris = append(uris, uri)
			asked = asked || w.asked != nil
			if w.lost {
				lost = append(lost, uri)
			}
		}
	}
	slices.Sort(uris)
	return uris, asked, lost
}

// ask registers a caller that waits for the server's answer on w in session s, and returns the channel for it; nil
// if the server has agreed already.
func (t *watches) ask(w *watch, s *conn.Session) <-chan error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.wanted && w.agreed == s {
		return nil
	}
	w.asked = make(chan error, 1)
	return w.asked
}

// withdraw unregisters the caller, and reports whether the server had not answered yet.
func (t *watches) withdraw(w *watch) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	waited := w.asked != nil
	w.asked = nil
	return waited
}

// decision tells how a subscription turned out for the resources in its filter.
type decision struct {
	restored []string // reported again, after a time in which a change may have been missed
	refused  []string // requested by a caller, and the server has not agreed
	lost     []string // wanted before, but the server has not agreed; not logged yet
}

// decide records for which of uris, the filter of a subscription in session s, the server has agreed to report changes,
// and notifies waiting callers. gap means that there was no subscription for a time. no returns the error for a
// resource on which the server has not agreed.
func (t *watches) decide(s *conn.Session, uris, agreed []string, gap bool, no func(uri string) error) (d decision) {
	yes := make(map[string]bool, len(agreed))
	for _, uri := range agreed {
		yes[uri] = true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, uri := range uris {
		w := t.all[uri]
		if w == nil || !w.wanted && w.asked == nil {
			continue // no longer wanted
		}
		switch {
		case yes[uri]:
			if w.wanted && (gap || w.lost) {
				d.restored = append(d.restored, uri)
			}
			w.wanted, w.agreed, w.lost = true, s, false
			w.tell(nil)
		case w.wanted:
			if !w.lost {
				d.lost = append(d.lost, uri)
			}
			w.agreed, w.lost = nil, true
			w.tell(no(uri))
		default:
			d.refused = append(d.refused, uri)
			w.tell(no(uri))
		}
	}
	return d
}

// tell passes the server's answer to the waiting caller, if any. mu is held.
func (w *watch) tell(err error) {
	if w.asked != nil {
		w.asked <- err
		w.asked = nil
	}
}

// fail passes err to the callers that wait for one of uris.
func (t *watches) fail(uris []string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, uri := range uris {
		if w := t.all[uri]; w != nil {
			w.tell(err)
		}
	}
}

// restored records that a subscription works again, so that a later loss is reported.
func (t *watches) restored(w *watch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.lost = false
}

// lose records that the server no longer reports the wanted resources, and returns those that were not lost
// before.
func (t *watches) lose() (lost []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for uri, w := range t.all {
		if w.wanted && !w.lost {
			w.agreed, w.lost = nil, true
			lost = append(lost, uri)
		}
	}
	slices.Sort(lost)
	return lost
}
