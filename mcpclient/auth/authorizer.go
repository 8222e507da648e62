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

// Authorizer gets and stores the tokens for one MCP server, the server of its first request: use one Authorizer for
// each server. Its methods may be called from any goroutine. Its goroutines run only during an authorization or a
// refresh.
type Authorizer struct {
	o       *settings
	fetcher *metadata.Fetcher // requests URLs that the MCP server names
	trusted *metadata.Fetcher // requests URLs that the user names
	nonces  dpop.Nonces
	budget  budget

	ctx    context.Context // canceled by Close
	cancel context.CancelCauseFunc
	runs   sync.WaitGroup // counts the goroutines of runs

	mu          sync.Mutex
	server      *url.URL             // URL of the MCP server; nil before the first request; guarded by mu
	session     *session             // nil before the first authorization; guarded by mu
	running     *run                 // the run in progress, nil if there is none; guarded by mu
	failed      *run                 // the last run if it failed, else nil; guarded by mu
	pauseEnd    time.Time            // end of the pause after failed; guarded by mu
	requestedAt map[string]time.Time // time of the last request for each scope; guarded by mu
}

// failurePause is the time after a failure during which the Authorizer returns the same error without a new attempt,
// because many concurrent requests fail for the same reason.
const failurePause = 500 * time.Millisecond

// New returns an Authorizer. It copies o; nil means the zero [Options]. It does no I/O and returns an error if o is
// invalid. Call [Authorizer.Close] to release its resources.
func New(o *Options) (*Authorizer, error) {
	if o == nil {
		o = new(Options)
	}
	s, err := o.settings()
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	guard := metadata.Options{Client: o.HTTPClient, AllowPrivateAddresses: o.AllowPrivateAddresses}
	a := &Authorizer{o: s, fetcher: metadata.New(guard), requestedAt: map[string]time.Time{}}
	guard.AllowPrivateAddresses = true
	a.trusted = metadata.New(guard)
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	return a, nil
}

// Close stops the running authorizations, waits for them to end and closes idle connections. It does not change the
// store. After Close, requests and refusals fail with an error that wraps [ErrClosed]. Close may be called more than
// once. It always returns nil.
func (a *Authorizer) Close() error {
	a.mu.Lock()
	a.cancel(ErrClosed)
	a.mu.Unlock()
	a.runs.Wait()
	a.fetcher.Close()
	a.trusted.Close()
	return nil
}

// Authorize adds the token, if there is one, to a request. For a token with DPoP, it also adds a proof for this
// request. It returns an error for a request to another origin than the MCP server's.
//
// If the token is about to expire, Authorize renews it in the background. If the token has expired, Authorize waits for
// the renewal, within the context of the request. If the renewal needs a person, Authorize sends the expired token.
func (a *Authorizer) Authorize(req *http.Request) error {
	s, err := a.current(req)
	if err != nil || s == nil {
		return err
	}
	return s.attach(req, &a.nonces, time.Now())
}

// current returns the session for a request, nil if there is none.
func (a *Authorizer) current(req *http.Request) (*session, error) {
	a.mu.Lock()
	if err := a.checkServer(req.URL); err != nil {
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
			n = nil // the server will refuse the request and state its requirements
		}
		return n, nil
	}
	return nil, err
}

// renewal returns the run that renews s. It starts a run if there is none. The caller holds mu.
func (a *Authorizer) renewal(ctx context.Context, s *session, now time.Time) (*run, error) {
	if a.running != nil {
		return a.running, nil
	}
	if a.failed != nil && a.failed.renew && now.Before(a.pauseEnd) {
		return nil, a.failed.err
	}
	return a.start(ctx, &run{demand: demand{used: s.token.AccessToken}, renew: true}), nil
}

// checkServer binds the Authorizer to the server of its first request and returns an error for other servers. The
// caller holds mu.
func (a *Authorizer) checkServer(u *url.URL) error {
	if a.ctx.Err() != nil {
		return refuse(StepResource, "%w", ErrClosed)
	}
	if a.server == nil {
		a.server = new(*u)
	}
	if !hostname.SameOrigin(a.server, u) {
		return refuse(StepResource, "request to a server other than %s: use one Authorizer for each server",
			quoteShort(hostname.Origin(a.server)))
	}
	return nil
}

// LogValue returns the server and the grant, and no secret.
func (a *Authorizer) LogValue() slog.Value {
	a.mu.Lock()
	defer a.mu.Unlock()
	server := ""
	if a.server != nil {
		server = hostname.Origin(a.server)
	}
	return slog.GroupValue(slog.String("server", server), slog.String("grant", a.o.Grant.name()))
}

// Format prints LogValue for all verbs.
func (a *Authorizer) Format(f fmt.State, _ rune) { show(f, "Authorizer", a.LogValue()) }

// MarshalJSON encodes LogValue.
func (a *Authorizer) MarshalJSON() ([]byte, error) { return marshalLogValue(a.LogValue()) }
