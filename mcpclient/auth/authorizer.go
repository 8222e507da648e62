package auth

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/dpop"
	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/metadata"
)

// Authorizer gets and keeps the tokens for one MCP server, that of the first request it sees: make one for each. Its
// methods may be called from any goroutine. It starts goroutines only while it waits for an authorization or a refresh.
type Authorizer struct {
	o       *settings
	fetcher *metadata.Fetcher // for what the MCP server names
	trusted *metadata.Fetcher // for what the user names
	nonces  dpop.Nonces
	budget  budget

	life  context.Context // ends with Close
	end   context.CancelCauseFunc
	going sync.WaitGroup // flights

	mu      sync.Mutex
	server  *url.URL             // guarded by mu; the MCP server, nil before the first request
	session *session             // guarded by mu; nil before the first authorization
	running *run                 // guarded by mu; nil if there is none
	failed  *run                 // guarded by mu; the last one, if it failed
	pause   time.Time            // guarded by mu; until when nothing like it is tried again
	asked   map[string]time.Time // guarded by mu; when a scope was last asked for
}

// failurePause is how long what has failed is not tried again: many requests at once fail for one reason.
const failurePause = 500 * time.Millisecond

// New returns an Authorizer. Nil options are the zero [Options]; they are copied. It does no I/O; an error says what is
// wrong with o. [Authorizer.Close] frees what it holds.
func New(o *Options) (*Authorizer, error) {
	if o == nil {
		o = new(Options)
	}
	s, err := o.settle()
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	guard := metadata.Options{Client: o.HTTPClient, AllowPrivateAddresses: o.AllowPrivateAddresses}
	a := &Authorizer{o: s, fetcher: metadata.New(guard), asked: map[string]time.Time{}}
	guard.AllowPrivateAddresses = true
	a.trusted = metadata.New(guard)
	a.life, a.end = context.WithCancelCause(context.Background())
	return a, nil
}

// Close ends the authorizations that are under way, waits until they have ended and closes idle connections. What the
// store keeps stays. From then on requests get no token and refusals no authorization, but an error that wraps
// [ErrClosed]. It may be called any number of times, and always returns nil.
func (a *Authorizer) Close() error {
	a.mu.Lock()
	a.end(ErrClosed)
	a.mu.Unlock()
	a.going.Wait()
	a.fetcher.Close()
	a.trusted.Close()
	return nil
}

// Authorize adds the token, if there is one, and with DPoP a proof for this request. A token that is about to expire is
// renewed in the background; one that has expired is renewed first, within the request's context, and sent as it is if
// it cannot be renewed without a person. Requests to another origin than that of the MCP server are refused.
func (a *Authorizer) Authorize(req *http.Request) error {
	s, err := a.current(req)
	if err != nil || s == nil {
		return err
	}
	return s.attach(req, &a.nonces, time.Now())
}

// current returns the session to send a request with, nil if there is none.
func (a *Authorizer) current(req *http.Request) (*session, error) {
	a.mu.Lock()
	if err := a.serve(req.URL); err != nil {
		a.mu.Unlock()
		return nil, err
	}
	s, now := a.session, time.Now()
	switch {
	case s == nil || s.token == nil:
		a.mu.Unlock()
		return nil, nil
	case !s.due(now) || !s.renewable(a.o.Grant):
		a.mu.Unlock()
		return s, nil
	}
	f, err := a.renewal(req.Context(), s, now)
	a.mu.Unlock()
	if !s.expired(now) {
		return s, nil
	}
	if err == nil {
		err = f.wait(req.Context(), StepRefresh)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := a.session; n != s {
		if n.token == nil {
			n = nil // the server's refusal will say what to do
		}
		return n, nil
	}
	return nil, err
}

// renewal returns the run that renews s, starting it if there is none. It is called with mu.
func (a *Authorizer) renewal(ctx context.Context, s *session, now time.Time) (*run, error) {
	if a.running != nil {
		return a.running, nil
	}
	if a.failed != nil && a.failed.renew && now.Before(a.pause) {
		return nil, a.failed.err
	}
	return a.start(ctx, &run{demand: demand{used: s.token.AccessToken}, renew: true}), nil
}

// serve binds the Authorizer to the server of its first request, and refuses others. It is called with mu.
func (a *Authorizer) serve(u *url.URL) error {
	if a.life.Err() != nil {
		return refuse(StepResource, "%w", ErrClosed)
	}
	if a.server == nil {
		a.server = new(*u)
	}
	if !hostname.SameOrigin(a.server, u) {
		return refuse(StepResource, "request to another server than %s: each needs an Authorizer of its own",
			quoteShort(hostname.Origin(a.server)))
	}
	return nil
}

// LogValue tells what the Authorizer is for, and no secret.
func (a *Authorizer) LogValue() slog.Value {
	a.mu.Lock()
	defer a.mu.Unlock()
	server := ""
	if a.server != nil {
		server = hostname.Origin(a.server)
	}
	return slog.GroupValue(slog.String("server", server), slog.String("grant", a.o.Grant.name()))
}

// Format prints, whatever the verb, what LogValue shows.
func (a *Authorizer) Format(f fmt.State, _ rune) { show(f, "Authorizer", a.LogValue()) }

// MarshalJSON encodes what LogValue shows.
func (a *Authorizer) MarshalJSON() ([]byte, error) { return showJSON(a.LogValue()) }
