package receiver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/visible"
)

// Options configure a [Receiver].
type Options struct {
	// Explain returns the message about a firing alert, usually [Evidence.Explain]. It must return soon after its context
	// has ended.
	Explain func(context.Context, *Alert) *Message

	Sinks []Sink // 1 to 64

	// Token is the bearer token that a request must have. Empty means none.
	Token string

	// Timeout limits the search for the evidence of one alert. 0 means DefaultTimeout. The alerts of one request have four
	// times as long together.
	Timeout time.Duration

	// Say is called with a line about each failed request. It may be nil. Calls may overlap.
	Say func(text string)
}

// Limits of requests.
const (
	DefaultTimeout = 8 * time.Second

	maxRequests = 4                // requests that are answered at the same time; others wait
	maxSearches = 4                // alerts that are explained at the same time; others wait
	rounds      = 4                // the alerts of one request have this many times Options.Timeout
	reading     = 5 * time.Second  // time for the body of a request to arrive
	delivering  = 30 * time.Second // time to deliver the alerts of one request, after the search
	oneDelivery = 10 * time.Second // time to deliver one alert to one sink
)

// A Receiver answers Alertmanager's webhook.
type Receiver struct {
	o        Options
	places   chan struct{} // one for each request in progress
	searches chan struct{} // one for each search in progress, so that few traces are in memory
	seen     deliveries
}

// New returns a Receiver.
func New(o Options) (*Receiver, error) {
	if len(o.Sinks) == 0 || len(o.Sinks) > 64 {
		return nil, fmt.Errorf("got %d sinks, want 1 to 64", len(o.Sinks))
	}
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	if o.Say == nil {
		o.Say = func(string) {}
	}
	return &Receiver{o: o, places: make(chan struct{}, maxRequests), searches: make(chan struct{}, maxSearches)}, nil
}

// Longest is the longest time in which a request is answered.
func (r *Receiver) Longest() time.Duration { return rounds*r.o.Timeout + delivering }

// ServeHTTP answers a request of Alertmanager: with 200 if all sinks have all alerts, and with 502 if a sink has failed.
// Alertmanager then repeats the request, and only the missing alerts are delivered.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	// The server's own deadline may be shorter. Setting it fails only in tests without a server.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(r.Longest() + reading))
	status, text := r.answer(w, req)
	if status != http.StatusOK {
		r.o.Say(fmt.Sprintf("answered Alertmanager with %d: %s", status, text))
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, text) // an error means that Alertmanager has disconnected
}

func (r *Receiver) answer(w http.ResponseWriter, req *http.Request) (status int, text string) {
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return http.StatusMethodNotAllowed, "want a POST of Alertmanager"
	}
	if !r.admits(req) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return http.StatusUnauthorized, "the bearer token is missing or wrong; set authorization in Alertmanager's http_config"
	}
	ctx, cancel := context.WithTimeout(req.Context(), r.Longest())
	defer cancel()
	select {
	case r.places <- struct{}{}:
		defer func() { <-r.places }()
	case <-ctx.Done():
		return http.StatusServiceUnavailable, "too many requests are in progress"
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(reading)) // the request may have waited
	p, err := Parse(req.Body)
	switch {
	case errors.Is(err, errUnread):
		return http.StatusServiceUnavailable, visible.Short(err.Error(), maxText)
	case errors.Is(err, ErrTooLarge):
		return http.StatusRequestEntityTooLarge, visible.Short(err.Error(), maxText)
	case err != nil:
		return http.StatusBadRequest, visible.Short(err.Error(), maxText)
	}
	n, err := r.Receive(ctx, p)
	if err != nil {
		return http.StatusBadGateway, visible.Short(err.Error(), maxText)
	}
	return http.StatusOK, fmt.Sprintf("%d of %d alerts delivered, the others before", n, len(p.Alerts))
}

// admits reports whether a request has the token.
func (r *Receiver) admits(req *http.Request) bool {
	if r.o.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(r.o.Token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// Receive explains and delivers the alerts of a payload, and returns how many were new. The error names the sinks that
// have failed. Receive returns when all alerts are done.
func (r *Receiver) Receive(ctx context.Context, p *Payload) (delivered int, _ error) {
	searching, cancel := context.WithTimeout(ctx, rounds*r.o.Timeout)
	defer cancel()
	var group sync.WaitGroup
	var fresh atomic.Int64
	var failed firstErrors
	next := make(chan *Alert)
	for range min(maxSearches, len(p.Alerts)) {
		group.Go(func() { // ends when next is closed
			for a := range next {
				is, err := r.one(ctx, searching, a, p.Truncated)
				if is {
					fresh.Add(1)
				}
				failed.add(err)
			}
		})
	}
	for i := range p.Alerts {
		next <- &p.Alerts[i]
	}
	close(next)
	group.Wait()
	return int(fresh.Load()), failed.err()
}

// one delivers an alert to the sinks that do not have it. fresh reports whether there was such a sink.
func (r *Receiver) one(ctx, searching context.Context, a *Alert, truncated uint64) (fresh bool, err error) {
	d, err := r.seen.begin(ctx, keyOf(a))
	if err != nil {
		return false, err
	}
	defer r.seen.end(d)
	var m *Message
	var failed []error
	for i, s := range r.o.Sinks {
		if d.sent&(1<<i) != 0 {
			continue
		}
		if m == nil {
			m = r.message(searching, a, truncated)
		}
		if err := ctx.Err(); err != nil { // Alertmanager has given up, and will repeat the request
			return true, err
		}
		if err := deliver(ctx, s, m); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", s.Name(), err))
			continue
		}
		d.sent |= 1 << i
	}
	return m != nil, errors.Join(failed...)
}

// message returns the message about an alert.
func (r *Receiver) message(ctx context.Context, a *Alert, truncated uint64) *Message {
	if a.Status == Resolved {
		return newMessage(a).bounded()
	}
	m := r.explain(ctx, a)
	if truncated > 0 {
		m.Missing = append(m.Missing, fmt.Sprintf("%d other alerts of the group, which Alertmanager has left out because of "+
			"max_alerts", truncated))
	}
	return m
}

// explain explains an alert. If the time is over before another search ends, it does not wait: Explain then returns the
// message without evidence.
func (r *Receiver) explain(ctx context.Context, a *Alert) *Message {
	select {
	case r.searches <- struct{}{}:
		defer func() { <-r.searches }()
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(ctx, r.o.Timeout)
	defer cancel()
	return r.o.Explain(ctx, a)
}

func deliver(ctx context.Context, s Sink, m *Message) error {
	ctx, cancel := context.WithTimeout(ctx, oneDelivery)
	defer cancel()
	return s.Deliver(ctx, m)
}

// firstErrors collects the first errors of several goroutines, and counts the others.
type firstErrors struct {
	mu  sync.Mutex
	all []error // guarded by mu
	n   int     // guarded by mu
}

const maxErrors = 3

func (f *firstErrors) add(err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n++; len(f.all) < maxErrors {
		f.all = append(f.all, err)
	}
}

func (f *firstErrors) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n == 0 {
		return nil
	}
	return fmt.Errorf("%d alerts were not delivered: %w", f.n, errors.Join(f.all...))
}
