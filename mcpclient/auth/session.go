package auth

import (
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/dpop"
	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/metadata"
)

// source is where a token came from.
type source string

const (
	stored    source = "stored"
	refreshed source = "refreshed"
	granted   source = "granted"
)

// session is what the Authorizer knows after an authorization. But for accepted it never changes: a refresh makes
// another.
type session struct {
	resource  string           // the MCP server's identifier, as it is sent to authorization servers
	server    *metadata.Server // the one that issued the token
	client    *client          // as which it was issued
	key       StoreKey
	token     *Token    // nil if it is of no use any more
	refused   string    // the token there was if the MCP server refused it from the start
	requested []string  // all scopes asked for so far
	dpop      *dpop.Key // that the token is bound to; nil if it is a bearer token
	source    source
	lapses    time.Time // when early refresh is due; zero if the expiry is not known

	accepted atomic.Bool // the MCP server has taken the token
}

// scopes returns what the token allows, as far as is known.
func (s *session) scopes() []string {
	if s.token.Scopes != nil {
		return s.token.Scopes
	}
	return s.requested
}

// renewable reports whether a new token can be had without a person.
func (s *session) renewable(g Grant) bool {
	return s.token.RefreshToken != "" || !g.interactive()
}

// expired reports whether the token has expired.
func (s *session) expired(now time.Time) bool {
	return !s.token.Expiry.IsZero() && !now.Before(s.token.Expiry)
}

// due reports whether it is time to get a new token.
func (s *session) due(now time.Time) bool {
	return !s.lapses.IsZero() && !now.Before(s.lapses)
}

// lapse returns when a token got at now and valid until expiry is to be refreshed: early before it expires, and not
// before nine tenths of its life.
func lapse(now, expiry time.Time, early time.Duration) time.Time {
	if expiry.IsZero() {
		return time.Time{}
	}
	return expiry.Add(-max(0, min(early, expiry.Sub(now)/10)))
}

// bound reports whether the token is of no use without a proof, or was when there was one.
func (s *session) bound() bool { return s.dpop != nil }

// attach puts the token into a request, and with DPoP a proof made for this request alone.
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

// sentToken returns the token a request carried, empty if it carried none.
func sentToken(req *http.Request) string {
	_, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	return token
}

// same reports whether t and o are one token.
func (t *Token) same(o *Token) bool {
	return t.AccessToken == o.AccessToken && t.RefreshToken == o.RefreshToken
}

// afterRefusal returns s when no other token is to be had for it.
func (s *session) afterRefusal(now time.Time) *session {
	if s.expired(now) {
		return s.spent()
	}
	return s.unrenewable()
}

// spent returns what is left of s when its token is of no use.
func (s *session) spent() *session { return s.with(nil) }

// unrenewable returns s when its refresh token is of no use, to be sent as it is until it expires.
func (s *session) unrenewable() *session {
	t := new(*s.token)
	t.RefreshToken = ""
	n := s.with(t)
	n.lapses = t.Expiry
	n.accepted.Store(s.accepted.Load())
	return n
}

func (s *session) with(t *Token) *session {
	return &session{
		resource: s.resource, server: s.server, client: s.client, key: s.key, token: t, requested: s.requested, dpop: s.dpop,
		source: s.source,
	}
}

// Authorization schemes and token types (RFC 6750, RFC 9449), compared without regard to case.
const (
	schemeBearer = "Bearer"
	schemeDPoP   = "DPoP"
)
