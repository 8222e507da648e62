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

// URLElicitationOptions say what a client does about URLs besides asking the handler. The zero value is what is stated
// here.
type URLElicitationOptions struct {
	// Completed, if not nil, hears that the user is done at a URL, if the server tells: one of 2025-11-25 may, by
	// notifications/elicitation/complete. It is called once for each, as a [NotificationHandler] is, and not for what the
	// handler has not sent the user to.
	Completed func(ctx context.Context, e *URLElicitation)

	// RetryWithin is how long a call waits that a server of 2025-11-25 refuses until the user has visited URLs (error
	// -32042). If the user goes to all of them, the call is sent again, once the server has told, or
	// [URLElicitation.Complete], that the user is done. If not, or if the time is over, it fails with the server's
	// error. Zero means 5 min; negative means that the call fails at once and the handler is not asked.
	// (specification 2025-11-25, client/elicitation, "Completion Notifications for URL Mode Elicitation")
	RetryWithin time.Duration
}

// visitsKept bounds the visits whose end the client waits for; the oldest gives way.
const visitsKept = 256

// urlVisits are the URLs that the user has been sent to, for servers that tell when the user is done there.
type urlVisits struct {
	URLElicitationOptions
	handler URLElicitationHandler

	mu     sync.Mutex
	visits []*urlVisit // guarded by mu; with an id, the oldest first
}

// urlVisit is one URL that the user is sent to.
type urlVisit struct {
	id   string
	done chan struct{}
	once sync.Once
	what *URLElicitation // guarded by urlVisits.mu; nil until the handler is asked
	made bool            // guarded by urlVisits.mu; the user has gone there
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

// expect returns the visit with this id, a new one if there is none that goes on.
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

// add takes in a visit, unless it has no id, by which the server could tell of its end. mu is held.
func (v *urlVisits) add(visit *urlVisit) {
	if visit.id != "" {
		v.visits = append(v.visits[max(0, len(v.visits)+1-visitsKept):], visit)
	}
}

// index returns the place of a visit, -1 for none. mu is held.
func (v *urlVisits) index(id string) int {
	return slices.IndexFunc(v.visits, func(o *urlVisit) bool { return o.id == id })
}

// open notes what is asked of the user.
func (v *urlVisits) open(e *URLElicitation) {
	e.visit = v.expect(e.ID)
	v.mu.Lock()
	defer v.mu.Unlock()
	e.visit.what = e
}

// begun notes that the user goes, no matter what other visits with the same id have noted.
func (v *urlVisits) begun(visit *urlVisit) {
	v.mu.Lock()
	defer v.mu.Unlock()
	visit.made = true
	if !visit.completed() && v.index(visit.id) < 0 {
		v.add(visit)
	}
}

// forget ends the waiting for a visit that is not made.
func (v *urlVisits) forget(visit *urlVisit) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.visits = slices.DeleteFunc(v.visits, func(o *urlVisit) bool { return o == visit && !o.made })
}

// completed hears, on the read loop, that the user is done; so that it is known even to a call of another handler.
func (v *urlVisits) completed(n *Notification) {
	var p mcp.ElicitationCompleteParams
	if v == nil || n.Decode(&p) != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	i := v.index(p.ElicitationID)
	if i < 0 {
		return // it was never begun, or has been completed
	}
	v.visits[i].complete()
	if v.Completed == nil {
		v.visits = slices.Delete(v.visits, i, i+1)
	}
}

// tell tells the user's function.
func (v *urlVisits) tell(ctx context.Context, n *Notification) {
	var p mcp.ElicitationCompleteParams
	if n.Decode(&p) != nil {
		return
	}
	if e := v.ended(p.ElicitationID); e != nil {
		v.Completed(ctx, e)
	}
}

// ended takes out a visit that is completed and returns what it was for, nil for none.
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

// afterVisits is the layer that sends the user to the URLs that a server of 2025-11-25 wants visited before it answers,
// and sends the request again.
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
			cl.By = time.Time{} // a person has taken that
		}
	}
}

// visitURLs sends the user to the URLs that the server wants visited before it answers the call, and reports whether
// the call is to be sent again. refused is the server's error.
func (cl *call) visitURLs(ctx context.Context, refused *Error) (again bool, _ *Error) {
	c, v := cl.c, cl.c.urls
	if v == nil || v.RetryWithin < 0 || c.core.Present().Version != mcp.Version20251125 ||
		cl.visits+1 >= c.cfg.MaxInputRounds {
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

// visit lets the handler send the user to one URL, which was in the answer to the request id, and reports whether the
// user went.
func (a *answering) visit(ctx context.Context, id int64, p *mcp.ElicitParams) bool {
	params, err := mcp.AppendParams(nil, p)
	if err != nil {
		return false
	}
	answer, failed := a.input(ctx, id, mcp.InputRequest{Method: mcp.MethodElicit, Params: params})
	var result mcp.ElicitResult
	return failed == nil && json.Unmarshal(answer, &result) == nil && result.Action == mcp.ElicitAccept
}
