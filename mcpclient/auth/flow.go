package auth

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/dpop"
	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/metadata"
)

// flow is one authorization from the refusal to the token. It belongs to the goroutine of its run.
type flow struct {
	a      *Authorizer
	fetch  *metadata.Fetcher
	url    *url.URL // URL of the MCP server
	demand demand
	last   *session // session before the flow; may be nil

	// The flow sets the following fields in the order of their declaration.
	resource        *metadata.Resource // nil if the MCP server has no metadata (2025-03-26)
	id              string             // identifier of the MCP server for the parameter resource
	server          *metadata.Server
	client          *client  // nil until the client is registered
	reused          bool     // the client was registered before this flow
	requestedBefore []string // scopes requested before at the same authorization server
	key             StoreKey // key of the outcome in the store
	// previous is the latest session of the same MCP server, authorization server and client, from memory or the
	// store; may be nil.
	previous  *session
	wasBound  bool // the previous token was bound to a key
	requested []string
	proof     *dpop.Key // nil for bearer tokens
}

// authorize returns a session that satisfies f.demand: from the store, by a refresh, or by the grant.
func (f *flow) authorize(ctx context.Context) (*session, error) {
	if err := f.discover(ctx); err != nil {
		return nil, err
	}
	if err := f.identify(ctx); err != nil {
		return nil, err
	}
	if f.satisfied() {
		return f.previous, nil
	}
	if f.refreshable() {
		s, err := f.refresh(ctx, f.previous)
		if err == nil || !permanent(err) {
			return s, err
		}
		if f.refreshedElsewhere(ctx) {
			return f.previous, nil
		}
		f.discard(ctx, err)
	}
	if err := f.checkAllowed(); err != nil {
		return nil, err
	}
	f.requested = f.scopes()
	if err := f.createKey(); err != nil {
		return nil, err
	}
	s, err := f.grant(ctx)
	if f.forget(err) {
		s, err = f.grant(ctx)
	}
	return s, err
}

// renew returns a session like f.last, with a new token. It runs only the last step of a flow, the token request.
func (f *flow) renew(ctx context.Context) (*session, error) {
	l := f.last
	f.id, f.server, f.client, f.key, f.requested, f.proof = l.resource, l.server, l.client, l.key, l.requested, l.dpop
	if l.token.RefreshToken != "" {
		return f.refresh(ctx, l)
	}
	return f.grant(ctx)
}

// checkAllowed returns an error if the grant needs a person and there is none, or if the budget is exhausted.
func (f *flow) checkAllowed() error {
	if f.a.o.Grant.interactive() && f.a.o.Interact == nil {
		return failed(StepAuthorize, ErrNoInteraction)
	}
	if f.a.budget.exhausted(time.Now()) {
		return refuse(StepAuthorize, "limit of %d authorizations in %v is reached: the server keeps refusing their tokens",
			budgetSize, budgetPeriod)
	}
	return nil
}

// grant gets a new token with the configured [Grant], and saves the token.
func (f *flow) grant(ctx context.Context) (*session, error) {
	interactive := f.a.o.Grant.interactive()
	if interactive {
		f.a.budget.record(time.Now())
	}
	t, err := f.a.o.Grant.obtain(ctx, f)
	if err != nil {
		return nil, err
	}
	if !interactive {
		f.a.budget.record(time.Now())
	}
	s := f.session(t, granted, f.requested, f.proof)
	f.save(ctx, s)
	return s, nil
}

// refresh gets a token with the refresh token of s (RFC 6749 §6), and saves it.
func (f *flow) refresh(ctx context.Context, s *session) (*session, error) {
	t, err := f.redeem(ctx, &tokenRequest{
		step: StepRefresh, endpoint: f.server.TokenEndpoint, issuer: f.server.Issuer, client: s.client, key: s.dpop,
		form: url.Values{"grant_type": {"refresh_token"}, "refresh_token": {s.token.RefreshToken}, "resource": {f.id}},
	})
	if err != nil {
		return nil, err
	}
	if t.Scopes == nil {
		t.Scopes = s.token.Scopes
	}
	f.client = s.client
	next := f.session(t, refreshed, s.requested, s.dpop)
	f.save(ctx, next)
	return next, nil
}

// satisfied reports whether the previous token already satisfies the demand. Another process, or an earlier run of this
// process, may have saved the token.
func (f *flow) satisfied() bool {
	p := f.previous
	return p != nil && p.token.AccessToken != "" && p.token.AccessToken != f.demand.used && !p.expired(time.Now()) &&
		f.fits(p)
}

// refreshable reports whether a refresh may satisfy the demand. If the server refused a refreshed token immediately,
// another refresh will not help.
func (f *flow) refreshable() bool {
	p := f.previous
	if p == nil || p.token.RefreshToken == "" || !f.fits(p) {
		return false
	}
	return p.token.AccessToken != f.demand.used || p.source != refreshed || p.accepted.Load()
}

// fits reports whether a token like the token of s would satisfy the demand: the token must be bound to a key if
// required, and have the demanded scopes. A scope that was requested but not granted counts as present, unless the
// server demands a step-up.
func (f *flow) fits(s *session) bool {
	have := s.requested
	if f.demand.stepUp {
		have = s.scopes()
	}
	return s.bound() == f.bindsTokens() && covers(have, f.demand.scopes)
}

// scopes returns the scopes to request.
func (f *flow) scopes() []string {
	r := scopeRequest{
		configured: f.a.o.Scopes, challenged: f.demand.scopes, previous: f.requestedBefore, server: f.server.ScopesSupported,
		offline: f.a.o.Grant.interactive() && !f.a.o.NoOfflineAccess,
	}
	if f.resource != nil {
		r.supported = f.resource.ScopesSupported
	}
	if f.previous != nil {
		r.previous = union(f.requestedBefore, f.previous.token.Scopes)
	}
	return r.choose()
}

// bindsTokens reports whether tokens must be bound to a key.
func (f *flow) bindsTokens() bool {
	switch {
	case f.a.o.DPoP == DPoPNever:
		return false
	case f.a.o.DPoP == DPoPAlways, f.demand.proof == proofRequired, f.resource != nil && f.resource.DPoPRequired:
		return true
	case f.demand.proof == proofOffered:
		return slices.Contains(f.server.DPoPAlgs, dpop.Alg)
	default:
		return f.wasBound // challenges for bound tokens may omit DPoP
	}
}

// createKey creates the key for the new token if tokens must be bound.
func (f *flow) createKey() error {
	if !f.bindsTokens() {
		return nil
	}
	if f.server.DPoPAlgs != nil && !slices.Contains(f.server.DPoPAlgs, dpop.Alg) {
		return refuse(StepToken, "authorization server does not support DPoP proofs signed with %s", dpop.Alg)
	}
	key, err := dpop.NewKey()
	if err != nil {
		return refuse(StepToken, "DPoP key: %w", err)
	}
	f.proof = key
	return nil
}

// refreshedElsewhere reports whether the refresh token was refused because another process has just used it. If so, the
// token of the other process becomes the previous session, and must not be discarded.
func (f *flow) refreshedElsewhere(ctx context.Context) bool {
	r, err := f.a.o.Store.Load(ctx, f.key)
	if err != nil || r == nil || r.Token == nil || r.Token.same(f.previous.token) || !f.a.o.Grant.interactive() {
		return false
	}
	if c := f.client.registered; c != nil && (r.Credentials == nil || r.Credentials.ClientID != c.ClientID) {
		return false
	}
	before := f.previous
	if f.previous = f.restore(r); f.satisfied() {
		return true
	}
	f.previous = before
	return false
}

// discard removes a refresh token that the server refused with err. It also removes the client if the server refused
// the client.
func (f *flow) discard(ctx context.Context, err error) {
	f.a.o.Logger.InfoContext(ctx, "refresh token is no longer valid", "resource", withoutQuery(f.id), "error", err)
	f.forget(err)
	f.requestedBefore, f.previous = union(f.requestedBefore, f.previous.token.Scopes), nil
	f.keep(ctx, f.key, f.client, &Record{RequestedScopes: f.requestedBefore})
}

// forget removes a client that was registered before this flow if err means that the server does not know the client.
// It reports whether it removed the client.
func (f *flow) forget(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != "invalid_client" || !f.reused {
		return false
	}
	f.client, f.reused = nil, false
	return true
}

// session returns a session for a new token.
func (f *flow) session(t *Token, from source, requested []string, key *dpop.Key) *session {
	return &session{
		resource: f.id, server: f.server, client: f.client, key: f.key, token: t, requested: requested, dpop: key,
		source: from, refreshAt: refreshTime(time.Now(), t.Expiry, f.a.o.RefreshEarly),
	}
}

// save stores s for later processes.
func (f *flow) save(ctx context.Context, s *session) {
	r := &Record{Token: s.token, RequestedScopes: s.requested}
	if s.dpop != nil {
		key, err := s.dpop.Marshal()
		if err != nil {
			f.a.o.Logger.WarnContext(ctx, "token is not saved", "resource", withoutQuery(f.id), "error", err)
			return
		}
		r.DPoPKey = key
	}
	f.keep(ctx, s.key, s.client, r)
}

// keep writes r to the store, with the client's registration if there is one. If the store fails, it only logs a
// warning, because the token itself is valid.
func (f *flow) keep(ctx context.Context, key StoreKey, c *client, r *Record) {
	if c != nil {
		r.Credentials = c.registered
	}
	if err := f.a.o.Store.Save(ctx, key, r); err != nil {
		f.a.o.Logger.WarnContext(ctx, "token is not saved", "resource", withoutQuery(key.Resource), "error", err)
	}
}

func permanent(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Permanent()
}
