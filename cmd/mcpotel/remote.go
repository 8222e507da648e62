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

// remote is a server at a URL, as the flags have it.
type remote struct {
	url             string
	headers         headers
	auth, noBrowser bool
	resource        string
	stored          bool // --auth uses what is remembered, and asks no person

	header http.Header
}

func (r *remote) flags(f *pflag.FlagSet) {
	f.StringVar(&r.url, "url", "", "talk to the server at this `URL`")
	r.headers.flags(f, "header", "")
	f.Func("url-env", "talk to the server at the URL that this `VARIABLE` of the environment has", func(s string) error {
		var err error
		r.url, err = variable(s)
		return err
	})
	f.BoolVar(&r.auth, "auth", false,
		"authorize in the browser when the server asks for it, and remember it in the user's configuration directory")
	f.BoolVar(&r.noBrowser, "no-browser", false, "with --auth: print the page to authorize at instead of opening it")
	f.StringVar(&r.resource, "auth-resource", "",
		"with --auth: take the server's word that it is part of what is at this `URL`, above its own, and send it tokens "+
			"for all of that")
}

// variable returns a variable of the environment.
func variable(name string) (string, error) {
	value, set := os.LookupEnv(name)
	if !set {
		return "", errors.New("this variable is not set")
	}
	return value, nil
}

// check reads the headers and finds flags that make no sense together.
func (r *remote) check(configured bool) error {
	switch {
	case r.url == "" && len(r.headers.given) > 0:
		return misuse("--header is for a server with --url")
	case r.url == "" && !configured && r.auth:
		return misuse("--auth is for servers with --url or --config")
	case !r.auth && r.noBrowser:
		return misuse("--no-browser goes with --auth")
	case !r.auth && r.resource != "":
		return misuse("--auth-resource goes with --auth")
	case r.resource != "" && !strings.HasPrefix(r.resource, "https://") && !strings.HasPrefix(r.resource, "http://"):
		return misuse("--auth-resource wants a URL that begins with https:// or http://")
	}
	var err error
	r.header, err = r.headers.read()
	return err
}

// transport reaches the server. close frees what belongs to it.
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

// resourceOf returns the resource that a server may be part of, by the flags: those of other origins are not meant.
func (r *remote) resourceOf(server string) string {
	u, err := url.Parse(server)
	above, wrong := url.Parse(r.resource)
	if wrong == nil && above.Host != "" && (err != nil || !hostname.SameOrigin(u, above)) {
		return ""
	}
	return r.resource
}

// hint adds to the error of a server that wants an authorization what to do about it.
func (r *remote) hint(err error) error {
	if errors.Is(err, auth.ErrOtherResource) {
		return fmt.Errorf("%w; --auth-resource takes its word for it", err)
	}
	refused, ok := errors.AsType[*transport.RequestError](err)
	switch {
	case ok && refused.Reason == transport.SessionGone:
		return fmt.Errorf("%w; try again. If this comes each time, the server may run in several processes that do not "+
			"share sessions", err)
	case r.auth, !ok, refused.Reason != transport.Unauthorized, refused.MayBeSession():
		return err
	}
	return fmt.Errorf("%w; --auth authorizes in the browser", err)
}
