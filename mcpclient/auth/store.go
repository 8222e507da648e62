package auth

import (
	"bytes"
	"context"
	"slices"
	"time"
)

// Token is what a token endpoint gave. Printed, logged or encoded as JSON it hides its secrets; [EncodeRecord] does
// not.
type Token struct {
	AccessToken  string
	RefreshToken string    // empty if there is none
	TokenType    string    // as the server wrote it: Bearer, DPoP
	Expiry       time.Time // of the access token; zero if the server did not say
	Scopes       []string  // granted; nil if the server did not say, which means those asked for
	IDToken      string    // empty if there is none
}

// Credentials are what a client is known by at one authorization server: what dynamic registration gave, or what was
// registered beforehand. Printed, logged or encoded as JSON they hide their secrets; [EncodeRecord] does not.
type Credentials struct {
	Issuer          string // of the authorization server that knows this client; no other may see the credentials
	ClientID        string
	ClientSecret    string    // empty for a public client
	SecretExpiry    time.Time // zero if the secret does not expire
	TokenAuthMethod string    // how the client authenticates at the token endpoint, such as client_secret_basic or none
	RedirectURIs    []string  // those registered
}

// Record is what a [TokenStore] keeps under one key. Printed, logged or encoded as JSON it hides its secrets.
type Record struct {
	Credentials     *Credentials // nil if the client is not one that had to be registered
	Token           *Token       // nil if there is none (any more)
	RequestedScopes []string     // all that have been asked for, the set that a later step-up adds to
	DPoPKey         []byte       // the private key the token is bound to, PKCS #8; nil if it is a bearer token
}

// StoreKey says for what a [Record] is of use: one client of one authorization server at one MCP server.
type StoreKey struct {
	// the MCP server's URL, as this client calls it and with its query, no matter which URL the server says is its own
	Resource string
	Issuer   string // of the authorization server, byte for byte
	Client   string // the client id if it was known beforehand, else whatever tells registrations apart
}

// TokenStore keeps what an [Authorizer] has been given, so that a person need not be asked again. Its methods may be
// called from any goroutine, and several processes may share what it keeps. [NewMemoryStore] and [NewFileStore] are
// two; others write what [EncodeRecord] gives, to a place only the user can read.
type TokenStore interface {
	// Load returns the record of key, which the caller may change; nil and no error if there is none.
	Load(ctx context.Context, key StoreKey) (*Record, error)
	// Save replaces the record of key as a whole. The store keeps no reference to r.
	Save(ctx context.Context, key StoreKey, r *Record) error
	// Delete removes the record of key. That there is none is no error.
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
