package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/mcpclient/auth"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// remote holds the flags for a server at a URL.
type remote struct {
	url             string
	headers         headers
	auth, noBrowser bool
	resource        string
	stored          bool // --auth uses only stored tokens, and does not ask a person

	header http.Header
}

func (r *remote) flags(f *pflag.FlagSet) {
	f.StringVar(&r.url, "url", "", "connect to the server at this `URL`")
	r.headers.flags(f, "header", "")
	f.Func("url-env", "connect to the server at the URL in this environment `VARIABLE`", func(s string) error {
		var err error
		r.url, err = variable(s)
		return err
	})
	f.BoolVar(&r.auth, "auth", false,
		"if the server requires it, authorize in the browser; tokens are stored in the user's configuration directory")
	f.BoolVar(&r.noBrowser, "no-browser", false, "with --auth: print the URL of the page instead of opening it")
	f.StringVar(&r.resource, "auth-resource", "",
		"with --auth: accept that the server belongs to the parent resource at this `URL`, and send the server tokens for "+
			"the whole resource")
}

// variable returns the value of an environment variable.
func variable(name string) (string, error) {
	value, set := os.LookupEnv(name)
	if !set {
		return "", errors.New("the environment variable is not set")
	}
	return value, nil
}

// check parses the headers and rejects invalid combinations of flags.
func (r *remote) check(configured bool) error {
	switch {
	case r.url == "" && len(r.headers.given) > 0:
		return misuse("--header needs --url")
	case r.url == "" && !configured && r.auth:
		return misuse("--auth needs --url or --config")
	case !r.auth && r.noBrowser:
		return misuse("--no-browser needs --auth")
	case !r.auth && r.resource != "":
		return misuse("--auth-resource needs --auth")
	case r.resource != "" && !strings.HasPrefix(r.resource, "https://") && !strings.HasPrefix(r.resource, "http://"):
		return misuse("--auth-resource: want a URL that begins with https:// or http://")
	}
	var err error
	r.header, err = r.headers.read()
	return err
}

// transport returns a transport to the server. close releases its resources.
func (r *remote) transport(o *observation, c *console) (_ transport.Transport, close func(), _ error) {
	t := &transport.HTTP{URL: r.url, Header: r.header}
	if !r.auth {
		return t, func() {}, nil
	}
	a, err := newAuthorizer(o, c, r, r.url)
	if err != nil {
		return nil, nil, err
	}
	t.Authorizer = a
	return t, func() { a.Close() }, nil
}

// resourceOf returns --auth-resource if it has the same origin as the server.
func (r *remote) resourceOf(server string) string {
	u, err := url.Parse(server)
	above, wrong := url.Parse(r.resource)
	if wrong == nil && above.Host != "" && (err != nil || !hostname.SameOrigin(u, above)) {
		return ""
	}
	return r.resource
}

// hint adds advice to an authorization error.
func (r *remote) hint(err error) error {
	if errors.Is(err, auth.ErrOtherResource) {
		return fmt.Errorf("%w; --auth-resource accepts it", err)
	}
	refused, ok := errors.AsType[*transport.RequestError](err)
	switch {
	case ok && refused.Reason == transport.ReasonSessionGone:
		return fmt.Errorf("%w; try again. If the error persists, the server may run in several processes that do not share "+
			"sessions", err)
	case r.auth, !ok, refused.Reason != transport.ReasonUnauthorized, refused.MayBeSession():
		return err
	}
	return fmt.Errorf("%w; --auth authorizes in the browser", err)
}
