package main

import (
	"net/http"
	"net/url"

	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/mcpserver/bearer"
)

// bearerFlags restrict an HTTP listener to hosts with a token of one issuer. The zero value admits all hosts.
type bearerFlags struct{ issuer, keys, resource string }

func (b *bearerFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&b.issuer, "bearer-issuer", "", "with --listen, admit only hosts with an access token, a JWT, of the "+
		"authorization server at this `URL`. The server behind mcpotel sees one client for all hosts")
	f.StringVar(&b.keys, "bearer-keys", "", "fetch the keys of the authorization server from this `URL`, its jwks_uri")
	f.StringVar(&b.resource, "bearer-resource", "", "the public `URL` of this server; each token must have this URL as "+
		"its audience")
}

// check validates the flags: if one of them is given, all three and --listen are required, and each is a secure URL.
func (b *bearerFlags) check(listens bool) error {
	switch given := *b; {
	case given == bearerFlags{}:
		return nil
	case !listens:
		return misuse("--bearer-issuer, --bearer-keys and --bearer-resource are for hosts over HTTP: add --listen HOST:PORT")
	case given.issuer == "" || given.keys == "" || given.resource == "":
		return misuse("--bearer-issuer, --bearer-keys and --bearer-resource need each other: give all three")
	}
	for _, flag := range []struct{ name, value string }{
		{"--bearer-issuer", b.issuer}, {"--bearer-keys", b.keys}, {"--bearer-resource", b.resource},
	} {
		u, err := url.Parse(flag.value)
		if err != nil || u.Host == "" || u.Fragment != "" || u.Scheme != "https" &&
			(u.Scheme != "http" || !hostname.Loopback(u.Hostname())) {
			return misuse("%s %q: want a URL with https, or with http on this machine", flag.name, flag.value)
		}
	}
	return nil
}

// protect returns h behind a check of tokens, and mounts the metadata that names the authorization server.
func (b *bearerFlags) protect(mux *http.ServeMux, h http.Handler) (http.Handler, error) {
	if *b == (bearerFlags{}) {
		return h, nil
	}
	tokens, err := bearer.NewJWT(bearer.JWT{Issuer: b.issuer, KeysURL: b.keys})
	if err != nil {
		return nil, misuse("%w", err)
	}
	mux.Handle(bearer.MetadataPath(b.resource), bearer.Metadata(bearer.ResourceMetadata{
		Resource: b.resource, AuthorizationServers: []string{b.issuer},
	}))
	return bearer.Require(tokens, &bearer.Options{Resource: b.resource})(h), nil
}
