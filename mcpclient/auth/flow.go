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
	url    *url.URL // of the MCP server
	demand demand
	last   *session // before the flow; may be nil

	// what the flow finds out, in this order
	resource  *metadata.Resource // nil if the MCP server has no metadata (2025-03-26)
	id        string             // of the MCP server, for the resource parameter
	server    *metadata.Server
	client    *client  // nil as long as it is not registered
	recalled  bool     // the client was registered before this flow
	asked     []string // the scopes asked for before, at the same authorization server
	key       StoreKey // where the outcome is kept
	previous  *session // of the same MCP server, authorization server and client: last, or what the store has; may be nil
	wasBound  bool     // the token before was bound to a key
	requested []string
	proof     *dpop.Key // nil: bearer tokens
}

// authorize gets a session that serves f.demand: by what the store has, by a refresh, or by the grant.
func (f *flow) authorize(ctx context.Context) (*session, error) {
	if err := f.discover(ctx); err != nil {
		return nil, err
	}
	if err := f.identify(ctx); err != nil {
		return nil, err
	}
	if f.adoptable() {
		return f.previous, nil
	}
	if f.refreshable() {
		s, err := f.refresh(ctx, f.previous)
		if err == nil || !permanent(err) {
			return s, err
		}
		if f.overtaken(ctx) {
			return f.previous, nil
		}
		f.discard(ctx, err)
	}
	if err := f.admit(); err != nil {
		return nil, err
	}
	f.requested = f.scopes()
	if err := f.bind(); err != nil {
		return nil, err
	}
	s, err := f.grant(ctx)
	if f.forget(err) {
		s, err = f.grant(ctx)
	}
	return s, err
}

// renew gets a session like last. Of the steps of a flow it takes only the last, which asks for the token.
func (f *flow) renew(ctx context.Context) (*session, error) {
	l := f.last
	f.id, f.server, f.client, f.key, f.requested, f.proof = l.resource, l.server, l.client, l.key, l.requested, l.dpop
	if l.token.RefreshToken != "" {
		return f.refresh(ctx, l)
	}
	return f.grant(ctx)
}

// admit says whether the grant may be tried at all.
func (f *flow) admit() error {
	if f.a.o.Grant.interactive() && f.a.o.Interact == nil {
		return failed(StepAuthorize, ErrNoInteraction)
	}
	if f.a.budget.spent(time.Now()) {
		return refuse(StepAuthorize, "%d authorizations within %v: something is wrong with this server", budgetSize,
			budgetPeriod)
	}
	return nil
}

// grant gets a new token by the grant, and keeps it.
func (f *flow) grant(ctx context.Context) (*session, error) {
	interactive := f.a.o.Grant.interactive()
	if interactive {
		f.a.budget.take(time.Now())
	}
	t, err := f.a.o.Grant.obtain(ctx, f)
	if err != nil {
		return nil, err
	}
	if !interactive {
		f.a.budget.take(time.Now())
	}
	s := f.session(t, granted, f.requested, f.proof)
	f.save(ctx, s)
	return s, nil
}

// refresh gets a token for the refresh token of s (RFC 6749 §6), and keeps it.
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

// adoptable reports whether the token that is there already serves: one that another process has saved, or this one
// before it ended.
func (f *flow) adoptable() bool {
	p := f.previous
	return p != nil && p.token.AccessToken != "" && p.token.AccessToken != f.demand.used && !p.expired(time.Now()) &&
		f.fits(p)
}

// refreshable reports whether a refresh may serve. A token that came of a refresh and was refused at once says that
// another one will not.
func (f *flow) refreshable() bool {
	p := f.previous
	if p == nil || p.token.RefreshToken == "" || !f.fits(p) {
		return false
	}
	return p.token.AccessToken != f.demand.used || p.source != refreshed || p.accepted.Load()
}

// fits reports whether a token like the one of s would do: bound to a key if it has to be, and with the scopes wanted.
// Scopes that were asked for and not granted count only if the server insists on them.
func (f *flow) fits(s *session) bool {
	have := s.requested
	if f.demand.stepUp {
		have = s.scopes()
	}
	return s.bound() == f.bindsTokens() && covers(have, f.demand.scopes)
}

// scopes chooses what to ask for.
func (f *flow) scopes() []string {
	r := scopeRequest{
		configured: f.a.o.Scopes, challenged: f.demand.scopes, previous: f.asked, server: f.server.ScopesSupported,
		offline: f.a.o.Grant.interactive() && !f.a.o.NoOfflineAccess,
	}
	if f.resource != nil {
		r.supported = f.resource.ScopesSupported
	}
	if f.previous != nil {
		r.previous = union(f.asked, f.previous.token.Scopes)
	}
	return r.choose()
}

// bindsTokens reports whether tokens have to be bound to a key.
func (f *flow) bindsTokens() bool {
	switch {
	case f.a.o.DPoP == DPoPNever:
		return false
	case f.a.o.DPoP == DPoPAlways, f.demand.proof == proofRequired, f.resource != nil && f.resource.DPoPRequired:
		return true
	case f.demand.proof == proofOffered:
		return slices.Contains(f.server.DPoPAlgs, dpop.Alg)
	default:
		return f.wasBound // challenges of DPoP-bound tokens may forget to say so
	}
}

// bind makes the key that the new token is to be bound to, if it has to.
func (f *flow) bind() error {
	if !f.bindsTokens() {
		return nil
	}
	if f.server.DPoPAlgs != nil && !slices.Contains(f.server.DPoPAlgs, dpop.Alg) {
		return refuse(StepToken, "authorization server takes no DPoP proofs signed with %s", dpop.Alg)
	}
	key, err := dpop.NewKey()
	if err != nil {
		return refuse(StepToken, "DPoP key: %w", err)
	}
	f.proof = key
	return nil
}

// overtaken reports whether the refresh token was refused because another process had used it a moment ago, whose token
// serves and must not be discarded: it becomes the previous session.
func (f *flow) overtaken(ctx context.Context) bool {
	r, err := f.a.o.Store.Load(ctx, f.key)
	if err != nil || r == nil || r.Token == nil || r.Token.same(f.previous.token) || !f.a.o.Grant.interactive() {
		return false
	}
	if c := f.client.registered; c != nil && (r.Credentials == nil || r.Credentials.ClientID != c.ClientID) {
		return false
	}
	before := f.previous
	if f.previous = f.restore(r); f.adoptable() {
		return true
	}
	f.previous = before
	return false
}

// discard gives up a refresh token that the server refused with err, and the client if that is what it refused.
func (f *flow) discard(ctx context.Context, err error) {
	f.a.o.Logger.InfoContext(ctx, "refresh token is of no use any more", "resource", withoutQuery(f.id), "error", err)
	f.forget(err)
	f.asked, f.previous = union(f.asked, f.previous.token.Scopes), nil
	f.keep(ctx, f.key, f.client, &Record{RequestedScopes: f.asked})
}

// forget drops a client registered before this flow if err says that the server knows it no more, and reports whether
// it did.
func (f *flow) forget(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != "invalid_client" || !f.recalled {
		return false
	}
	f.client, f.recalled = nil, false
	return true
}

// session makes the session of a new token.
func (f *flow) session(t *Token, from source, requested []string, key *dpop.Key) *session {
	return &session{
		resource: f.id, server: f.server, client: f.client, key: f.key, token: t, requested: requested, dpop: key,
		source: from, lapses: lapse(time.Now(), t.Expiry, f.a.o.RefreshEarly),
	}
}

// save keeps s for the next process.
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

// keep puts r into the store, with the client's registration if it has one. A store that cannot keep it is no reason to
// fail: what it should have kept is good.
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
