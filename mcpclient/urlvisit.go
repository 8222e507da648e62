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

// URLElicitationOptions configures how the client handles visits to URLs. The zero value selects the stated defaults.
type URLElicitationOptions struct {
	// Completed, if not nil, is called when a server of 2025-11-25 reports, with notifications/elicitation/complete, that
	// the user is done at a URL. It is called like a [NotificationHandler], once for each URL, and only for URLs to which
	// the handler has sent the user.
	Completed func(ctx context.Context, e *URLElicitation)

	// RetryWithin bounds the wait of a call that a server of 2025-11-25 refuses until the user has visited URLs (error
	// -32042). If the user goes to all URLs, the client sends the call again after the server or [URLElicitation.Complete]
	// has reported that the user is done. Otherwise, or when the time is over, the call fails with the server's error.
	// Zero means 5 min. A negative value means that the call fails at once, without a call of the handler. (specification
	// 2025-11-25, client/elicitation, "Completion Notifications for URL Mode Elicitation")
	RetryWithin time.Duration
}

// visitsKept is the maximum number of visits that the client tracks. When it is reached, the oldest visit is evicted.
const visitsKept = 256

// urlVisits tracks the URLs that the user was sent to, for servers that report the end of a visit.
type urlVisits struct {
	URLElicitationOptions
	handler URLElicitationHandler

	mu     sync.Mutex
	visits []*urlVisit // visits with an ID, the oldest first; guarded by mu
}

// urlVisit is one visit of the user to a URL.
type urlVisit struct {
	id   string
	done chan struct{}
	once sync.Once
	what *URLElicitation // nil until the handler is called; guarded by urlVisits.mu
	made bool            // the user went to the URL; guarded by urlVisits.mu
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

// expect returns the unfinished visit with this ID, or a new visit.
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

// add adds a visit if it has an ID. Without an ID, the server cannot report the end of the visit. The caller holds mu.
func (v *urlVisits) add(visit *urlVisit) {
	if visit.id != "" {
		v.visits = append(v.visits[max(0, len(v.visits)+1-visitsKept):], visit)
	}
}

// index returns the index of the visit with this ID, or -1. The caller holds mu.
func (v *urlVisits) index(id string) int {
	return slices.IndexFunc(v.visits, func(o *urlVisit) bool { return o.id == id })
}

// open assigns a visit to the elicitation.
func (v *urlVisits) open(e *URLElicitation) {
	e.visit = v.expect(e.ID)
	v.mu.Lock()
	defer v.mu.Unlock()
	e.visit.what = e
}

// begun records that the user went to the URL. If the visit was evicted in the meantime, begun adds it again.
func (v *urlVisits) begun(visit *urlVisit) {
	v.mu.Lock()
	defer v.mu.Unlock()
	visit.made = true
	if !visit.completed() && v.index(visit.id) < 0 {
		v.add(visit)
	}
}

// forget removes a visit unless the user went to the URL.
func (v *urlVisits) forget(visit *urlVisit) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.visits = slices.DeleteFunc(v.visits, func(o *urlVisit) bool { return o == visit && !o.made })
}

// completed records that the user is done. It runs in the goroutine that reads the connection, so that a call from any
// later handler finds the visit completed.
func (v *urlVisits) completed(n *Notification) {
	var p mcp.ElicitationCompleteParams
	if v == nil || n.Decode(&p) != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	i := v.index(p.ElicitationID)
	if i < 0 {
		return // unknown or already completed
	}
	v.visits[i].complete()
	if v.Completed == nil {
		v.visits = slices.Delete(v.visits, i, i+1)
	}
}

// tell calls URLElicitationOptions.Completed if the user was sent to the URL.
func (v *urlVisits) tell(ctx context.Context, n *Notification) {
	var p mcp.ElicitationCompleteParams
	if n.Decode(&p) != nil {
		return
	}
	if e := v.ended(p.ElicitationID); e != nil {
		v.Completed(ctx, e)
	}
}

// ended removes a completed visit and returns its elicitation. It returns nil if there is no such visit.
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

// afterVisits is the layer that sends the user to URLs if a server of 2025-11-25 requires that before it answers. After
// the visits, afterVisits sends the request again.
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
			cl.By = time.Time{} // restart the timeout, because a person may have used up the time
		}
	}
}

// visitURLs sends the user to the URLs that the server requires before it answers the call. It reports whether to send
// the call again. refused is the server's error.
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

// visit calls the handler to send the user to the URL in p, which was in the answer to request id. It reports whether
// the user went there.
func (a *answering) visit(ctx context.Context, id int64, p *mcp.ElicitParams) bool {
	params, err := mcp.AppendParams(nil, p)
	if err != nil {
		return false
	}
	answer, failed := a.input(ctx, id, mcp.InputRequest{Method: mcp.MethodElicit, Params: params})
	var result mcp.ElicitResult
	return failed == nil && json.Unmarshal(answer, &result) == nil && result.Action == mcp.ElicitAccept
}
