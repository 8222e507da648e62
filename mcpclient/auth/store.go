package auth

import (
	"bytes"
	"context"
	"slices"
	"time"
)

// Token is the response of a token endpoint. Printed, logged or encoded as JSON, it hides its secrets; [EncodeRecord]
// includes them.
type Token struct {
	AccessToken  string
	RefreshToken string    // empty if there is no refresh token
	TokenType    string    // as in the response: Bearer, DPoP
	Expiry       time.Time // expiry of the access token; zero if unknown
	Scopes       []string  // granted scopes; nil if unknown, which means the requested scopes
	IDToken      string    // empty if there is no ID token
}

// Credentials identify a client at one authorization server, after dynamic registration or registration beforehand.
// Printed, logged or encoded as JSON, they hide their secrets; [EncodeRecord] includes them.
type Credentials struct {
	// Issuer is the authorization server at which the client is registered. No other server may receive the
	// credentials.
	Issuer       string
	ClientID     string
	ClientSecret string    // empty for a public client
	SecretExpiry time.Time // zero if the secret does not expire
	// TokenAuthMethod is the client's authentication method for the token endpoint, such as client_secret_basic or
	// none.
	TokenAuthMethod string
	RedirectURIs    []string // registered redirect URIs
}

// Record is the value of one key in a [TokenStore]. Printed, logged or encoded as JSON, it hides its secrets.
type Record struct {
	Credentials     *Credentials // nil if the client was not registered dynamically
	Token           *Token       // nil if there is no usable token
	RequestedScopes []string     // all scopes requested so far; a later step-up adds to them
	DPoPKey         []byte       // private key of the token, PKCS #8; nil for a bearer token
}

// StoreKey identifies a [Record]: one client of one authorization server at one MCP server.
type StoreKey struct {
	// Resource is the MCP server's URL as this client uses it, including its query. It does not depend on the
	// server's metadata.
	Resource string
	Issuer   string // issuer of the authorization server, byte for byte
	Client   string // client id if it was registered beforehand, else a name that distinguishes registrations
}

// TokenStore stores the tokens and registrations of an [Authorizer], so that the Authorizer need not prompt a person
// again. The methods may be called from any goroutine, and several processes may share the stored data.
// [NewMemoryStore] and [NewFileStore] return stores. Other stores write the output of [EncodeRecord] to a place that
// only the user can read.
type TokenStore interface {
	// Load returns the record of key, which the caller may change. It returns nil and no error if there is no record.
	Load(ctx context.Context, key StoreKey) (*Record, error)
	// Save replaces the whole record of key. The store keeps no reference to r.
	Save(ctx context.Context, key StoreKey, r *Record) error
	// Delete removes the record of key. It returns no error if there is no record.
	Delete(ctx context.Context, key StoreKey) error
}

func (r *Record) clone() *Record {
	if r == nil {
		return nil
	}
	c := &Record{RequestedScopes: slices.Clone(r.RequestedScopes), DPoPKey: bytes.Clone(r.DPoPKey)}
	if r.Credentials != nil {
		c.Credentials = new(*r.Credentials)
		c.Credentials.RedirectURIs = slices.Clone(r.Credentials.RedirectURIs)
	}
	if r.Token != nil {
		c.Token = new(*r.Token)
		c.Token.Scopes = slices.Clone(r.Token.Scopes)
	}
	return c
}
