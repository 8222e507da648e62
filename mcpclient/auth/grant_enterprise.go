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

// EnterpriseManaged is the grant for a person who is signed in at the enterprise's identity provider. That provider
// decides which MCP servers the client may use. The identity provider exchanges the ID token for an identity assertion
// (ID-JAG, RFC 8693); the MCP server's authorization server exchanges the assertion for a token (RFC 7523), for the
// client in [Options.Credentials]. (extension io.modelcontextprotocol/enterprise-managed-authorization)
type EnterpriseManaged struct {
	// Issuer is the issuer of the identity provider, from which its token endpoint is discovered. It is required
	// unless TokenEndpoint is set.
	Issuer string

	// TokenEndpoint is the token endpoint of the identity provider. Empty means to discover it.
	TokenEndpoint string

	// Client holds the credentials of this client at the identity provider. ClientID is required. If TokenAuthMethod
	// is empty, the method is client_secret_basic with a secret, unless the metadata exclude it, and none without a
	// secret.
	Client *Credentials

	// IDToken returns the person's ID token. It is called for each token, from any goroutine, and must return when
	// ctx ends. Its errors are temporary unless they are marked permanent, see
	// [github.com/mcpotel/mcpotel/mcpclient/transport.Permanent].
	IDToken func(ctx context.Context) (string, error)
}

// LogValue returns the settings without secrets.
func (g EnterpriseManaged) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("issuer", g.Issuer), slog.String("token_endpoint", g.TokenEndpoint)}
	if g.Client != nil {
		attrs = append(attrs, slog.Attr{Key: "client", Value: g.Client.LogValue()})
	}
	return slog.GroupValue(attrs...)
}

// Format prints LogValue for all verbs.
func (g EnterpriseManaged) Format(f fmt.State, _ rune) { show(f, "EnterpriseManaged", g.LogValue()) }

// MarshalJSON encodes LogValue.
func (g EnterpriseManaged) MarshalJSON() ([]byte, error) { return marshalLogValue(g.LogValue()) }

func (EnterpriseManaged) name() string      { return grantJWTBearer }
func (EnterpriseManaged) interactive() bool { return false }

func (g EnterpriseManaged) check() error {
	switch {
	case g.IDToken == nil:
		return errors.New("EnterpriseManaged.IDToken is not set")
	case g.Client == nil || g.Client.ClientID == "":
		return errors.New("EnterpriseManaged.Client.ClientID is not set: name this client at the identity provider")
	case g.Issuer == "" && g.TokenEndpoint == "":
		return errors.New("EnterpriseManaged has neither Issuer nor TokenEndpoint")
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

// assertion gets an identity assertion for the MCP server's authorization server from the identity provider.
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

// exchange returns the request for the assertion. The user chose the identity provider, so it may be on a private
// address.
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
