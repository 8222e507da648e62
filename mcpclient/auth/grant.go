package auth

import (
	"context"
	"errors"
	"net/url"
	"strings"
)

// Grant is a way to get a token: [AuthorizationCode], [ClientCredentials], [EnterpriseManaged] or [JWTBearer].
type Grant interface {
	name() string      // the grant type for registration
	interactive() bool // it needs a person
	check() error      // what is wrong with its fields
	obtain(context.Context, *flow) (*Token, error)
}

const (
	grantCode        = "authorization_code"
	grantCredentials = "client_credentials"
	grantJWTBearer   = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	grantExchange    = "urn:ietf:params:oauth:grant-type:token-exchange"
)

// ClientCredentials is the grant of a program that acts for itself (RFC 6749 §4.4, extension
// io.modelcontextprotocol/oauth-client-credentials). The client is that of [Options.Credentials], with a secret or with
// [Options.PrivateKey].
type ClientCredentials struct{}

func (ClientCredentials) name() string      { return grantCredentials }
func (ClientCredentials) interactive() bool { return false }
func (ClientCredentials) check() error      { return nil }

func (ClientCredentials) obtain(ctx context.Context, f *flow) (*Token, error) {
	if err := f.register(ctx, ""); err != nil {
		return nil, err
	}
	return f.token(ctx, url.Values{"grant_type": {grantCredentials}})
}

// JWTBearer is the grant of a workload that has an identity already, a JWT from its platform (RFC 7523 §2.1, extension
// io.modelcontextprotocol/auth/wif). An authorization server that refuses the assertion is not asked again and not in
// another way.
type JWTBearer struct {
	// Assertion returns the JWT for an audience, the issuer of the authorization server, at the moment it is needed. It
	// may be called from any goroutine and has to end with ctx. An error is temporary unless it says otherwise, see
	// [github.com/mcpotel/mcpotel/mcpclient/transport.Permanent].
	Assertion func(ctx context.Context, audience string) (string, error)
}

func (JWTBearer) name() string      { return grantJWTBearer }
func (JWTBearer) interactive() bool { return false }

func (g JWTBearer) check() error {
	if g.Assertion == nil {
		return errors.New("JWTBearer without Assertion")
	}
	return nil
}

func (g JWTBearer) obtain(ctx context.Context, f *flow) (*Token, error) {
	if err := f.register(ctx, ""); err != nil {
		return nil, err
	}
	assertion, err := g.Assertion(ctx, f.server.Issuer)
	if err != nil {
		return nil, failed(StepToken, err)
	}
	return f.token(ctx, url.Values{"grant_type": {grantJWTBearer}, "assertion": {assertion}})
}

// token asks the authorization server for a token for the MCP server with the scopes of the flow.
func (f *flow) token(ctx context.Context, form url.Values) (*Token, error) {
	form.Set("resource", f.id)
	if len(f.requested) > 0 && form.Get("grant_type") != grantCode {
		form.Set("scope", strings.Join(f.requested, " "))
	}
	return f.redeem(ctx, &tokenRequest{
		step: StepToken, endpoint: f.server.TokenEndpoint, issuer: f.server.Issuer, client: f.client, key: f.proof,
		form: form,
	})
}
