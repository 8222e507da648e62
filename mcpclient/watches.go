package mcpclient

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/lock"
)

// watches are the resources that the user is subscribed to, or about to be, in any session.
type watches struct {
	mu  sync.Mutex
	all map[string]*watch // guarded by mu; by URI
}

// watch is one resource. It is in watches as long as it is wanted or a goroutine uses it.
type watch struct {
	uri  string
	turn lock.Mutex // held to subscribe, to unsubscribe and to restore

	users  int  // guarded by watches.mu; goroutines that hold the turn or wait for it
	wanted bool // guarded by watches.mu; in every session
	// guarded by watches.mu; of one element: the caller that subscribes waits here for the server's word; nil if no caller
	// does
	asked  chan error
	agreed *conn.Session // guarded by watches.mu; the one in which the server tells of it, as far as is known
	lost   bool          // guarded by watches.mu; it has been reported that the server does not tell of it any more
}

// enter waits until no other goroutine changes the subscription to a resource, and reports false if ctx ends first. If
// there is no need to wait, it enters even when ctx has ended. A goroutine that has entered must leave.
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

// want says whether the resource is wanted.
func (t *watches) want(w *watch, wanted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.wanted, w.agreed, w.lost = wanted, nil, false
}

// unwant says that the resource is not wanted, in the middle of what others do.
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

// wants reports whether the resource is wanted, or a caller is about to want it.
func (t *watches) wants(uri string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.all[uri]
	return w != nil && (w.wanted || w.asked != nil)
}

// uris returns all that are wanted or used.
func (t *watches) uris() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.all))
}

// filter returns what a subscription must be about, whether a caller waits for the server's word on a part of it, and
// which part the server does not tell of although it is wanted.
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

// ask notes that a caller waits for the server's word on w in session s, and returns where it comes; nil if the server
// has agreed already.
func (t *watches) ask(w *watch, s *conn.Session) <-chan error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.wanted && w.agreed == s {
		return nil
	}
	w.asked = make(chan error, 1)
	return w.asked
}

// withdraw notes that the caller does not wait any more, and reports whether the server's word had not come.
func (t *watches) withdraw(w *watch) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	waited := w.asked != nil
	w.asked = nil
	return waited
}

// decision is what became of the resources in the filter of a subscription.
type decision struct {
	restored []string // are heard of again, after a time in which something may have been missed
	refused  []string // a caller asked for them, and the server has not agreed
	lost     []string // were wanted before, and the server has not agreed, which has not been logged yet
}

// decide notes which of uris, the filter of a subscription in session s, the server has agreed on, and tells those who
// wait for that. gap says that for a time there was no subscription, no is the error for those on which it has not
// agreed.
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
			continue // it has been given up meanwhile
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

// tell gives the server's word to the caller that asked for the resource, if one did. It is called with mu held.
func (w *watch) tell(err error) {
	if w.asked != nil {
		w.asked <- err
		w.asked = nil
	}
}

// fail tells those who asked for one of uris why there is no word from the server.
func (t *watches) fail(uris []string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, uri := range uris {
		if w := t.all[uri]; w != nil {
			w.tell(err)
		}
	}
}

// restored notes that a subscription works again, so that a later loss is reported.
func (t *watches) restored(w *watch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.lost = false
}

// lose notes that the server does not tell of those that are wanted any more, and returns the ones of which this is
// news.
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
