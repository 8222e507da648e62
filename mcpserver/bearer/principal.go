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

// clockSkew is how far the clocks of the authorization server and of this one may differ.
const clockSkew = 30 * time.Second

// Principal is who asks, and what the token is good for. Without a Subject and a ClientID it is refused: all such
// tokens would be those of one principal, with one set of sessions and tasks. Nothing in it is secret.
type Principal struct {
	Subject   string         // whose token it is; a person or, for a client of its own, often the client
	ClientID  string         // the client that was given it
	Issuer    string         // the authorization server that gave it
	Audience  []string       // the servers it is for; without this server the token is refused
	Scopes    []string       // granted
	Expiry    time.Time      // zero if it does not expire
	NotBefore time.Time      // zero if it was good from the start
	Implied   []string       // scopes that those imply, see Implies in [Options]; [Require] fills it in
	Claims    map[string]any // whatever else the Verifier knows; may be nil
}

// HasScopes reports whether all of the scopes were granted, or are implied by those that were.
func (p *Principal) HasScopes(scopes ...string) bool {
	for _, s := range scopes {
		if !slices.Contains(p.Scopes, s) && !slices.Contains(p.Implied, s) {
			return false
		}
	}
	return true
}

// with returns p as one that has also the scopes which its own imply. The Verifier may have given the same p to others.
func (p *Principal) with(implies map[string][]string) *Principal {
	if len(implies) == 0 {
		return p
	}
	all := slices.Clone(p.Scopes)
	for i := 0; i < len(all); i++ { // all grows by what each of its elements implies
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

// check says what is wrong with the token now, for any of these audiences.
func (p *Principal) check(audiences []string) error {
	now := time.Now()
	switch {
	case p.anonymous():
		return errors.New("the token names no subject and no client, so nothing tells whose it is")
	case !p.Expiry.IsZero() && now.After(p.Expiry.Add(clockSkew)):
		return errors.New("the token has expired")
	case now.Add(clockSkew).Before(p.NotBefore):
		return errors.New("the token is not valid yet")
	case !slices.ContainsFunc(p.Audience, func(a string) bool { return isAudience(a, audiences) }):
		return errors.New("the token is for another resource")
	}
	return nil
}

// isAudience takes a slash at the end for none: canonical URIs are better without (specification 2026-07-28,
// basic/authorization, "Canonical Server URI").
func isAudience(a string, audiences []string) bool {
	return slices.ContainsFunc(audiences, func(want string) bool {
		return strings.TrimSuffix(a, "/") == strings.TrimSuffix(want, "/")
	})
}

type principalKey struct{}

// PrincipalFrom returns who asked, in the context of a request that [Require] let through.
func PrincipalFrom(ctx context.Context) (*Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(*Principal)
	return p, ok
}

// Identity returns a text that is the same for all tokens of one subject and client, and empty without [Require]. It is
// what HTTPOptions.Principal of package mcpserver is unless set: a session then belongs to who opened it.
func Identity(r *http.Request) string { return identity.From(r.Context()) }

func (p *Principal) anonymous() bool { return p.Subject == "" && p.ClientID == "" }

func (p *Principal) identity() string {
	return fmt.Sprintf("%q %q %q", p.Issuer, p.Subject, p.ClientID)
}
