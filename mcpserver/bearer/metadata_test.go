package bearer_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/mcpserver/bearer"
)

func TestMetadataAllowsEveryOrigin(t *testing.T) {
	h := bearer.Metadata(bearer.ResourceMetadata{Resource: resource, AuthorizationServers: []string{"https://as.example"},
		ScopesSupported: []string{"a"}})
	for method, want := range map[string]int{
		http.MethodGet: 200, http.MethodHead: 200, http.MethodOptions: 204, http.MethodPost: 405, http.MethodDelete: 405,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "/", nil))
		if w.Code != want || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: status %d for the origins %q, want %d for *", method, w.Code,
				w.Header().Get("Access-Control-Allow-Origin"), want)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"resource":                 resource,
		"authorization_servers":    []any{"https://as.example"},
		"scopes_supported":         []any{"a"},
		"bearer_methods_supported": []any{"header"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document, want - got +:\n%s", diff)
	}
	if kind := w.Header().Get("Content-Type"); kind != "application/json" {
		t.Errorf("content type is %q, want application/json", kind)
	}
}

func TestMetadataPath(t *testing.T) {
	const root = "/.well-known/oauth-protected-resource"
	for in, want := range map[string]string{
		"https://h":             root,
		"https://h/":            root,
		"https://h:8443/mcp":    root + "/mcp",
		"https://h/mcp/":        root + "/mcp",
		"https://h/a%2Fb/c?d=e": root + "/a%2Fb/c",
		"https://h//a":          root + "//a",
	} {
		if got := bearer.MetadataPath(in); got != want {
			t.Errorf("MetadataPath(%s) = %s, want %s", in, got, want)
		}
	}
}
