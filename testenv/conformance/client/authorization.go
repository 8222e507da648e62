package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

// metadataDocument is where the suite imagines that this client's metadata is.
const metadataDocument = "https://conformance-test.local/client-metadata.json"

// newAuthorizer makes an authorizer that logs to standard error.
func newAuthorizer(o auth.Options) (*auth.Authorizer, error) {
	o.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	return auth.New(o)
}

// byCode is an authorization by a person, as a client that nobody knows yet.
func byCode(details) auth.Options { return auth.Options{Interact: obedient{}} }

func byMetadataDocument(details) auth.Options {
	return auth.Options{Interact: obedient{}, ClientMetadataURL: metadataDocument}
}

func byPreRegistration(d details) auth.Options {
	return auth.Options{Interact: obedient{}, Credentials: credentials(d)}
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

// byEnterprise lets the person's enterprise decide, at whose identity provider the person is signed in.
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

// byWorkload presents what the platform says who this program is.
func byWorkload(d details) auth.Options {
	return auth.Options{
		Grant: auth.JWTBearer{
			Assertion: func(context.Context, string) (string, error) { return d.ValidJWT, nil },
		},
		Credentials: credentials(d),
	}
}

func credentials(d details) *auth.Credentials {
	return &auth.Credentials{Issuer: d.Issuer, ClientID: d.ClientID, ClientSecret: d.ClientSecret}
}

// obedient is a person who agrees to everything, with a browser that shows nothing: it asks for the authorization page and
// takes the redirect that comes back at once.
type obedient struct{}

// RedirectURI is where nobody listens: nothing follows the redirect.
func (obedient) RedirectURI(context.Context) (string, error) { return "http://127.0.0.1/callback", nil }

// Authorize reads the redirect.
func (obedient) Authorize(ctx context.Context, r auth.InteractionRequest) (auth.Redirect, error) {
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

// redirect takes the redirect apart.
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
