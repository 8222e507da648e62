// Package backend is an HTTP client for a backend with the user's telemetry, such as Prometheus or Jaeger.
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

// patience limits the time for a response, including its body.
const patience = 30 * time.Second

// A Client sends requests to one backend. It is safe for concurrent use.
type Client struct {
	base   *url.URL // without user information and trailing slash
	header http.Header
	client http.Client
}

// New returns a client for the backend at a URL, which may have a base path. Each request carries header, and the user
// and password of the URL. Errors do not quote these secrets. The client sends them only to the origin of the URL: it
// follows no redirect to another origin.
func New(base string, header http.Header) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the quoted URL, which may hold a password
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

// String returns the URL of the backend, without user information.
func (c *Client) String() string { return c.base.String() }

// Get requests a path, which begins with a slash, with an optional query. The caller closes the body.
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
	if host := r.Header.Get("Host"); host != "" { // net/http ignores Host in the header
		r.Host = host
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return c.client.Do(r)
}

// maxRedirects bounds the redirects that one request follows.
const maxRedirects = 5

// follow allows a redirect to the same origin. Any other redirect becomes the response.
func (c *Client) follow(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || !hostname.SameOrigin(c.base, next.URL) {
		return http.ErrUseLastResponse
	}
	return nil
}
