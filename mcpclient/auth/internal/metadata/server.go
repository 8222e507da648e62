package metadata

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

const (
	oauthSuffix  = "/.well-known/oauth-authorization-server"
	openIDSuffix = "/.well-known/openid-configuration"
)

// Server is the metadata of an authorization server (RFC 8414 §2) that a client needs. A list is nil if the server
// did not send it. Endpoints are https URLs, or http URLs on loopback, without a fragment. TokenEndpoint is always
// set; other endpoints are empty if the server does not have them.
type Server struct {
	Issuer                    string
	AuthorizationEndpoint     string
	TokenEndpoint             string
	RegistrationEndpoint      string
	ScopesSupported           []string
	GrantTypes                []string
	TokenAuthMethods          []string
	TokenAuthSigningAlgs      []string
	CodeChallengeMethods      []string
	DPoPAlgs                  []string
	IssParameter              bool // the server sends iss in authorization responses (RFC 9207)
	ClientIDMetadataDocuments bool
	Default                   bool // there is no document: the endpoints are the defaults of revision 2025-03-26
}

// Server returns the metadata of the authorization server with this issuer, from the first well-known location with a
// document. The issuer in the document must equal issuer byte for byte. f must be the result of [Fetcher.For] for the
// MCP server that named the issuer.
func (f *Fetcher) Server(ctx context.Context, issuer string) (*Server, error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil, &Error{URL: "issuer", Err: invalid("not a URL")}
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return nil, &Error{URL: bare(u), Err: invalid("issuer has a query or a fragment")}
	}
	if err := f.guard.url(u); err != nil {
		return nil, &Error{URL: bare(u), Err: err}
	}
	return f.server(ctx, serverPlaces(u), http.Header{}, issuer, func(got string) bool { return got == issuer })
}

// LegacyServer returns the metadata of an MCP server that is its own authorization server, by the rules of revision
// 2025-03-26: the document at the root of the server's origin, or else the default endpoints.
func (f *Fetcher) LegacyServer(ctx context.Context, resource *url.URL) (*Server, error) {
	f = f.For(resource)
	root := hostname.Root(resource)
	if err := f.guard.url(root); err != nil {
		return nil, &Error{URL: bare(root), Err: err}
	}
	header := http.Header{}
	header.Set(versionHeader, legacyVersion)
	s, err := f.server(ctx, []*url.URL{root.JoinPath(oauthSuffix)}, header, root.String(), func(got string) bool {
		return strings.TrimSuffix(got, "/")+"/" == root.String()
	})
	if errors.Is(err, ErrNotFound) {
		return defaultServer(root), nil
	}
	return s, err
}

func defaultServer(root *url.URL) *Server {
	return &Server{
		Issuer:                strings.TrimSuffix(root.String(), "/"),
		AuthorizationEndpoint: root.JoinPath("authorize").String(),
		TokenEndpoint:         root.JoinPath("token").String(),
		RegistrationEndpoint:  root.JoinPath("register").String(),
		Default:               true,
	}
}

func (f *Fetcher) server(ctx context.Context, places []*url.URL, header http.Header, issuer string,
	isIssuer func(string) bool) (*Server, error) {
	var found *Server
	err := f.first(ctx, places, header, func(data []byte) (err error) {
		found, err = f.guard.decodeServer(data, issuer, isIssuer)
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// serverPlaces returns the well-known locations in the order of the specification.
func serverPlaces(issuer *url.URL) []*url.URL {
	root := hostname.Root(issuer)
	path := strings.TrimSuffix(issuer.EscapedPath(), "/")
	if path == "" {
		return []*url.URL{root.JoinPath(oauthSuffix), root.JoinPath(openIDSuffix)}
	}
	return []*url.URL{root.JoinPath(oauthSuffix, path), root.JoinPath(openIDSuffix, path),
		root.JoinPath(path, openIDSuffix)}
}

func (g guard) decodeServer(data []byte, issuer string, isIssuer func(string) bool) (*Server, error) {
	var doc struct {
		Issuer                    string   `json:"issuer"`
		AuthorizationEndpoint     string   `json:"authorization_endpoint"`
		TokenEndpoint             string   `json:"token_endpoint"`
		RegistrationEndpoint      string   `json:"registration_endpoint"`
		ScopesSupported           []string `json:"scopes_supported"`
		GrantTypes                []string `json:"grant_types_supported"`
		TokenAuthMethods          []string `json:"token_endpoint_auth_methods_supported"`
		TokenAuthSigningAlgs      []string `json:"token_endpoint_auth_signing_alg_values_supported"`
		CodeChallengeMethods      []string `json:"code_challenge_methods_supported"`
		DPoPAlgs                  []string `json:"dpop_signing_alg_values_supported"`
		IssParameter              bool     `json:"authorization_response_iss_parameter_supported"`
		ClientIDMetadataDocuments bool     `json:"client_id_metadata_document_supported"`
		Default                   bool     `json:"-"`
	}
	if err := decode(data, &doc); err != nil {
		return nil, err
	}
	if doc.Issuer == "" {
		return nil, invalid("issuer is missing")
	}
	if !isIssuer(doc.Issuer) {
		return nil, invalid("issuer is %.200q, want exactly %.200q; a slash at the end counts", doc.Issuer,
			issuer)
	}
	if doc.TokenEndpoint == "" {
		return nil, invalid("token_endpoint is missing")
	}
	for name, endpoint := range map[string]string{
		"authorization_endpoint": doc.AuthorizationEndpoint,
		"token_endpoint":         doc.TokenEndpoint,
		"registration_endpoint":  doc.RegistrationEndpoint,
	} {
		if err := g.endpoint(name, endpoint); err != nil {
			return nil, err
		}
	}
	return new(Server(doc)), nil
}

// endpoint returns an error for an endpoint to which neither the client nor a browser may connect.
func (g guard) endpoint(name, endpoint string) error {
	if endpoint == "" {
		return nil
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return invalid("%s is not a URL", name)
	}
	if u.Fragment != "" {
		return invalid("%s has a fragment", name)
	}
	if err := g.url(u); err != nil {
		return invalid("%s: %v", name, err)
	}
	return nil
}
