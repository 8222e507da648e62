package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// remote is a server at a URL, as the flags have it.
type remote struct {
	url             string
	headers         []string // as they were given: they may hold secrets, so that nothing quotes them
	auth, noBrowser bool

	header http.Header
}

func (r *remote) flags(f *flag.FlagSet) {
	f.StringVar(&r.url, "url", "", "talk to the server at this `URL`")
	f.Func("header", "add this header, `NAME=VALUE`, to every HTTP request; may be repeated", func(s string) error {
		r.headers = append(r.headers, s)
		return nil
	})
	f.BoolVar(&r.auth, "auth", false, "authorize in the browser when the server asks for it, and remember it in the user's configuration directory")
	f.BoolVar(&r.noBrowser, "no-browser", false, "with --auth: print the page to authorize at instead of opening it")
}

// check reads the headers and finds flags that make no sense together.
func (r *remote) check(configured bool) error {
	switch {
	case r.url == "" && len(r.headers) > 0:
		return misuse("--header is for a server with --url")
	case r.url == "" && !configured && r.auth:
		return misuse("--auth is for servers with --url or --config")
	case !r.auth && r.noBrowser:
		return misuse("--no-browser goes with --auth")
	}
	r.header = http.Header{}
	for i, given := range r.headers {
		name, value, ok := strings.Cut(given, "=")
		if !ok || name == "" || strings.ContainsFunc(name, notInHeaderName) || strings.ContainsAny(value, "\r\n\x00") {
			return misuse("header %d is not of the form NAME=VALUE", i+1)
		}
		r.header.Add(name, value)
	}
	return nil
}

func notInHeaderName(c rune) bool {
	return (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}

// transport reaches the server. close frees what belongs to it.
func (r *remote) transport(o *observation, stderr io.Writer) (_ transport.Transport, close func(), _ error) {
	t := &transport.HTTP{URL: r.url, Header: r.header}
	if !r.auth {
		return t, func() {}, nil
	}
	a, err := newAuthorizer(o, stderr, !r.noBrowser)
	if err != nil {
		return nil, nil, err
	}
	t.Authorizer = a
	return t, func() { a.Close() }, nil
}

// hint adds to the error of a server that wants an authorization what to do about it.
func (r *remote) hint(err error) error {
	refused, ok := errors.AsType[*transport.RequestError](err)
	if r.auth || !ok || refused.Reason != transport.Unauthorized {
		return err
	}
	return fmt.Errorf("%w; --auth authorizes in the browser", err)
}
