package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

// metadataDocument is the fictitious URL of this client's metadata in the suite.
const metadataDocument = "https://conformance-test.local/client-metadata.json"

// newAuthorizer returns an authorizer that logs to standard error.
func newAuthorizer(o auth.Options) (*auth.Authorizer, error) {
	o.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	return auth.New(&o)
}

// byCode is authorization by a person, for a client that is not registered yet.
func byCode(details) auth.Options { return auth.Options{Interact: consenting{}} }

// byCodeForAll is like byCode, for a server whose metadata, at the root of its origin, names the whole origin as the
// resource.
func byCodeForAll(d details) auth.Options {
	origin, _, _ := strings.Cut(strings.TrimPrefix(d.URL, "http://"), "/")
	return auth.Options{Interact: consenting{}, Resource: "http://" + origin}
}

func byMetadataDocument(details) auth.Options {
	return auth.Options{Interact: consenting{}, ClientMetadataURL: metadataDocument}
}

func byPreRegistration(d details) auth.Options {
	return auth.Options{Interact: consenting{}, Credentials: credentials(d)}
}

func bySecret(d details) auth.Options {
	return auth.Options{Grant: auth.ClientCredentials{}, Credentials: credentials(d)}
}

func byKey(d details) auth.Options {
	return auth.Options{
		Grant:       auth.ClientCredentials{},
		Credentials: credentials(d),
		PrivateKey:  &auth.PrivateKey{PEM: []byte(d.PrivateKeyPEM), Algorithm: d.SigningAlgorithm},
	}
}

// byEnterprise is authorization by an enterprise, with the identity provider where the person has signed in.
func byEnterprise(d details) auth.Options {
	return auth.Options{
		Grant: auth.EnterpriseManaged{
			Issuer:        d.IDPIssuer,
			TokenEndpoint: d.IDPTokenEndpoint,
			Client:        &auth.Credentials{ClientID: d.IDPClientID},
			IDToken:       func(context.Context) (string, error) { return d.IDPIDToken, nil },
		},
		Credentials: credentials(d),
	}
}

// byWorkload authenticates with the platform's assertion of this program's identity.
func byWorkload(d details) auth.Options {
	return auth.Options{
		Grant: auth.JWTBearer{
			Assertion: func(context.Context, string) (string, error) { return d.ValidJWT, nil },
		},
		Credentials: credentials(d),
	}
}

// credentials returns the credentials of the scenario. A secret is for one authorization server, which the person who
// registers the client knows. If the scenario does not name that server, credentials uses the first authorization
// server in the metadata that the MCP server has now.
func credentials(d details) *auth.Credentials {
	c := &auth.Credentials{Issuer: d.Issuer, ClientID: d.ClientID, ClientSecret: d.ClientSecret}
	if c.ClientSecret != "" && c.Issuer == "" {
		c.Issuer = namedIssuer(d.URL)
	}
	return c
}

// namedIssuer returns the first authorization server in the metadata of an MCP server, empty without one.
func namedIssuer(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	resp, err := http.Get(u.Scheme + "://" + u.Host + "/.well-known/oauth-protected-resource" + u.Path)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	var metadata struct {
		AuthorizationServers []string `json:"authorization_servers"`
	}
	if json.NewDecoder(resp.Body).Decode(&metadata) != nil || len(metadata.AuthorizationServers) == 0 {
		return ""
	}
	return metadata.AuthorizationServers[0]
}

// consenting is a person who agrees to everything, with a headless browser: it requests the authorization page and
// reads the redirect that comes back immediately.
type consenting struct{}

// RedirectURI returns a URL without a server, because nothing follows the redirect.
func (consenting) RedirectURI(context.Context) (string, error) {
	return "http://127.0.0.1/callback", nil
}

// Authorize requests the authorization page and reads the redirect.
func (consenting) Authorize(ctx context.Context, r auth.InteractionRequest) (auth.Redirect, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
	if err != nil {
		return auth.Redirect{}, err
	}
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.Do(req)
	if err != nil {
		return auth.Redirect{}, err
	}
	defer resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		return auth.Redirect{}, fmt.Errorf("authorization page: %s: %w", resp.Status, err)
	}
	return redirect(back, r.RedirectURI)
}

// redirect parses the redirect.
func redirect(back *url.URL, want string) (auth.Redirect, error) {
	q := back.Query()
	bare := *back
	bare.RawQuery = ""
	if bare.String() != want {
		return auth.Redirect{}, errors.New("the authorization server redirects to " + bare.String() + ", want " + want)
	}
	return auth.Redirect{
		Code:             q.Get("code"),
		State:            q.Get("state"),
		Issuer:           q.Get("iss"),
		HasIssuer:        q.Has("iss"),
		Error:            q.Get("error"),
		ErrorDescription: q.Get("error_description"),
	}, nil
}
