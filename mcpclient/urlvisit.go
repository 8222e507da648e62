package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// URLElicitationOptions configure how the client handles visits to URLs. The zero value selects the stated defaults.
type URLElicitationOptions struct {
	// Completed, if not nil, is called when a server of 2025-11-25 reports that the user is done at a URL, with
	// notifications/elicitation/complete. It is called once for each URL, like a [NotificationHandler], and only
	// for URLs that the handler has sent the user to.
	Completed func(ctx context.Context, e *URLElicitation)

	// RetryWithin is how long a call waits if a server of 2025-11-25 refuses it until the user has visited URLs
	// (error -32042). If the user goes to all of them, the call is sent again after the server, or
	// [URLElicitation.Complete], has reported that the user is done. Otherwise, or when the time is over, it fails
	// with the server's error. Zero means 5 min; negative means that the call fails at once without asking the
	// handler.
	// (specification 2025-11-25, client/elicitation, "Completion Notifications for URL Mode Elicitation")
	RetryWithin time.Duration
}

// visitsKept bounds the visits that the client tracks; the oldest is evicted.
const visitsKept = 256

// urlVisits tracks the URLs that the user was sent to, for servers that report the end of a visit.
type urlVisits struct {
	URLElicitationOptions
	handler URLElicitationHandler

	mu     sync.Mutex
	visits []*urlVisit // visits with an id, the oldest first; guarded by mu
}

// urlVisit is one visit of the user to a URL.
type urlVisit struct {
	id   string
	done chan struct{}
	once sync.Once
	what *URLElicitation // nil until the handler is called; guarded by urlVisits.mu
	made bool            // the user has gone there; guarded by urlVisits.mu
}

func (v *urlVisit) complete() { v.once.Do(func() { close(v.done) }) }

func (v *urlVisit) completed() bool {
	select {
	case <-v.done:
		return true
	default:
		return false
	}
}

func newURLVisits(h URLElicitationHandler, o *URLElicitationOptions) *urlVisits {
	v := &urlVisits{handler: h}
	if o != nil {
		v.URLElicitationOptions = *o
	}
	v.RetryWithin = cmp.Or(v.RetryWithin, 5*time.Minute)
	return v
}

// expect returns the unfinished visit with this id, or a new one.
func (v *urlVisits) expect(id string) *urlVisit {
	v.mu.Lock()
	defer v.mu.Unlock()
	i := v.index(id)
	if i >= 0 && !v.visits[i].completed() {
		return v.visits[i]
	}
	visit := &urlVisit{id: id, done: make(chan struct{})}
	if i >= 0 {
		v.visits[i] = visit
	} else {
		v.add(visit)
	}
	return visit
}

// add adds a visit if it has an id; without an id the server cannot report its end. mu is held.
func (v *urlVisits) add(visit *urlVisit) {
	if visit.id != "" {
		v.visits = append(v.visits[max(0, len(v.visits)+1-visitsKept):], visit)
	}
}

// index returns the index of a visit, -1 for none. mu is held.
func (v *urlVisits) index(id string) int {
	return slices.IndexFunc(v.visits, func(o *urlVisit) bool { return o.id == id })
}

// open records the elicitation of a visit.
func (v *urlVisits) open(e *URLElicitation) {
	e.visit = v.expect(e.ID)
	v.mu.Lock()
	defer v.mu.Unlock()
	e.visit.what = e
}

// begun records that the user has gone, and adds the visit again if it was forgotten in the meantime.
func (v *urlVisits) begun(visit *urlVisit) {
	v.mu.Lock()
	defer v.mu.Unlock()
	visit.made = true
	if !visit.completed() && v.index(visit.id) < 0 {
		v.add(visit)
	}
}

// forget removes a visit that was not made.
func (v *urlVisits) forget(visit *urlVisit) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.visits = slices.DeleteFunc(v.visits, func(o *urlVisit) bool { return o == visit && !o.made })
}

// completed records, in the goroutine that reads, that the user is done, so that calls in any handler see it.
func (v *urlVisits) completed(n *Notification) {
	var p mcp.ElicitationCompleteParams
	if v == nil || n.Decode(&p) != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	i := v.index(p.ElicitationID)
	if i < 0 {
		return // unknown, or already completed
	}
	v.visits[i].complete()
	if v.Completed == nil {
		v.visits = slices.Delete(v.visits, i, i+1)
	}
}

// tell calls URLElicitationOptions.Completed.
func (v *urlVisits) tell(ctx context.Context, n *Notification) {
	var p mcp.ElicitationCompleteParams
	if n.Decode(&p) != nil {
		return
	}
	if e := v.ended(p.ElicitationID); e != nil {
		v.Completed(ctx, e)
	}
}

// ended removes a completed visit and returns its elicitation, nil for none.
func (v *urlVisits) ended(id string) *URLElicitation {
	v.mu.Lock()
	defer v.mu.Unlock()
	i := v.index(id)
	if i < 0 || !v.visits[i].completed() {
		return nil
	}
	visit := v.visits[i]
	v.visits = slices.Delete(v.visits, i, i+1)
	return visit.what
}

// afterVisits is the layer that sends the user to URLs that a server of 2025-11-25 requires before it answers, and
// sends the request again.
func afterVisits(next roundTrip) roundTrip {
	return func(ctx context.Context, cl *call) *Error {
		for {
			err := next(ctx, cl)
			if err == nil || err.Server == nil || err.Server.Code != mcp.CodeURLElicitationRequired {
				return err
			}
			if again, err := cl.visitURLs(cl.Outside(ctx), err); !again {
				return err
			}
			cl.By = time.Time{} // a person has used up the time
		}
	}
}

// visitURLs sends the user to the URLs that the server requires before it answers the call, and reports whether to
// send the call again. refused is the server's error.
func (cl *call) visitURLs(ctx context.Context, refused *Error) (again bool, _ *Error) {
	c, v := cl.c, cl.c.urls
	if v == nil || v.RetryWithin < 0 || c.core.Present().Version != mcp.Version20251125 ||
		cl.visits+1 >= c.cfg.Limits.InputRounds {
		return false, refused
	}
	elicitations, err := requiredElicitations(refused.Server)
	switch {
	case errors.As(err, new(tooManyVisits)):
		return false, &Error{Kind: KindProtocol, Op: cl.Method, cause: err}
	case err != nil:
		return false, refused
	}
	cl.visits++
	visits := make([]*urlVisit, len(elicitations))
	for i, p := range elicitations {
		visits[i] = v.expect(p.ElicitationID)
	}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.core.Base, func() { cancel(ErrShutdown) })()
	for i, p := range elicitations {
		if c.answering.visit(limited, cl.ID, p) {
			continue
		}
		for _, visit := range visits[i:] {
			v.forget(visit)
		}
		if limited.Err() != nil {
			return false, errorOf(c.core.Interrupted(ctx, cl.Method, !cl.Accepted))
		}
		return false, refused
	}
	patience := time.NewTimer(v.RetryWithin)
	defer patience.Stop()
	for _, visit := range visits {
		select {
		case <-visit.done:
		case <-patience.C:
			return false, refused
		case <-limited.Done():
			return false, errorOf(c.core.Interrupted(ctx, cl.Method, !cl.Accepted))
		}
	}
	return true, nil
}

// visit makes the handler send the user to the URL in p, which the answer to request id contained, and reports whether
// the user went.
func (a *answering) visit(ctx context.Context, id int64, p *mcp.ElicitParams) bool {
	params, err := mcp.AppendParams(nil, p)
	if err != nil {
		return false
	}
	answer, failed := a.input(ctx, id, mcp.InputRequest{Method: mcp.MethodElicit, Params: params})
	var result mcp.ElicitResult
	return failed == nil && json.Unmarshal(answer, &result) == nil && result.Action == mcp.ElicitAccept
}
