package mcpclient

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/lock"
)

// watches holds the resources that the user is subscribed to, or is subscribing to, in any session.
type watches struct {
	mu  sync.Mutex
	all map[string]*watch // keys are URIs; guarded by mu
}

// watch is one resource. A watch exists as long as the user wants the resource or a goroutine uses the watch.
type watch struct {
	uri  string
	turn lock.Mutex // held while subscribing, unsubscribing or restoring

	users  int  // number of goroutines that hold or wait for turn; guarded by watches.mu
	wanted bool // the user wants updates, in every session; guarded by watches.mu
	// receives the server's answer for the subscribing caller; capacity 1; nil if no caller waits; guarded by watches.mu
	asked  chan error
	agreed *conn.Session // session in which the server reports changes; guarded by watches.mu
	lost   bool          // the client has already reported that the subscription was lost; guarded by watches.mu
}

// enter waits until no other goroutine changes the subscription to the resource. It returns false if ctx ends first. If
// enter need not wait, it succeeds even if ctx has already ended. After a successful enter, the goroutine must call
// leave.
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

// want sets whether the user wants the resource.
func (t *watches) want(w *watch, wanted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.wanted, w.agreed, w.lost = wanted, nil, false
}

// unwant records that the user no longer wants the resource, even while another goroutine holds turn.
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

// some reports whether the user wants any resource, or a caller is subscribing to one.
func (t *watches) some() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.all) > 0
}

// wants reports whether the user wants the resource or a caller is subscribing to it.
func (t *watches) wants(uri string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.all[uri]
	return w != nil && (w.wanted || w.asked != nil)
}

// uris returns the URIs of all resources that the user wants or a goroutine uses.
func (t *watches) uris() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.all))
}

// filter returns the URIs for a subscription. asked reports whether a caller waits for one of them. lost are the wanted
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

// ask registers a caller that waits for the server's answer on w in session s. It returns a channel for the answer, or
// nil if the server has already agreed.
func (t *watches) ask(w *watch, s *conn.Session) <-chan error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.wanted && w.agreed == s {
		return nil
	}
	w.asked = make(chan error, 1)
	return w.asked
}

// withdraw unregisters the waiting caller. It reports whether the server had not answered yet.
func (t *watches) withdraw(w *watch) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	waited := w.asked != nil
	w.asked = nil
	return waited
}

// decision is the outcome of a subscription for the resources in its filter.
type decision struct {
	restored []string // reported again, after a time in which the client may have missed a change
	refused  []string // requested by a caller, but the server did not agree
	lost     []string // wanted before, but the server did not agree, and that is not logged yet
}

// decide records on which resources the server has agreed, and passes the answers to waiting callers. uris is the
// filter of a subscription in session s, and agreed is the part of it that the server reports. gap means that the
// client had no subscription for some time. The function no returns the error for a resource on which the server did
// not agree.
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

// tell passes the server's answer to the waiting caller, if any. The caller of tell holds mu.
func (w *watch) tell(err error) {
	if w.asked != nil {
		w.asked <- err
		w.asked = nil
	}
}

// fail passes err to the callers that wait for one of these resources.
func (t *watches) fail(uris []string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, uri := range uris {
		if w := t.all[uri]; w != nil {
			w.tell(err)
		}
	}
}

// restored records that a subscription works again, so that the client reports a later loss.
func (t *watches) restored(w *watch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.lost = false
}

// lose records that the server no longer reports the wanted resources. It returns the resources that were not lost
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
