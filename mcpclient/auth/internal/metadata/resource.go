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

// Resource is the protected-resource metadata of an MCP server (RFC 9728 §2), as far as a client needs it. A list is
// nil if the server did not give it.
type Resource struct {
	Resource             string // the MCP server's identifier, as the document has it
	AuthorizationServers []string
	ScopesSupported      []string
	BearerMethods        []string
	DPoPAlgs             []string
	DPoPRequired         bool
}

// Resource returns the metadata of the MCP server at resource. hint is the resource_metadata of its challenge. Without
// one, "", or if there is nothing at that place, it asks the well-known places, the one of the server's path before the
// one of its root.
//
// A document must be about this server (RFC 9728 §3.3): otherwise a server could have a token for another one at its
// origin. above is a URL that it may be about instead, "" for none: one above the server's, by the word of the user.
func (f *Fetcher) Resource(ctx context.Context, resource *url.URL, above, hint string) (*Resource, error) {
	if above != "" && !isAbove(above, resource) {
		return nil, &Error{URL: bare(resource),
			Err: invalid("Options.Resource, %.200q, is not above the server's URL", above)}
	}
	// wherever hint points to: the token would go over it
	if resource.Scheme == "http" && !hostname.Loopback(resource.Hostname()) {
		return nil, &Error{URL: bare(resource), Err: refuse("it is not https")}
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
		return nil, &Error{URL: bare(resource), Err: invalid("resource_metadata of the challenge is no URL")}
	}
	err = from(place)
	if e, ok := errors.AsType[*Error](err); ok && (errors.Is(e, ErrNotFound) || e.Status == 0 && !e.Permanent()) {
		if from(resourcePlaces(resource)...) == nil {
			return found, nil
		}
	}
	return found, err
}

// resourcePlaces has the well-known path before the resource's own, which keeps its query (RFC 9728 §3.1).
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
		named, _, _ := strings.Cut(doc.Resource, "?") // the query may repeat what is secret in the server's URL
		return nil, fmt.Errorf("%w: resource is %.200q, the server is at %q: %w; see Options.Resource",
			errInvalid, named, bare(resource), ErrOtherResource)
	}
	return new(Resource(doc)), nil
}

// isAbout reports whether id, of a document, identifies the resource: the same URL, but for what makes no other URL of
// it. A slash at the end makes none (specification 2026-07-28, basic/authorization, "Canonical Server URI"), and a
// query that id does not have, because a query should not be part of an identifier (RFC 9728 §1.2).
func isAbout(id string, resource *url.URL) bool {
	u := identifier(id)
	return u != nil && hostname.SameOrigin(u, resource) && path(u) == path(resource) &&
		(u.RawQuery == "" || u.RawQuery == resource.RawQuery)
}

// sameResource reports whether two texts are one identifier.
func sameResource(a, b string) bool {
	x, y := identifier(a), identifier(b)
	return x != nil && y != nil && isAbout(a, y) && x.RawQuery == y.RawQuery
}

// isAbove reports whether id identifies something at the resource's origin whose path leads to it.
func isAbove(id string, resource *url.URL) bool {
	u := identifier(id)
	return u != nil && hostname.SameOrigin(u, resource) && strings.HasPrefix(path(resource)+"/", path(u)+"/")
}

// identifier reads what can identify a resource, nil if id cannot.
func identifier(id string) *url.URL {
	u, err := url.Parse(id)
	if err != nil || u.Fragment != "" || u.User != nil {
		return nil
	}
	return u
}

// path is the path of a URL without a slash at its end.
func path(u *url.URL) string { return strings.TrimSuffix(u.EscapedPath(), "/") }
