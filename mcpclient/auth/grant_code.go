package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/url"
	"slices"

	"golang.org/x/oauth2"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/metadata"
)

// AuthorizationCode is the grant for a person who authorizes the client in a browser (RFC 6749 §4.1 with PKCE, RFC
// 7636). [Options.Interact] opens the browser. (specification 2026-07-28, basic/authorization, "Authorization Flow
// Steps")
type AuthorizationCode struct{}

func (AuthorizationCode) name() string      { return grantCode }
func (AuthorizationCode) interactive() bool { return true }
func (AuthorizationCode) check() error      { return nil }

func (AuthorizationCode) obtain(ctx context.Context, f *flow) (*Token, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := checkPKCE(f.server, f.resource == nil); err != nil {
		return nil, err
	}
	redirectURI, err := f.a.o.Interact.RedirectURI(ctx)
	if err != nil {
		return nil, failed(StepAuthorize, err)
	}
	if err := f.register(ctx, redirectURI); err != nil {
		return nil, err
	}
	verifier := oauth2.GenerateVerifier()
	code, err := f.askPerson(ctx, redirectURI, verifier)
	if err != nil {
		return nil, err
	}
	return f.token(ctx, url.Values{
		"grant_type": {grantCode}, "code": {code}, "code_verifier": {verifier}, "redirect_uri": {redirectURI},
	})
}

// checkPKCE returns an error if the server does not announce S256. A server of 2025-03-26, which has no resource
// metadata, need not announce it. (specification 2026-07-28, basic/authorization/security-considerations,
// "Authorization Code Protection"; 2025-03-26, basic/authorization)
func checkPKCE(s *metadata.Server, legacy bool) error {
	if s.AuthorizationEndpoint == "" {
		return refuse(StepDiscoverServer, "authorization server has no authorization endpoint")
	}
	if legacy && s.CodeChallengeMethods == nil || slices.Contains(s.CodeChallengeMethods, "S256") {
		return nil
	}
	return refuse(StepDiscoverServer, "authorization server does not support PKCE with S256")
}

// askPerson sends the person to the authorization server, waits for the redirect and returns its code.
func (f *flow) askPerson(ctx context.Context, redirectURI, verifier string) (string, error) {
	state := rand.Text()
	conf := oauth2.Config{
		ClientID: f.client.id, RedirectURL: redirectURI, Scopes: f.requested,
		Endpoint: oauth2.Endpoint{AuthURL: f.server.AuthorizationEndpoint},
	}
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("resource", f.id)}
	if f.proof != nil {
		options = append(options, oauth2.SetAuthURLParam("dpop_jkt", f.proof.Thumbprint()))
	}
	if slices.Contains(f.requested, scopeOffline) {
		options = append(options, oauth2.ApprovalForce) // without it OpenID providers ignore the scope (Core §11)
	}
	ctx, end := instrument.StartAuthStep(ctx, string(StepAuthorize))
	r, err := f.a.o.Interact.Authorize(ctx, InteractionRequest{
		URL: conf.AuthCodeURL(state, options...), RedirectURI: redirectURI, State: state,
		Resource: f.id, Issuer: f.server.Issuer, Scopes: slices.Clone(f.requested),
	})
	if err != nil {
		err = f.interactionError(ctx, err)
	} else {
		err = checkRedirect(f.server, state, r)
	}
	end(err)
	return r.Code, err
}

// interactionError returns the error for an interaction that ended without a redirect. The error is permanent if the
// interaction timed out.
func (f *flow) interactionError(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errTooLong) {
		return refuse(StepAuthorize, "%w", errTooLong)
	}
	return failed(StepAuthorize, err)
}

// checkRedirect compares the redirect with the request: first the state, then the issuer by simple string comparison,
// then the other parameters. (specification 2026-07-28, basic/authorization, "Authorization Response Validation"; RFC
// 9207 §2.4)
func checkRedirect(s *metadata.Server, state string, r Redirect) error {
	switch {
	case subtle.ConstantTimeCompare([]byte(r.State), []byte(state)) != 1:
		return refuse(StepAuthorize, "the redirect belongs to another request: its state differs")
	case !r.HasIssuer && s.IssParameter:
		return refuse(StepAuthorize, "redirect does not name its authorization server")
	case r.HasIssuer && r.Issuer != s.Issuer:
		return refuse(StepAuthorize, "redirect is from an authorization server other than %s", quoteShort(s.Issuer))
	case r.Error != "":
		return answered(StepAuthorize, r.Error, r.ErrorDescription, 0, []string{r.Code, state})
	case r.Code == "":
		return refuse(StepAuthorize, "redirect has no code")
	}
	return nil
}
