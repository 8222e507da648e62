package bearer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/identity"
)

// clockSkew is the tolerated difference between the clock of the authorization server and the clock of this server.
const clockSkew = 30 * time.Second

// Principal is the identity of a caller and the rights of its token. A Principal contains no secrets. [Require]
// refuses a Principal without Subject and ClientID, because all such callers would share their sessions and tasks.
type Principal struct {
	Subject   string         // owner of the token: a person, or the client itself
	ClientID  string         // client to which the token was issued
	Issuer    string         // authorization server that issued the token
	Audience  []string       // servers for which the token is valid; must include this server
	Scopes    []string       // granted scopes
	Expiry    time.Time      // zero if the token does not expire
	NotBefore time.Time      // zero if the token was valid from the start
	Implied   []string       // scopes implied by Scopes (see Implies in [Options]); set by [Require]
	Claims    map[string]any // further data from the Verifier; may be nil
}

// HasScopes reports whether each of the scopes is granted or implied by a granted scope.
func (p *Principal) HasScopes(scopes ...string) bool {
	for _, s := range scopes {
		if !slices.Contains(p.Scopes, s) && !slices.Contains(p.Implied, s) {
			return false
		}
	}
	return true
}

// with returns a copy of p with the implied scopes. It does not change p, because the Verifier may return the same p
// for several requests.
func (p *Principal) with(implies map[string][]string) *Principal {
	if len(implies) == 0 {
		return p
	}
	all := slices.Clone(p.Scopes)
	for i := 0; i < len(all); i++ { // the loop also visits the elements that it appends
		for _, narrow := range implies[all[i]] {
			if !slices.Contains(all, narrow) {
				all = append(all, narrow)
			}
		}
	}
	twin := *p
	twin.Implied = all[len(p.Scopes):]
	return &twin
}

// check returns an error if the token is not valid now for one of the audiences.
func (p *Principal) check(audiences []string) error {
	now := time.Now()
	switch {
	case p.anonymous():
		return errors.New("the token names neither a subject nor a client, so its owner is unknown")
	case !p.Expiry.IsZero() && now.After(p.Expiry.Add(clockSkew)):
		return errors.New("the token has expired")
	case now.Add(clockSkew).Before(p.NotBefore):
		return errors.New("the token is not valid yet")
	case !slices.ContainsFunc(p.Audience, func(a string) bool { return isAudience(a, audiences) }):
		return errors.New("the token is for another resource")
	}
	return nil
}

// isAudience reports whether a is one of the audiences. It ignores a trailing slash, because canonical URIs should
// have none (specification 2026-07-28, basic/authorization, "Canonical Server URI").
func isAudience(a string, audiences []string) bool {
	return slices.ContainsFunc(audiences, func(want string) bool {
		return strings.TrimSuffix(a, "/") == strings.TrimSuffix(want, "/")
	})
}

type principalKey struct{}

// PrincipalFrom returns the caller's principal from the context of a request that passed [Require].
func PrincipalFrom(ctx context.Context) (*Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(*Principal)
	return p, ok
}

// Identity returns a string that identifies the issuer, subject and client of the request's token. The string is the
// same for all tokens with this issuer, subject and client, and empty without [Require]. Identity is the default of
// HTTPOptions.Principal in package mcpserver, so a session belongs to the principal that opened it.
func Identity(r *http.Request) string { return identity.From(r.Context()) }

func (p *Principal) anonymous() bool { return p.Subject == "" && p.ClientID == "" }

func (p *Principal) identity() string {
	return fmt.Sprintf("%q %q %q", p.Issuer, p.Subject, p.ClientID)
}
