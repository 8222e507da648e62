package auth

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/assertion"
	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/metadata"
)

// Token endpoint authentication methods (RFC 7591 §2, OpenID Connect Core §9).
const (
	methodNone          = "none"
	methodBasic         = "client_secret_basic"
	methodPost          = "client_secret_post"
	methodPrivateKeyJWT = "private_key_jwt"
)

// client is what this client is at one authorization server. It never changes.
type client struct {
	id         string
	secret     secret
	method     string            // how it authenticates at the token endpoint
	signer     *assertion.Signer // for private_key_jwt
	registered *Credentials      // what dynamic registration gave; nil if it was not that
}

// newClient settles how a client with these credentials authenticates at the token endpoint of a server.
func newClient(c *Credentials, signer *assertion.Signer, s *metadata.Server) (*client, error) {
	method, err := chooseMethod(c.TokenAuthMethod, s.TokenAuthMethods, c.ClientSecret != "", signer != nil)
	if err != nil {
		return nil, err
	}
	if algs := s.TokenAuthSigningAlgs; method == methodPrivateKeyJWT && algs != nil &&
		!slices.Contains(algs, signer.Alg()) {
		return nil, fmt.Errorf("client signs with %s, the token endpoint wants %s", signer.Alg(),
			quoteShort(strings.Join(algs, ", ")))
	}
	return &client{id: c.ClientID, secret: newSecret(c.ClientSecret), method: method, signer: signer}, nil
}

// chooseMethod returns the declared method, or else the first of those the client has what it takes for that the server
// supports. A server that does not say supports client_secret_basic (RFC 8414 §2), and the others are taken on trust.
func chooseMethod(declared string, supported []string, hasSecret, hasKey bool) (string, error) {
	able := []string{}
	if hasKey {
		able = append(able, methodPrivateKeyJWT)
	}
	if hasSecret {
		able = append(able, methodBasic, methodPost)
	}
	able = append(able, methodNone)
	if declared != "" {
		if !slices.Contains(able, declared) {
			return "", fmt.Errorf("client has not what token endpoint authentication %s takes", quoteShort(declared))
		}
		return declared, nil
	}
	if supported == nil {
		return able[0], nil
	}
	for _, m := range able {
		if slices.Contains(supported, m) {
			return m, nil
		}
	}
	return "", fmt.Errorf("client can authenticate with %s, the token endpoint wants %s", strings.Join(able, ", "),
		quoteShort(strings.Join(supported, ", ")))
}

// secrets returns what of c must not be repeated, in the forms in which it goes over the wire.
func (c *client) secrets() []string {
	s := c.secret.reveal()
	if s == "" {
		return nil
	}
	escaped := url.QueryEscape(s)
	basic := base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(c.id) + ":" + escaped))
	return []string{s, escaped, basic}
}

func quoteShort(s string) string { return fmt.Sprintf("%.200q", s) }
