package auth

import (
	"context"
	"errors"
	"net/url"
	"strings"
)

// Grant is a way to get a token: [AuthorizationCode], [ClientCredentials], [EnterpriseManaged] or [JWTBearer].
type Grant interface {
	name() string      // grant type for the registration
	interactive() bool // whether the grant needs a person
	check() error      // error for invalid fields
	obtain(context.Context, *flow) (*Token, error)
}

const (
	grantCode        = "authorization_code"
	grantCredentials = "client_credentials"
	grantJWTBearer   = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	grantExchange    = "urn:ietf:params:oauth:grant-type:token-exchange"
)

// ClientCredentials is the grant for a program that acts on its own behalf (RFC 6749 §4.4, extension
// io.modelcontextprotocol/oauth-client-credentials). The client is [Options.Credentials], with a secret or with
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

// JWTBearer is the grant for a workload with an identity, a JWT from its platform (RFC 7523 §2.1, extension
// io.modelcontextprotocol/auth/wif). If the authorization server refuses the assertion, there is no retry and no
// fallback.
type JWTBearer struct {
	// Assertion returns the JWT for an audience, which is the issuer of the authorization server. It is called for
	// each token, from any goroutine, and must return when ctx ends. Its errors are temporary unless they are marked
	// permanent, see [github.com/mcpotel/mcpotel/mcpclient/transport.Permanent].
	Assertion func(ctx context.Context, audience string) (string, error)
}

func (JWTBearer) name() string      { return grantJWTBearer }
func (JWTBearer) interactive() bool { return false }

func (g JWTBearer) check() error {
	if g.Assertion == nil {
		return errors.New("JWTBearer.Assertion is not set")
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

// token requests a token for the MCP server with the scopes of the flow.
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
