package auth

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/challenge"
)

// maxAttempts is how often one message is sent at most: without a token, with a stored one, with a refreshed one and
// with a new one. (specification 2026-07-28, basic/authorization, "Step-Up Authorization Flow")
const maxAttempts = 4

// askedPause is how long a scope is not asked for again because the MCP server says that it is missing: it was asked
// for in vain.
const askedPause = 5 * time.Minute

// demand is what a refusal of the MCP server asks for.
type demand struct {
	used        string   // the token that was refused; empty if none was sent
	metadataURL string   // resource_metadata of the challenge (RFC 9728 §5.1); may be empty
	scopes      []string // scope of the challenge
	stepUp      bool     // the token is good, but for its scopes
	proof       proofDemand
}

// proofDemand is what a challenge says about DPoP.
type proofDemand int

const (
	proofUnsaid proofDemand = iota
	proofOffered
	proofRequired
)

// covered reports whether the outcome of a run for o is the outcome for d too.
func (d demand) covered(o demand) bool {
	return d.used == o.used && d.stepUp == o.stepUp && covers(o.scopes, d.scopes)
}

// Review deals with what the MCP server answered. After HTTP 401, and 403 with insufficient_scope, it gets another
// token, for which it may have to wait for a person, within the context of the request: if that ends the authorization
// goes on, and serves the next request. All other refusals are errors, as are those that an authorization has not
// helped against.
func (a *Authorizer) Review(resp *http.Response, attempt int) (again bool, err error) {
	req := resp.Request
	nonce, used := resp.Header.Get("DPoP-Nonce"), sentToken(req)
	a.nonces.Note(req.URL, nonce)
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		a.accept(used)
		return false, nil
	}
	a.mu.Lock()
	err = a.serve(req.URL)
	a.mu.Unlock()
	if err != nil {
		return false, err
	}
	refusal := readRefusal(resp, used)
	switch {
	case attempt >= maxAttempts:
		return false, refusal.error("refused %d times", attempt)
	case req.Method == http.MethodDelete:
		return false, refusal.error("the end of a session is not worth an authorization")
	case resp.StatusCode == http.StatusUnauthorized && refusal.code == "use_dpop_nonce" && nonce != "" && used != "":
		return true, nil
	case resp.StatusCode == http.StatusForbidden && refusal.code != "insufficient_scope":
		return false, refusal.error("access is forbidden")
	}
	err = a.satisfy(req.Context(), refusal)
	return err == nil, err
}

// accept notes that the MCP server has taken a token.
func (a *Authorizer) accept(used string) {
	if used == "" {
		return
	}
	a.mu.Lock()
	s := a.session
	a.mu.Unlock()
	if s == nil || s.token == nil || s.token.AccessToken != used || s.accepted.Swap(true) {
		return
	}
	if !a.o.Grant.interactive() {
		a.budget.refill()
	}
}

// refusal is an answer of the MCP server that asks for authorization.
type refusal struct {
	demand
	status int
	code   string // the parameter error of the challenge
	text   string // its error_description
}

// readRefusal reads the challenges of the schemes we know.
func readRefusal(resp *http.Response, used string) *refusal {
	r := &refusal{status: resp.StatusCode, demand: demand{used: used}}
	all := challenge.Parse(resp.Header)
	bearer, isBearer := challenge.Find(all, "bearer")
	proof, isProof := challenge.Find(all, "dpop")
	c := bearer
	switch {
	case isProof && isBearer:
		r.proof = proofOffered
		if bearer.Params["error"] == "" {
			c = proof
		}
	case isProof:
		r.proof, c = proofRequired, proof
	}
	r.code, r.text = c.Params["error"], c.Params["error_description"]
	r.stepUp = r.status == http.StatusForbidden
	r.scopes = parseScopes(c.Params["scope"])
	for _, c := range []challenge.Challenge{c, bearer, proof} {
		if r.metadataURL == "" {
			r.metadataURL = c.Params["resource_metadata"]
		}
	}
	return r
}

// error makes the permanent error of a refusal that nothing more is done about.
func (r *refusal) error(format string, args ...any) *Error {
	e := refuse(StepResource, format, args...)
	e.Status, e.Code, e.Description = r.status, quotable(r.code, 64, []string{r.used}),
		quotable(r.text, 200, []string{r.used})
	return e
}

// satisfy waits until there is another token than the one refused: it joins the run that is under way, or starts
// one.
func (a *Authorizer) satisfy(ctx context.Context, r *refusal) error {
	for {
		f, err := a.join(ctx, r)
		if err != nil || f == nil {
			return err
		}
		err = f.wait(ctx, StepAuthorize)
		select {
		case <-f.done:
		default:
			return err // the caller has left
		}
		if !f.renew && r.demand.covered(f.demand) {
			return err
		}
	}
}

// join returns the run to wait for, nil if there is another token already.
func (a *Authorizer) join(ctx context.Context, r *refusal) (*run, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.session
	if a.life.Err() != nil {
		return nil, refuse(StepResource, "%w", ErrClosed)
	}
	if s != nil && s.token != nil && s.token.AccessToken != r.used {
		return nil, nil
	}
	if a.running != nil {
		return a.running, nil
	}
	if f := a.failed; f != nil && !f.renew && r.demand.covered(f.demand) && time.Now().Before(a.pause) {
		return nil, f.err
	}
	if err := a.hopeless(s, r); err != nil {
		return nil, err
	}
	return a.start(ctx, &run{demand: r.demand}), nil
}

// hopeless says why no authorization would help: the token is a new one that was never accepted, or the scopes have
// been asked for lately. It is called with mu.
func (a *Authorizer) hopeless(s *session, r *refusal) error {
	now := time.Now()
	switch {
	case s == nil:
		return nil
	case s.token == nil:
		if s.refused != "" && s.refused == r.used {
			return r.error("the token just issued is refused")
		}
		return nil
	case r.stepUp:
		return a.inVain(s, r, now)
	case s.source == granted && !s.accepted.Load() && !s.expired(now):
		err := r.error("the token just issued is refused")
		a.session = s.spent()
		a.session.refused = r.used
		a.failed, a.pause = &run{err: err}, now.Add(failurePause)
		return err
	default:
		return nil
	}
}

// inVain says why a step-up would not help: each of the scopes has been asked for within [askedPause]. It is called
// with mu.
func (a *Authorizer) inVain(s *session, r *refusal, now time.Time) error {
	for _, scope := range r.scopes {
		if t, ok := a.asked[scope]; !ok || now.Sub(t) >= askedPause {
			return nil
		}
	}
	if covers(s.scopes(), r.scopes) {
		return r.error("the token has the scopes that the server wants")
	}
	return r.error("the scopes that the server wants have been asked for and not granted")
}

// noteAsked remembers that scopes have been asked for. It is called with mu.
func (a *Authorizer) noteAsked(scopes []string, now time.Time) {
	maps.DeleteFunc(a.asked, func(_ string, t time.Time) bool { return now.Sub(t) >= askedPause })
	for _, scope := range scopes {
		a.asked[scope] = now
	}
}
