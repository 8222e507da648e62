package doctor

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/mcpclient/auth"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// errNoLogin is the error of an authorization that would need a login.
var errNoLogin = errors.New("the doctor does not log in")

// login is the [auth.Interaction] of an examination. It records the login page that a person would get. The
// authorization calls it only if the metadata of the server and of its authorization server is valid.
type login struct {
	mu  sync.Mutex
	got *auth.InteractionRequest // guarded by mu; nil if the authorization did not reach the login
}

// RedirectURI returns a URI without a listener.
func (l *login) RedirectURI(context.Context) (string, error) {
	return "http://127.0.0.1:1/callback", nil
}

// Authorize records the request and fails with errNoLogin.
func (l *login) Authorize(_ context.Context, r auth.InteractionRequest) (auth.Redirect, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.got = &r
	return auth.Redirect{}, errNoLogin
}

// request returns the recorded request, or nil. l may be nil.
func (l *login) request() *auth.InteractionRequest {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.got
}

// prepareURL adds recorders below the transport: an HTTP client and, unless the caller has an authorizer, an
// authorizer that reads the metadata.
func (e *examination) prepareURL(ctx context.Context, t *transport.HTTP) (transport.Transport, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, errors.New("the URL is not valid") // err quotes the URL, which may have a password
	}
	f := &urlFacts{url: u, web: newWeb()}
	e.facts.url = f
	e.facts.limits.forURL()
	e.stop = append(e.stop, f.web.close)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, nil)
	if err == nil {
		f.proxy = f.web.proxied(req)
	}
	authorizer := t.Authorizer
	if authorizer == nil {
		f.login = &login{}
		// a fixed client id prevents the registration of a client
		own, err := auth.New(&auth.Options{
			Interact: f.login, Credentials: &auth.Credentials{ClientID: "mcpotel-doctor", TokenAuthMethod: "none"},
		})
		if err != nil {
			return nil, err
		}
		e.stop = append(e.stop, func() { own.Close() })
		authorizer = own
	}
	return &transport.HTTP{
		URL: t.URL, Header: t.Header, Mode: t.Mode, MaxInFlight: t.MaxInFlight, NoListening: t.NoListening,
		Client: &http.Client{Transport: f.web}, Authorizer: authorizer,
	}, nil
}

// ownIssuer reports whether the MCP server itself is the authorization server. A client assumes this if the server
// publishes no metadata.
func ownIssuer(server *url.URL, issuer string) bool {
	u, err := url.Parse(issuer)
	return err == nil && hostname.SameOrigin(server, u)
}
