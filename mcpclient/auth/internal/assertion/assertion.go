// Package assertion creates the JWTs with which a client authenticates by its private key (RFC 7523 §2.2,
// private_key_jwt). [PrivateKey] returns a [Signer], which signs a new JWT for each request.
package assertion

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Type is the client_assertion_type of the assertions.
const Type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// lifetime is the lifetime of an assertion. It allows the clocks to differ by five minutes.
const lifetime = 5 * time.Minute

// Signer holds a private key. Its methods may be called from any goroutine. A printed Signer shows its algorithm, not
// the key.
type Signer struct {
	signer jose.Signer
	alg    jose.SignatureAlgorithm
}

// PrivateKey returns the signer for an unencrypted private key in PEM: PKCS #8, PKCS #1 or SEC 1. alg is RS256,
// RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512 or EdDSA, and must fit the key; empty means the default for
// the key, RS256 for RSA. keyID is the header kid, which is omitted if keyID is empty. Errors contain no part of the
// key.
func PrivateKey(pem []byte, alg, keyID string) (*Signer, error) {
	key, err := parse(pem)
	if err != nil {
		return nil, err
	}
	chosen, err := choose(key, alg)
	if err != nil {
		return nil, err
	}
	options := (&jose.SignerOptions{}).WithType("JWT")
	if keyID != "" {
		options.WithHeader("kid", keyID)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: chosen, Key: key}, options)
	if err != nil {
		return nil, err
	}
	return &Signer{signer: signer, alg: chosen}, nil
}

// Alg returns the algorithm, for comparison with token_endpoint_auth_signing_alg_values_supported.
func (s *Signer) Alg() string { return string(s.alg) }

// Format prints the algorithm for all verbs.
func (s *Signer) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "assertion.Signer(%s)", s.alg) }

// claims is the payload of RFC 7523 §3.
type claims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"`
	ID       string `json:"jti"`
	IssuedAt int64  `json:"iat"`
	Expiry   int64  `json:"exp"`
}

// Assertion returns the client_assertion for one request. audience is the issuer of the authorization server.
func (s *Signer) Assertion(clientID, audience string, now time.Time) (string, error) {
	payload, err := json.Marshal(claims{
		Issuer:   clientID,
		Subject:  clientID,
		Audience: audience,
		ID:       rand.Text(),
		IssuedAt: now.Unix(),
		Expiry:   now.Add(lifetime).Unix(),
	})
	if err != nil {
		return "", err
	}
	signed, err := s.signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}
