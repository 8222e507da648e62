package metadata

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

const resourceSuffix = "/.well-known/oauth-protected-resource"

// Resource is the protected-resource metadata of an MCP server (RFC 9728 §2) that a client needs. A list is nil if
// the server did not send it.
type Resource struct {
	Resource             string // identifier of the MCP server, exactly as in the document
	AuthorizationServers []string
	ScopesSupported      []string
	BearerMethods        []string
	DPoPAlgs             []string
	DPoPRequired         bool
}

// Resource returns the metadata of the MCP server at resource. hint is the resource_metadata of the server's challenge.
// If hint is empty, or if a request to hint finds no document or gets no response, Resource tries the well-known
// locations: first for the server's path, then for the root.
//
// The document must be about this server (RFC 9728 §3.3); otherwise a server could obtain a token for another server at
// its origin. above is a URL above the server's URL that the user also accepts as the resource, or empty.
func (f *Fetcher) Resource(ctx context.Context, resource *url.URL, above, hint string) (*Resource, error) {
	if above != "" && !isAbove(above, resource) {
		return nil, &Error{URL: bare(resource),
			Err: invalid("Options.Resource, %.200q, is not above the server's URL", above)}
	}
	// checked even if hint is an https URL, because the token would be sent over plain http
	if resource.Scheme == "http" && !hostname.Loopback(resource.Hostname()) {
		return nil, &Error{URL: bare(resource), Err: refuse("the URL is not https")}
	}
	f = f.For(resource)
	var found *Resource
	from := func(places ...*url.URL) error {
		return f.first(ctx, places, http.Header{}, func(data []byte) (err error) {
			found, err = decodeResource(data, resource, above)
			return err
		})
	}
	if hint == "" {
		err := from(resourcePlaces(resource)...)
		return found, err
	}
	place, err := resource.Parse(hint)
	if err != nil {
		return nil, &Error{URL: bare(resource), Err: invalid("resource_metadata of the challenge is not a URL")}
	}
	err = from(place)
	if e, ok := errors.AsType[*Error](err); ok && (errors.Is(e, ErrNotFound) || e.Status == 0 && !e.Permanent()) {
		if from(resourcePlaces(resource)...) == nil {
			return found, nil
		}
	}
	return found, err
}

// resourcePlaces returns the well-known locations. The path and query of the resource follow the well-known path (RFC
// 9728 §3.1).
func resourcePlaces(resource *url.URL) []*url.URL {
	root := hostname.Root(resource).JoinPath(resourceSuffix)
	path := strings.TrimSuffix(resource.EscapedPath(), "/")
	if path == "" && resource.RawQuery == "" {
		return []*url.URL{root}
	}
	own := root.JoinPath(path)
	own.RawQuery = resource.RawQuery
	return []*url.URL{own, root}
}

func decodeResource(data []byte, resource *url.URL, above string) (*Resource, error) {
	var doc struct {
		Resource             string   `json:"resource"`
		AuthorizationServers []string `json:"authorization_servers"`
		ScopesSupported      []string `json:"scopes_supported"`
		BearerMethods        []string `json:"bearer_methods_supported"`
		DPoPAlgs             []string `json:"dpop_signing_alg_values_supported"`
		DPoPRequired         bool     `json:"dpop_bound_access_tokens_required"`
	}
	if err := decode(data, &doc); err != nil {
		return nil, err
	}
	if doc.Resource == "" {
		return nil, invalid("resource is missing")
	}
	if !isAbout(doc.Resource, resource) && !sameResource(doc.Resource, above) {
		named, _, _ := strings.Cut(doc.Resource, "?") // the query may repeat a secret from the server's URL
		return nil, fmt.Errorf("%w: resource is %.200q, the server is at %q: %w; see Options.Resource",
			errInvalid, named, bare(resource), ErrOtherResource)
	}
	return new(Resource(doc)), nil
}

// isAbout reports whether the identifier id in a document denotes the resource. The two URLs must be equal, with two
// exceptions. One of them may have a slash at the end (specification 2026-07-28, basic/authorization, "Canonical Server
// URI"). id may lack the query, because an identifier should not contain a query (RFC 9728 §1.2).
func isAbout(id string, resource *url.URL) bool {
	u := identifier(id)
	return u != nil && hostname.SameOrigin(u, resource) && path(u) == path(resource) &&
		(u.RawQuery == "" || u.RawQuery == resource.RawQuery)
}

// sameResource reports whether a and b are the same identifier.
func sameResource(a, b string) bool {
	x, y := identifier(a), identifier(b)
	return x != nil && y != nil && isAbout(a, y) && x.RawQuery == y.RawQuery
}

// isAbove reports whether id has the resource's origin and a path that is a prefix of the resource's path.
func isAbove(id string, resource *url.URL) bool {
	u := identifier(id)
	return u != nil && hostname.SameOrigin(u, resource) && strings.HasPrefix(path(resource)+"/", path(u)+"/")
}

// identifier parses the identifier of a resource. It returns nil if id is not valid.
func identifier(id string) *url.URL {
	u, err := url.Parse(id)
	if err != nil || u.Fragment != "" || u.User != nil {
		return nil
	}
	return u
}

// path returns the path of a URL without a slash at the end.
func path(u *url.URL) string { return strings.TrimSuffix(u.EscapedPath(), "/") }
