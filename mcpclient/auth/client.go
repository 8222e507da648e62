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

// client is the identity of this client at one authorization server. It is immutable.
type client struct {
	id         string
	secret     secret
	method     string            // authentication method for the token endpoint
	signer     *assertion.Signer // signs assertions for private_key_jwt; nil without a key
	registered *Credentials      // result of dynamic registration; nil if the client was not registered dynamically
}

// newClient returns a client and chooses its authentication method for the token endpoint of server s.
func newClient(c *Credentials, signer *assertion.Signer, s *metadata.Server) (*client, error) {
	method, err := chooseMethod(c.TokenAuthMethod, s.TokenAuthMethods, c.ClientSecret != "", signer != nil)
	if err != nil {
		return nil, err
	}
	if algs := s.TokenAuthSigningAlgs; method == methodPrivateKeyJWT && algs != nil &&
		!slices.Contains(algs, signer.Alg()) {
		return nil, fmt.Errorf("client signs with %s, but the token endpoint supports only %s", signer.Alg(),
			quoteShort(strings.Join(algs, ", ")))
	}
	return &client{id: c.ClientID, secret: newSecret(c.ClientSecret), method: method, signer: signer}, nil
}

// chooseMethod returns the declared method, or else the first method that the server supports and for which the client
// has the credentials. A server without a list supports client_secret_basic (RFC 8414 §2); the other methods are
// assumed to work too.
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
			return "", fmt.Errorf("client lacks the credentials for the authentication method %s", quoteShort(declared))
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
	return "", fmt.Errorf("client can authenticate with %s, the token endpoint only with %s", strings.Join(able, ", "),
		quoteShort(strings.Join(supported, ", ")))
}

// secrets returns the client secret in all forms in which a request contains it.
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
