package metadata

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResourceMetadataIsFoundAtItsLocations(t *testing.T) {
	const own, root = "/.well-known/oauth-protected-resource/public/mcp", "/.well-known/oauth-protected-resource"
	for _, tt := range []struct {
		name, at, path, hint string
		asked                []string
	}{
		{"at the path", own, "/public/mcp", "", []string{own}},
		{"at the path, without its last slash", own, "/public/mcp/", "", []string{own}},
		{"at the path, with its query", own + "?a=b", "/public/mcp?a=b", "", []string{own + "?a=b"}},
		{"at the root", root, "/public/mcp", "", []string{own, root}},
		{"at the root, for a server without a path", root, "", "", []string{root}},
		{"at the root, for a server at /", root, "/", "", []string{root}},
		{"with an escaped path", root + "/a%2Fb", "/a%2Fb", "", []string{root + "/a%2Fb"}},
		{"at the hint", "/custom.json?x=y", "/public/mcp", "SITE/custom.json?x=y", []string{"/custom.json?x=y"}},
		{"no document at the hint", own, "/public/mcp", "SITE/gone.json", []string{"/gone.json", own}},
		{"no server at the hint", own, "/public/mcp", "http://127.0.0.1:1/gone.json", []string{own}},
		{"at a hint without host", "/custom.json", "/public/mcp", "/custom.json", []string{"/custom.json"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			resource := s.at(t, tt.path)
			s.json(tt.at, map[string]any{
				"resource":                          resource.String(),
				"authorization_servers":             []string{"https://as.example"},
				"scopes_supported":                  []string{"a", "b"},
				"bearer_methods_supported":          []string{"header"},
				"dpop_signing_alg_values_supported": []string{"ES256"},
				"dpop_bound_access_tokens_required": true,
				"resource_name":                     []any{1, "unknown members may have any type"},
			})
			f := New(Options{})
			defer f.Close()
			got, err := f.Resource(t.Context(), resource, "", strings.Replace(tt.hint, "SITE", s.URL, 1))
			if err != nil {
				t.Fatal(err)
			}
			want := &Resource{
				Resource:             resource.String(),
				AuthorizationServers: []string{"https://as.example"},
				ScopesSupported:      []string{"a", "b"},
				BearerMethods:        []string{"header"},
				DPoPAlgs:             []string{"ES256"},
				DPoPRequired:         true,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("metadata, want - got +:\n%s", diff)
			}
			s.wantPaths(t, tt.asked...)
		})
	}
}

func TestMissingResourceMetadataIsErrNotFound(t *testing.T) {
	s := newSite(t)
	s.text("/.well-known/oauth-protected-resource/mcp", http.StatusOK, "<!doctype html><p>a page for every path")
	_, err := New(Options{}).Resource(t.Context(), s.at(t, "/mcp"), "", "")
	if !errors.Is(err, ErrNotFound) {
		t.Fatalf("error is %v, want ErrNotFound", err)
	}
	s.wantPaths(t, "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource")
	for _, part := range []string{"the response is not a JSON object", "HTTP status 404", s.URL} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error is %q, want %q in it", err, part)
		}
	}
	e, ok := errors.AsType[*Error](err)
	if !ok || !e.Permanent() || e.URL != s.URL+"/.well-known/oauth-protected-resource/mcp" {
		t.Errorf("error is %#v, want a permanent error with the first location", err)
	}
}

func TestErrorNamesTheURLOfTheChallenge(t *testing.T) {
	s := newSite(t)
	s.json("/.well-known/oauth-protected-resource", map[string]any{"resource": s.URL})
	_, err := New(Options{}).Resource(t.Context(), s.at(t, "/mcp"), "", s.URL+"/gone?secret=1")
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("error is %v, want ErrNotFound", err)
	}
	s.wantPaths(t, "/gone?secret=1", "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("error %q contains the query", err)
	}
	if _, err := New(Options{}).Resource(t.Context(), s.at(t, "/mcp"), "", "http://[x"); err == nil {
		t.Error("an invalid URL in a challenge was accepted, want an error")
	}
}

// TestServerFailureIsTemporary: after a failure of one location, the document may still exist there.
func TestServerFailureIsTemporary(t *testing.T) {
	for _, status := range []int{500, 503, 429, 408} {
		s := newSite(t)
		s.text("/.well-known/oauth-protected-resource/mcp", status, "")
		_, err := New(Options{}).Resource(t.Context(), s.at(t, "/mcp"), "", "")
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Permanent() || e.Status != status || errors.Is(err, ErrNotFound) {
			t.Errorf("status %d: error is %v, want a temporary error with the status", status, err)
		}
	}
	s := newSite(t)
	resource := s.at(t, "/mcp")
	s.Close()
	_, err := New(Options{}).Resource(t.Context(), resource, "", "")
	if e, ok := errors.AsType[*Error](err); !ok || e.Permanent() || e.Status != 0 {
		t.Errorf("server down: error is %v, want a temporary error", err)
	}
}

func TestResourceIdentifierMatchesOneServer(t *testing.T) {
	const resource = "https://mcp.example.com/team/mcp?tenant=1"
	for id, want := range map[string]struct{ about, above bool }{
		"https://mcp.example.com/team/mcp?tenant=1": {true, true},
		"https://mcp.example.com/team/mcp":          {true, true},
		"https://mcp.example.com/team/mcp/":         {true, true},
		"HTTPS://MCP.example.com:443/team/mcp":      {true, true},
		"HTTPS://MCP.example.com:443/team":          {false, true},
		"https://mcp.example.com/":                  {false, true},
		"https://mcp.example.com":                   {false, true},
		"https://mcp.example.com/team/mcp?tenant=2": {false, true}, // allowed only by Options.Resource
		"https://mcp.example.com/team/mc":           {},
		"https://mcp.example.com/team/mcp/more":     {},
		"https://mcp.example.com/Team":              {},
		"https://mcp.example.com/other":             {},
		"https://mcp.example.com/team/../team/mcp":  {},
		"https://mcp.example.com/team/mcp#x":        {},
		"https://user@mcp.example.com/team/mcp":     {},
		"http://mcp.example.com/team/mcp":           {},
		"https://mcp.example.com:8443/team/mcp":     {},
		"https://mcp.example.com./team/mcp":         {},
		"https://evil.example.com/team/mcp":         {},
		"https://mcp.example.com.evil/team/mcp":     {},
		"mcp.example.com/team/mcp":                  {},
		"/team/mcp":                                 {},
		"":                                          {},
		"://":                                       {},
	} {
		u, err := url.Parse(resource)
		if err != nil {
			t.Fatal(err)
		}
		if got := isAbout(id, u); got != want.about {
			t.Errorf("isAbout(%q, %s) = %v, want %v", id, resource, got, want.about)
		}
		if got := isAbove(id, u); got != want.above {
			t.Errorf("isAbove(%q, %s) = %v, want %v", id, resource, got, want.above)
		}
	}
}

func TestParentResourceNeedsTheUsersConsent(t *testing.T) {
	s := newSite(t)
	s.json("/.well-known/oauth-protected-resource", map[string]any{"resource": s.URL})
	for above, good := range map[string]bool{"": false, s.URL: true, s.URL + "/": true, s.URL + "/mcp": false,
		s.URL + "?x": false, "https://elsewhere.example": false} {
		r, err := New(Options{}).Resource(t.Context(), s.at(t, "/mcp"), above, "")
		if got := err == nil && r.Resource == s.URL; got != good {
			t.Errorf("with %q above: %+v, %v, want success: %t", above, r, err, good)
		}
		if e, ok := errors.AsType[*Error](err); err != nil && (!ok || !e.Permanent()) {
			t.Errorf("with %q above: %v, want a permanent error", above, err)
		}
	}
}

func TestMetadataOfAnotherServerIsRejected(t *testing.T) {
	s := newSite(t)
	s.json("/.well-known/oauth-protected-resource/mcp", map[string]any{"resource": "https://evil.example.com/mcp"})
	_, err := New(Options{}).Resource(t.Context(), s.at(t, "/mcp"), "", "")
	e, ok := errors.AsType[*Error](err)
	if !ok || !e.Permanent() || !strings.Contains(err.Error(), `resource is "https://evil.example.com/mcp"`) {
		t.Errorf("error is %v, want a permanent error that names the other server", err)
	}
}

// TestNextLocationIsTriedAfterARefusedRedirect: a refused redirect at one location does not prevent the attempt at the
// root.
func TestNextLocationIsTriedAfterARefusedRedirect(t *testing.T) {
	s := newSite(t)
	s.page("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://login.example/", http.StatusFound)
	})
	s.json("/.well-known/oauth-protected-resource", map[string]any{"resource": s.URL + "/mcp"})
	if r, err := New(Options{}).Resource(t.Context(), s.at(t, "/mcp"), "", ""); err != nil || r.Resource != s.URL+"/mcp" {
		t.Errorf("metadata is %+v, %v, want the document at the root", r, err)
	}
}
