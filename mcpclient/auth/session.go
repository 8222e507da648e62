package auth

import (
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/dpop"
	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/metadata"
)

// source is the origin of a token.
type source string

const (
	stored    source = "stored"
	refreshed source = "refreshed"
	granted   source = "granted"
)

// session is the state after an authorization. It is immutable except for accepted: a refresh creates a new session.
type session struct {
	resource  string           // identifier of the MCP server, as sent to authorization servers
	server    *metadata.Server // authorization server that issued the token
	client    *client          // client to which the token was issued
	key       StoreKey
	token     *Token    // nil if the token is no longer usable
	refused   string    // access token that the MCP server refused immediately after it was issued; else empty
	requested []string  // all scopes requested so far
	dpop      *dpop.Key // key that the token is bound to; nil for a bearer token
	source    source
	refreshAt time.Time // time of the early refresh; zero if the expiry is unknown

	accepted atomic.Bool // the MCP server has accepted the token
}

// scopes returns the scopes of the token, as far as they are known.
func (s *session) scopes() []string {
	if s.token.Scopes != nil {
		return s.token.Scopes
	}
	return s.requested
}

// renewable reports whether a new token can be obtained without a person.
func (s *session) renewable(g Grant) bool {
	return s.token.RefreshToken != "" || !g.interactive()
}

// expired reports whether the token has expired.
func (s *session) expired(now time.Time) bool {
	return !s.token.Expiry.IsZero() && !now.Before(s.token.Expiry)
}

// due reports whether it is time to renew the token.
func (s *session) due(now time.Time) bool {
	return !s.refreshAt.IsZero() && !now.Before(s.refreshAt)
}

// refreshTime returns the time at which to refresh a token that was issued at now and is valid until expiry. That time
// is before expiry by the duration early, but not before nine tenths of the token's lifetime have passed.
func refreshTime(now, expiry time.Time, early time.Duration) time.Time {
	if expiry.IsZero() {
		return time.Time{}
	}
	return expiry.Add(-max(0, min(early, expiry.Sub(now)/10)))
}

// bound reports whether the token needs a proof, or needed a proof while it was usable.
func (s *session) bound() bool { return s.dpop != nil }

// attach adds the token to a request, and for DPoP a proof for this request.
func (s *session) attach(req *http.Request, nonces *dpop.Nonces, now time.Time) error {
	if !s.bound() {
		req.Header.Set("Authorization", schemeBearer+" "+s.token.AccessToken)
		req.Header.Del("DPoP")
		return nil
	}
	proof, err := s.dpop.Proof(req.Method, req.URL, s.token.AccessToken, nonces.For(req.URL), now)
	if err != nil {
		return refuse(StepResource, "DPoP proof: %w", err)
	}
	req.Header.Set("Authorization", schemeDPoP+" "+s.token.AccessToken)
	req.Header.Set("DPoP", proof)
	return nil
}

// sentToken returns the token of a request, or the empty string.
func sentToken(req *http.Request) string {
	_, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	return token
}

// same reports whether t and o are the same token.
func (t *Token) same(o *Token) bool {
	return t.AccessToken == o.AccessToken && t.RefreshToken == o.RefreshToken
}

// afterRefusal returns the session after a permanently failed renewal.
func (s *session) afterRefusal(now time.Time) *session {
	if s.expired(now) {
		return s.withoutToken()
	}
	return s.withoutRefreshToken()
}

// withoutToken returns s without its token.
func (s *session) withoutToken() *session { return s.with(nil) }

// withoutRefreshToken returns s without its refresh token. Requests use the access token until it expires.
func (s *session) withoutRefreshToken() *session {
	t := new(*s.token)
	t.RefreshToken = ""
	n := s.with(t)
	n.refreshAt = t.Expiry
	n.accepted.Store(s.accepted.Load())
	return n
}

func (s *session) with(t *Token) *session {
	return &session{
		resource: s.resource, server: s.server, client: s.client, key: s.key, token: t, requested: s.requested, dpop: s.dpop,
		source: s.source,
	}
}

// Authorization schemes and token types (RFC 6750, RFC 9449). They are case-insensitive.
const (
	schemeBearer = "Bearer"
	schemeDPoP   = "DPoP"
)
