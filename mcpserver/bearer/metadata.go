package bearer

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const wellKnown = "/.well-known/oauth-protected-resource"

// ResourceMetadata describes a protected MCP server to clients (RFC 9728 §2). Empty members are omitted.
type ResourceMetadata struct {
	Resource             string   `json:"resource"`              // URL of the MCP server; required
	AuthorizationServers []string `json:"authorization_servers"` // issuers; at least one
	ScopesSupported      []string `json:"scopes_supported,omitempty"`
	// BearerMethods are the ways to send a token. Empty means header, which is the only way that Require supports.
	BearerMethods  []string `json:"bearer_methods_supported,omitempty"`
	Name           string   `json:"resource_name,omitempty"`          // for people
	Documentation  string   `json:"resource_documentation,omitempty"` // URL of a page for developers
	Policy         string   `json:"resource_policy_uri,omitempty"`
	TermsOfService string   `json:"resource_tos_uri,omitempty"`
	JWKS           string   `json:"jwks_uri,omitempty"` // URL of the server's own keys, if it signs responses
}

// MetadataPath returns the path at which to mount [Metadata] for resource: the well-known path, followed by the path
// of the resource (RFC 9728 §3.1). It panics if resource is not an absolute URL.
func MetadataPath(resource string) string {
	return metadataURL(mustURL("Resource", resource)).EscapedPath()
}

func metadataURL(resource *url.URL) *url.URL {
	u, err := resource.Parse(wellKnown + strings.TrimSuffix(resource.EscapedPath(), "/"))
	if err != nil {
		panic("bearer: " + err.Error())
	}
	u.RawQuery = resource.RawQuery
	return u
}

// Metadata returns a handler that answers GET requests with m. It allows requests from web pages of every origin,
// because the metadata is public and the handler reads no credentials. Metadata panics if Resource is not an absolute
// URL, or if m has no authorization servers. Every MCP server must name its authorization servers
// (specification 2026-07-28, basic/authorization/authorization-server-discovery).
func Metadata(m ResourceMetadata) http.Handler {
	mustURL("Resource", m.Resource)
	if len(m.AuthorizationServers) == 0 {
		panic("bearer: ResourceMetadata without AuthorizationServers")
	}
	if len(m.BearerMethods) == 0 {
		m.BearerMethods = []string{"header"}
	}
	document, err := json.Marshal(m)
	if err != nil {
		panic("bearer: " + err.Error())
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			h.Set("Content-Type", "application/json")
			h.Set("Content-Length", strconv.Itoa(len(document)))
			h.Set("Cache-Control", "public, max-age=300")
			_, _ = w.Write(document)
		case http.MethodOptions:
			h.Set("Access-Control-Allow-Methods", "GET")
			h.Set("Access-Control-Allow-Headers", "*")
			w.WriteHeader(http.StatusNoContent)
		default:
			h.Set("Allow", "GET, HEAD, OPTIONS")
			http.Error(w, "only GET", http.StatusMethodNotAllowed)
		}
	})
}
