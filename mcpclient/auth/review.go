package auth

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/challenge"
)

// maxAttempts bounds how often one message is sent: without a token, with a stored token, with a refreshed token, and
// with a new token. (specification 2026-07-28, basic/authorization, "Step-Up Authorization Flow")
const maxAttempts = 4

// scopePause is the time after a request for a scope during which the scope is not requested again, even if the MCP
// server reports it as missing.
const scopePause = 5 * time.Minute

// demand holds the requirements in the MCP server's refusal.
type demand struct {
	used        string   // the refused token; empty if the request had no token
	metadataURL string   // resource_metadata of the challenge (RFC 9728 §5.1); may be empty
	scopes      []string // scopes of the challenge
	stepUp      bool     // the token is valid but lacks scopes
	proof       proofDemand
}

// proofDemand is the requirement of a challenge for DPoP.
type proofDemand int

const (
	proofUnsaid proofDemand = iota
	proofOffered
	proofRequired
)

// covered reports whether the outcome of a run for o is also valid for d.
func (d demand) covered(o demand) bool {
	return d.used == o.used && d.stepUp == o.stepUp && covers(o.scopes, d.scopes)
}

// Review handles the MCP server's answer to a request. After HTTP 401, and after 403 with insufficient_scope, it gets
// another token, and waits for a person if necessary, within the context of the request. If that context ends, the
// authorization continues and serves the next request. Review returns an error for all other refusals, and for refusals
// that a new token did not resolve.
func (a *Authorizer) Review(resp *http.Response, attempt int) (again bool, err error) {
	req := resp.Request
	nonce, used := resp.Header.Get("DPoP-Nonce"), sentToken(req)
	a.nonces.Note(req.URL, nonce)
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		a.accept(used)
		return false, nil
	}
	a.mu.Lock()
	err = a.checkServer(req.URL)
	a.mu.Unlock()
	if err != nil {
		return false, err
	}
	refusal := readRefusal(resp, used)
	switch {
	case attempt >= maxAttempts:
		return false, refusal.error("the server refused the request %d times", attempt)
	case req.Method == http.MethodDelete:
		return false, refusal.error("the client does not start an authorization to delete a session")
	case resp.StatusCode == http.StatusUnauthorized && refusal.code == "use_dpop_nonce" && nonce != "" && used != "":
		return true, nil
	case resp.StatusCode == http.StatusForbidden && refusal.code != "insufficient_scope":
		return false, refusal.error("the server forbids the access")
	}
	err = a.satisfy(req.Context(), refusal)
	return err == nil, err
}

// accept records that the MCP server has accepted a token.
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

// refusal is an answer of the MCP server that requires authorization.
type refusal struct {
	demand
	status int
	code   string // parameter error of the challenge
	text   string // parameter error_description of the challenge
}

// readRefusal parses the challenges of the schemes Bearer and DPoP.
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

// error returns the permanent error for a refusal that the Authorizer does not resolve.
func (r *refusal) error(format string, args ...any) *Error {
	e := refuse(StepResource, format, args...)
	e.Status, e.Code, e.Description = r.status, quotable(r.code, 64, []string{r.used}),
		quotable(r.text, 200, []string{r.used})
	return e
}

// satisfy waits until there is a token other than the refused token. It joins the run in progress or starts a run.
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
			return err // the caller stopped waiting
		}
		if !f.renew && r.demand.covered(f.demand) {
			return err
		}
	}
}

// join returns the run to wait for, nil if there is already another token.
func (a *Authorizer) join(ctx context.Context, r *refusal) (*run, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.session
	if a.ctx.Err() != nil {
		return nil, refuse(StepResource, "%w", ErrClosed)
	}
	if s != nil && s.token != nil && s.token.AccessToken != r.used {
		return nil, nil
	}
	if a.running != nil {
		return a.running, nil
	}
	if f := a.failed; f != nil && !f.renew && r.demand.covered(f.demand) && time.Now().Before(a.pauseEnd) {
		return nil, f.err
	}
	if err := a.checkHopeless(s, r); err != nil {
		return nil, err
	}
	return a.start(ctx, &run{demand: r.demand}), nil
}

// checkHopeless returns an error if no authorization would help: the server refused a token that was just issued, or
// the scopes were requested recently. The caller holds mu.
func (a *Authorizer) checkHopeless(s *session, r *refusal) error {
	now := time.Now()
	switch {
	case s == nil:
		return nil
	case s.token == nil:
		if s.refused != "" && s.refused == r.used {
			return r.error("the server refused a token that was just issued")
		}
		return nil
	case r.stepUp:
		return a.checkStepUp(s, r, now)
	case s.source == granted && !s.accepted.Load() && !s.expired(now):
		err := r.error("the server refused a token that was just issued")
		a.session = s.withoutToken()
		a.session.refused = r.used
		a.failed, a.pauseEnd = &run{err: err}, now.Add(failurePause)
		return err
	default:
		return nil
	}
}

// checkStepUp returns an error if a step-up would not help, because all scopes were requested within [scopePause]. The
// caller holds mu.
func (a *Authorizer) checkStepUp(s *session, r *refusal, now time.Time) error {
	for _, scope := range r.scopes {
		if t, ok := a.requestedAt[scope]; !ok || now.Sub(t) >= scopePause {
			return nil
		}
	}
	if covers(s.scopes(), r.scopes) {
		return r.error("the token already has the required scopes")
	}
	return r.error("the required scopes were requested and not granted")
}

// recordRequested records the time of a request for scopes. The caller holds mu.
func (a *Authorizer) recordRequested(scopes []string, now time.Time) {
	maps.DeleteFunc(a.requestedAt, func(_ string, t time.Time) bool { return now.Sub(t) >= scopePause })
	for _, scope := range scopes {
		a.requestedAt[scope] = now
	}
}
