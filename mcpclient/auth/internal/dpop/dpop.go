// Package dpop creates the proofs that bind tokens to a key (RFC 9449). A [Key] signs a new proof for each request,
// with the latest nonce of the server from [Nonces].
package dpop

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// Alg is the algorithm of all keys.
const Alg = string(jose.ES256)

// Key is a private key that leaves the process only through [Key.Marshal]. Its methods may be called from any
// goroutine. A printed Key shows its thumbprint, not the private key.
type Key struct {
	private    *ecdsa.PrivateKey
	signer     jose.Signer
	thumbprint string
}

// NewKey generates a key on P-256.
func NewKey() (*Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return newKey(private)
}

// ParseKey parses the output of [Key.Marshal]. Its errors contain no part of the key.
func ParseKey(pkcs8 []byte) (*Key, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(pkcs8)
	if err != nil {
		return nil, errors.New("DPoP key is not PKCS #8")
	}
	private, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || private.Curve != elliptic.P256() {
		return nil, errors.New("DPoP key is not on P-256")
	}
	return newKey(private)
}

func newKey(private *ecdsa.PrivateKey) (*Key, error) {
	public := jose.JSONWebKey{Key: &private.PublicKey}
	print, err := public.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, err
	}
	options := (&jose.SignerOptions{EmbedJWK: true}).WithType("dpop+jwt")
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: private}, options)
	if err != nil {
		return nil, err
	}
	return &Key{private: private, signer: signer, thumbprint: base64.RawURLEncoding.EncodeToString(print)}, nil
}

// Marshal returns the private key as PKCS #8. Store it as securely as a token.
func (k *Key) Marshal() ([]byte, error) { return x509.MarshalPKCS8PrivateKey(k.private) }

// Thumbprint returns the SHA-256 thumbprint (RFC 7638), the value of dpop_jkt and of the token's cnf.jkt.
func (k *Key) Thumbprint() string { return k.thumbprint }

// Format prints the thumbprint for all verbs.
func (k *Key) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "dpop.Key(%s)", k.thumbprint) }

// proof is the payload of RFC 9449 §4.2.
type proof struct {
	ID          string `json:"jti"`
	Method      string `json:"htm"`
	URL         string `json:"htu"`
	IssuedAt    int64  `json:"iat"`
	AccessToken string `json:"ath,omitempty"`
	Nonce       string `json:"nonce,omitempty"`
}

// Proof returns the header DPoP for one request. Do not use it for another request or a retry. accessToken is empty
// for the token endpoint; nonce is empty if the server has sent none.
func (k *Key) Proof(method string, u *url.URL, accessToken, nonce string, now time.Time) (string, error) {
	p := proof{ID: rand.Text(), Method: method, URL: target(u), IssuedAt: now.Unix(), Nonce: nonce}
	if accessToken != "" {
		hash := sha256.Sum256([]byte(accessToken))
		p.AccessToken = base64.RawURLEncoding.EncodeToString(hash[:])
	}
	payload, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	signed, err := k.signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

// target returns the URL of a request without query and fragment, normalized (RFC 3986 §6.2.2, §6.2.3).
func target(u *url.URL) string {
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	return hostname.Origin(u) + path
}
