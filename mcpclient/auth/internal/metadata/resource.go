package metadata

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

const resourceSuffix = "/.well-known/oauth-protected-resource"

// Resource is the protected-resource metadata of an MCP server (RFC 9728 §2), as far as a client needs it. A list is nil if
// the server did not give it.
type Resource struct {
	Resource             string // the MCP server's own URL or one above it, as the document has it
	AuthorizationServers []string
	ScopesSupported      []string
	BearerMethods        []string
	DPoPAlgs             []string
	DPoPRequired         bool
}

// Resource returns the metadata of the MCP server at resource. hint is the resource_metadata of its challenge, and is then
// the only place that is asked; without one, "", it is the well-known places, the one of the server's path before the one
// of its root.
//
// A document that is about another server than this one must not be used (RFC 9728 §3.3). One about a URL above it is: the
// root's document, and servers of several endpoints, have the URL that the endpoints share.
func (f *Fetcher) Resource(ctx context.Context, resource *url.URL, hint string) (*Resource, error) {
	if resource.Scheme == "http" && !isLoopback(resource.Hostname()) { // wherever hint points to: the token would go over it
		return nil, &Error{URL: bare(resource), Err: refuse("it is not https")}
	}
	places := resourcePlaces(resource)
	if hint != "" {
		place, err := resource.Parse(hint)
		if err != nil {
			return nil, &Error{URL: bare(resource), Err: invalid("resource_metadata of the challenge is no URL")}
		}
		places = []*url.URL{place}
	}
	var found *Resource
	err := f.For(resource).first(ctx, places, http.Header{}, func(data []byte) (err error) {
		found, err = decodeResource(data, resource)
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// resourcePlaces has the well-known path before the resource's own, which keeps its query (RFC 9728 §3.1).
func resourcePlaces(resource *url.URL) []*url.URL {
	root := origin(resource).JoinPath(resourceSuffix)
	path := strings.TrimSuffix(resource.EscapedPath(), "/")
	if path == "" && resource.RawQuery == "" {
		return []*url.URL{root}
	}
	own := root.JoinPath(path)
	own.RawQuery = resource.RawQuery
	return []*url.URL{own, root}
}

func decodeResource(data []byte, resource *url.URL) (*Resource, error) {
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
	if !covers(doc.Resource, resource) {
		named, _, _ := strings.Cut(doc.Resource, "?") // the query may repeat what is secret in the server's URL
		return nil, invalid("resource is %.200q, which is not the server at %q", named, bare(resource))
	}
	return new(Resource(doc)), nil
}

// covers reports whether id, of a document, is the resource or above it.
func covers(id string, resource *url.URL) bool {
	u, err := url.Parse(id)
	if err != nil || u.Fragment != "" || u.User != nil || !sameOrigin(u, resource) {
		return false
	}
	above := strings.TrimSuffix(u.EscapedPath(), "/")
	rest, ok := strings.CutPrefix(resource.EscapedPath(), above)
	if !ok || rest != "" && rest[0] != '/' {
		return false
	}
	return u.RawQuery == "" || u.RawQuery == resource.RawQuery
}

func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
}

// origin returns the root of u's server.
func origin(u *url.URL) *url.URL {
	return &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: "/"}
}
