package bearer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxToken limits the size of a JWT, in bytes.
const maxToken = 16 << 10

// JWT configures a verifier of JWT access tokens (RFC 9068). A token needs the claims iss, aud and exp, one of the
// claims sub, client_id and azp, and a signature by a key of the issuer. Set either Keys or KeysURL.
type JWT struct {
	// Issuer must equal the claim iss, byte for byte. Required.
	Issuer string

	// Keys is a JSON Web Key Set with the public keys of the issuer.
	Keys []byte

	// KeysURL is the URL of the key set, which is the jwks_uri in the issuer's metadata: https, or http on loopback. The
	// verifier fetches the set for the first token, when the set is an hour old, and when a token names an unknown key,
	// but at most twice a minute. A fetched set is valid for a day. While the verifier fetches a new set, tokens with
	// known keys do not wait.
	KeysURL string

	// Client fetches KeysURL. Nil means a client with a timeout of 10 s that refuses redirects from https to http. Your
	// own client must decide which redirects to follow.
	Client *http.Client

	// Algorithms are the accepted signature algorithms. Empty means EdDSA and all asymmetric algorithms with SHA-2. The
	// verifier never accepts symmetric algorithms and "none".
	Algorithms []string
}

// algorithms are all valid values of JWT.Algorithms.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// NewJWT returns a verifier for j. It does no I/O.
func NewJWT(j JWT) (Verifier, error) {
	if j.Issuer == "" {
		return nil, errors.New("bearer: JWT without Issuer")
	}
	v := &jwtVerifier{issuer: j.Issuer}
	var err error
	if v.algorithms, err = choose(j.Algorithms); err != nil {
		return nil, fmt.Errorf("bearer: JWT: %w", err)
	}
	if v.keys, err = newKeySource(j); err != nil {
		return nil, fmt.Errorf("bearer: JWT: %w", err)
	}
	return v, nil
}

func choose(names []string) ([]jose.SignatureAlgorithm, error) {
	if len(names) == 0 {
		return algorithms, nil
	}
	var chosen []jose.SignatureAlgorithm
	for _, name := range names {
		alg := jose.SignatureAlgorithm(name)
		if !slices.Contains(algorithms, alg) {
			return nil, fmt.Errorf("algorithm %q, want some of %v", name, algorithms)
		}
		chosen = append(chosen, alg)
	}
	return chosen, nil
}

type jwtVerifier struct {
	issuer     string
	algorithms []jose.SignatureAlgorithm
	keys       keySource
}

func (v *jwtVerifier) Verify(ctx context.Context, token string, _ *http.Request) (*Principal, error) {
	if len(token) > maxToken {
		return nil, fmt.Errorf("%w: %d bytes are over the limit of %d", ErrInvalidToken, len(token), maxToken)
	}
	signed, err := jose.ParseSignedCompact(token, v.algorithms)
	if err != nil {
		return nil, fmt.Errorf("%w: it is not a JWT signed with one of %v", ErrInvalidToken, v.algorithms)
	}
	header := signed.Signatures[0].Protected
	if err := checkType(header); err != nil {
		return nil, err
	}
	keys, err := v.keys.find(ctx, header.KeyID, header.Algorithm)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if payload, err := signed.Verify(key); err == nil {
			return v.principal(payload)
		}
	}
	return nil, fmt.Errorf("%w: its signature matches no key of the issuer", ErrInvalidToken)
}

// checkType rejects JWTs with another purpose (RFC 8725 §3.11).
func checkType(h jose.Header) error {
	typ, ok := h.ExtraHeaders[jose.HeaderType]
	if !ok {
		return nil
	}
	name, _ := typ.(string)
	switch strings.TrimPrefix(strings.ToLower(name), "application/") {
	case "jwt", "at+jwt":
		return nil
	}
	return fmt.Errorf("%w: its type is %.50q, want at+jwt or JWT", ErrInvalidToken, name)
}

// claims are the claims that the verifier reads. Claim names are case-sensitive, and a token must not repeat a name.
type claims struct {
	Issuer    string         `json:"iss"`
	Subject   string         `json:"sub"`
	Audience  oneOrMany      `json:"aud"`
	ClientID  string         `json:"client_id"`
	Party     string         `json:"azp"`
	Scope     words          `json:"scope"`
	Scopes    words          `json:"scp"`
	Expiry    *float64       `json:"exp"`
	NotBefore float64        `json:"nbf"`
	Bound     jsontext.Value `json:"cnf"`
}

func (v *jwtVerifier) principal(payload []byte) (*Principal, error) {
	var c claims
	var all map[string]any
	if err := errors.Join(json.Unmarshal(payload, &c), json.Unmarshal(payload, &all)); err != nil {
		return nil, fmt.Errorf("%w: a claim is of the wrong type", ErrInvalidToken)
	}
	switch {
	case c.Issuer != v.issuer:
		return nil, fmt.Errorf("%w: it is from another issuer", ErrInvalidToken)
	case c.Expiry == nil:
		return nil, fmt.Errorf("%w: it has no exp", ErrInvalidToken)
	case len(c.Bound) > 0:
		return nil, fmt.Errorf("%w: it is bound to a key, so it is not a bearer token", ErrInvalidToken)
	}
	p := &Principal{
		Subject:  c.Subject,
		ClientID: c.ClientID,
		Issuer:   c.Issuer,
		Audience: c.Audience,
		Scopes:   append(c.Scope, c.Scopes...),
		Expiry:   date(*c.Expiry),
		Claims:   all,
	}
	if p.ClientID == "" {
		p.ClientID = c.Party
	}
	if c.NotBefore != 0 {
		p.NotBefore = date(c.NotBefore)
	}
	return p, nil
}

// date converts a NumericDate (RFC 7519 §2). It converts a value outside the range of dates to the nearest valid date,
// so that the token has expired or never expires.
func date(seconds float64) time.Time {
	const end = 1 << 40
	return time.Unix(int64(max(-end, min(end, seconds))), 0)
}
