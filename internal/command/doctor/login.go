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

// errNoLogin ends an authorization where a person would have to log in.
var errNoLogin = errors.New("the doctor does not log in")

// login is the [auth.Interaction] of an examination: it sees how far an authorization gets, which is to the page where
// a person logs in, if the metadata of the server and of its authorization server are in order.
type login struct {
	mu  sync.Mutex
	got *auth.InteractionRequest // guarded by mu; nil if the authorization did not get there
}

// RedirectURI returns one that leads to no place.
func (l *login) RedirectURI(context.Context) (string, error) {
	return "http://127.0.0.1:1/callback", nil
}

// Authorize notes what a person would be asked for, and goes no further.
func (l *login) Authorize(_ context.Context, r auth.InteractionRequest) (auth.Redirect, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.got = &r
	return auth.Redirect{}, errNoLogin
}

// request returns what a person would be asked for, nil if the authorization does not get there. l may be nil.
func (l *login) request() *auth.InteractionRequest {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.got
}

// prepareURL puts witnesses below the transport: an HTTP client and, unless the caller authorizes, an authorizer that
// looks for the metadata.
func (e *examination) prepareURL(ctx context.Context, t *transport.HTTP) (transport.Transport, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, errors.New("the URL is not valid") // err quotes what may be a password
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
		// a client id of no meaning keeps the flow from registering one
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

// ownIssuer reports whether an authorization server is the MCP server itself, as it is taken for where it publishes no
// metadata.
func ownIssuer(server *url.URL, issuer string) bool {
	u, err := url.Parse(issuer)
	return err == nil && hostname.SameOrigin(server, u)
}
