package bearer

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const wellKnown = "/.well-known/oauth-protected-resource"

// ResourceMetadata is what clients are told about a protected MCP server (RFC 9728 §2). Empty members are left out.
type ResourceMetadata struct {
	Resource             string   `json:"resource"`              // the URL of the MCP server; required
	AuthorizationServers []string `json:"authorization_servers"` // issuers; at least one
	ScopesSupported      []string `json:"scopes_supported,omitempty"`
	// empty means header, the only one there is here
	BearerMethods  []string `json:"bearer_methods_supported,omitempty"`
	Name           string   `json:"resource_name,omitempty"`          // for people
	Documentation  string   `json:"resource_documentation,omitempty"` // URL of a page for developers
	Policy         string   `json:"resource_policy_uri,omitempty"`
	TermsOfService string   `json:"resource_tos_uri,omitempty"`
	JWKS           string   `json:"jwks_uri,omitempty"` // URL of the server's own keys, if it signs answers
}

// MetadataPath returns the path where clients look for the metadata of resource, to mount [Metadata] at: the well-known
// path before the one of the resource (RFC 9728 §3.1). A resource that is no absolute URL panics.
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

// Metadata returns a handler that answers GET with m, to pages of every origin: there is nothing secret in it and no
// credential is looked at. A Resource that is no absolute URL, or metadata without authorization servers, which every
// MCP server has to name (specification 2026-07-28, basic/authorization/authorization-server-discovery), panics.
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
