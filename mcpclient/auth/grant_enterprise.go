package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/metadata"
)

// EnterpriseManaged is the grant of a person who is signed in at the enterprise's identity provider, which decides what
// MCP servers the client may use: the ID token is exchanged there for an identity assertion (ID-JAG, RFC 8693), and
// that at the MCP server's authorization server for a token (RFC 7523). The client of the second part is that of
// [Options.Credentials]. (extension io.modelcontextprotocol/enterprise-managed-authorization)
type EnterpriseManaged struct {
	// Issuer is the identity provider. It has to be set unless TokenEndpoint is, and is what that is discovered from.
	Issuer string

	// TokenEndpoint is the identity provider's, empty if it is to be discovered.
	TokenEndpoint string

	// Client is what this client is registered as at the identity provider, where it has to have a ClientID.
	// TokenAuthMethod empty means client_secret_basic with a secret, if the metadata do not say otherwise, and none
	// without.
	Client *Credentials

	// IDToken returns the person's ID token at the moment it is needed. It may be called from any goroutine and has to end
	// with ctx. An error is temporary unless it says otherwise, see
	// [github.com/mcpotel/mcpotel/mcpclient/transport.Permanent].
	IDToken func(ctx context.Context) (string, error)
}

// LogValue shows the settings without secrets.
func (g EnterpriseManaged) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("issuer", g.Issuer), slog.String("token_endpoint", g.TokenEndpoint)}
	if g.Client != nil {
		attrs = append(attrs, slog.Attr{Key: "client", Value: g.Client.LogValue()})
	}
	return slog.GroupValue(attrs...)
}

// Format prints, whatever the verb, what LogValue shows.
func (g EnterpriseManaged) Format(f fmt.State, _ rune) { show(f, "EnterpriseManaged", g.LogValue()) }

// MarshalJSON encodes what LogValue shows.
func (g EnterpriseManaged) MarshalJSON() ([]byte, error) { return showJSON(g.LogValue()) }

func (EnterpriseManaged) name() string      { return grantJWTBearer }
func (EnterpriseManaged) interactive() bool { return false }

func (g EnterpriseManaged) check() error {
	switch {
	case g.IDToken == nil:
		return errors.New("EnterpriseManaged without IDToken")
	case g.Client == nil || g.Client.ClientID == "":
		return errors.New("EnterpriseManaged without the identity provider's ClientID")
	case g.Issuer == "" && g.TokenEndpoint == "":
		return errors.New("EnterpriseManaged without Issuer and TokenEndpoint")
	}
	return nil
}

const (
	tokenTypeIDToken   = "urn:ietf:params:oauth:token-type:id_token"
	tokenTypeAssertion = "urn:ietf:params:oauth:token-type:id-jag"
)

func (g EnterpriseManaged) obtain(ctx context.Context, f *flow) (*Token, error) {
	if err := f.register(ctx, ""); err != nil {
		return nil, err
	}
	assertion, err := g.assertion(ctx, f)
	if err != nil {
		return nil, err
	}
	return f.token(ctx, url.Values{"grant_type": {grantJWTBearer}, "assertion": {assertion}})
}

// assertion has the identity provider vouch for the person at the MCP server's authorization server.
func (g EnterpriseManaged) assertion(ctx context.Context, f *flow) (string, error) {
	r, err := g.exchange(ctx, f)
	if err != nil {
		return "", err
	}
	ctx, end := instrument.StartAuthStep(ctx, string(StepToken))
	raw, err := f.send(ctx, r)
	if err == nil && raw.Extra("issued_token_type") != tokenTypeAssertion {
		err = refuse(StepToken, "identity provider did not issue an identity assertion")
	}
	end(err)
	if err != nil {
		return "", err
	}
	return raw.AccessToken, nil
}

func (g EnterpriseManaged) discover(ctx context.Context, f *flow) (*metadata.Server, error) {
	if g.TokenEndpoint != "" {
		return &metadata.Server{Issuer: g.Issuer, TokenEndpoint: g.TokenEndpoint}, nil
	}
	ctx, end := instrument.StartAuthStep(ctx, string(StepDiscoverServer))
	s, err := f.a.trusted.Server(ctx, g.Issuer)
	if err != nil {
		err = failed(StepDiscoverServer, err)
	}
	end(err)
	return s, err
}

// exchange makes the request for the assertion. The identity provider is the user's choice, not the MCP server's.
func (g EnterpriseManaged) exchange(ctx context.Context, f *flow) (*tokenRequest, error) {
	provider, err := g.discover(ctx, f)
	if err != nil {
		return nil, err
	}
	client, err := newClient(g.Client, nil, provider)
	if err != nil {
		return nil, refuse(StepToken, "identity provider: %w", err)
	}
	idToken, err := g.IDToken(ctx)
	if err != nil {
		return nil, failed(StepToken, err)
	}
	form := url.Values{
		"grant_type": {grantExchange}, "requested_token_type": {tokenTypeAssertion}, "audience": {f.server.Issuer},
		"resource": {f.id}, "subject_token": {idToken}, "subject_token_type": {tokenTypeIDToken},
	}
	if len(f.requested) > 0 {
		form.Set("scope", strings.Join(f.requested, " "))
	}
	return &tokenRequest{step: StepToken, endpoint: provider.TokenEndpoint, issuer: g.Issuer, client: client, form: form,
		trusted: true}, nil
}
