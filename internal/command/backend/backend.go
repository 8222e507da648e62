// Package backend asks a service that keeps the user's telemetry, a Prometheus or a Jaeger, over HTTP.
package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// patience is how long an answer may take, with its body.
const patience = 30 * time.Second

// A Client asks one service. It may be used from any goroutine.
type Client struct {
	base   *url.URL // without a user, and without a slash at its end
	header http.Header
	client http.Client
}

// New returns a client for the service at a URL, with its base path if it has one. Each request carries the header, and
// the user and password of the URL. No error quotes them, and no other origin gets them: a redirect to one is not
// followed.
func New(base string, header http.Header) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without what it quotes
		}
		return nil, fmt.Errorf("not the URL of an HTTP service: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is not the URL of an HTTP service", u.Redacted())
	}
	c := &Client{base: u, header: header.Clone()}
	if u.User != nil {
		password, _ := u.User.Password()
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(u.User.Username(), password)
		if c.header == nil {
			c.header = http.Header{}
		}
		c.header["Authorization"] = r.Header["Authorization"]
		u.User = nil
	}
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
	c.client = http.Client{Timeout: patience, CheckRedirect: c.follow}
	return c, nil
}

// String is the URL of the service, without a user.
func (c *Client) String() string { return c.base.String() }

// Get asks for a path, which begins with a slash, with a query unless that is empty. The caller closes the body.
func (c *Client) Get(ctx context.Context, path string, query url.Values) (*http.Response, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.do(ctx, http.MethodGet, path, nil)
}

// Post sends a form to a path, which begins with a slash. The caller closes the body.
func (c *Client) Post(ctx context.Context, path string, form url.Values) (*http.Response, error) {
	return c.do(ctx, http.MethodPost, path, strings.NewReader(form.Encode()))
}

func (c *Client) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.String()+path, body)
	if err != nil {
		return nil, err
	}
	if c.header != nil {
		r.Header = c.header.Clone()
	}
	if host := r.Header.Get("Host"); host != "" { // net/http takes it from nowhere else
		r.Host = host
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return c.client.Do(r)
}

// maxRedirects is how many redirects are followed, one after the other.
const maxRedirects = 5

// follow reports whether a redirect is followed. One that is not is the answer.
func (c *Client) follow(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || !hostname.SameOrigin(c.base, next.URL) {
		return http.ErrUseLastResponse
	}
	return nil
}
