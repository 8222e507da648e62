package metadata

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	oauth  = "/.well-known/oauth-authorization-server"
	openID = "/.well-known/openid-configuration"
)

func (s *site) server(at, issuer string) {
	s.json(at, map[string]any{
		"issuer": issuer, "token_endpoint": s.URL + "/token", "code_challenge_methods_supported": []string{"S256"},
	})
}

func TestServerMetadataIsFoundAtEachWellKnownURL(t *testing.T) {
	for _, tt := range []struct {
		at, path string
		asked    []string
	}{
		{oauth, "", []string{oauth}},
		{oauth, "/", []string{oauth}},
		{openID, "", []string{oauth, openID}},
		{oauth + "/tenant1", "/tenant1", []string{oauth + "/tenant1"}},
		{oauth + "/a/b%2Fc", "/a/b%2Fc/", []string{oauth + "/a/b%2Fc"}},
		{openID + "/tenant1", "/tenant1", []string{oauth + "/tenant1", openID + "/tenant1"}},
		{"/tenant1" + openID, "/tenant1", []string{oauth + "/tenant1", openID + "/tenant1", "/tenant1" + openID}},
	} {
		s := newSite(t)
		issuer := s.URL + tt.path
		s.server(tt.at, issuer)
		got, err := localFetcher(t, Options{}).Server(t.Context(), issuer)
		if err != nil {
			t.Errorf("document at %s for an issuer at %q: %v", tt.at, tt.path, err)
		} else if got.Issuer != issuer || got.TokenEndpoint != s.URL+"/token" || got.CodeChallengeMethods[0] != "S256" {
			t.Errorf("document at %s for an issuer at %q: %+v", tt.at, tt.path, got)
		}
		s.wantPaths(t, tt.asked...)
	}
}

func TestServerMetadataDecodesAllMembers(t *testing.T) {
	s := newSite(t)
	s.json(oauth, map[string]any{
		"issuer":                                s.URL,
		"authorization_endpoint":                s.URL + "/authorize?x=y",
		"token_endpoint":                        s.URL + "/token",
		"registration_endpoint":                 s.URL + "/register",
		"scopes_supported":                      []string{"s"},
		"grant_types_supported":                 []string{"g"},
		"token_endpoint_auth_methods_supported": []string{"m"},
		"token_endpoint_auth_signing_alg_values_supported": []string{"a"},
		"code_challenge_methods_supported":                 []string{"c"},
		"dpop_signing_alg_values_supported":                []string{"d"},
		"authorization_response_iss_parameter_supported":   true,
		"client_id_metadata_document_supported":            true,
	})
	got, err := localFetcher(t, Options{}).Server(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	want := &Server{
		Issuer:                    s.URL,
		AuthorizationEndpoint:     s.URL + "/authorize?x=y",
		TokenEndpoint:             s.URL + "/token",
		RegistrationEndpoint:      s.URL + "/register",
		ScopesSupported:           []string{"s"},
		GrantTypes:                []string{"g"},
		TokenAuthMethods:          []string{"m"},
		TokenAuthSigningAlgs:      []string{"a"},
		CodeChallengeMethods:      []string{"c"},
		DPoPAlgs:                  []string{"d"},
		IssParameter:              true,
		ClientIDMetadataDocuments: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metadata, want - got +:\n%s", diff)
	}
}

func TestIssuerIsComparedByteForByte(t *testing.T) {
	for _, tt := range []struct{ asked, has string }{
		{"/tenant", "/tenant/"}, {"/tenant/", "/tenant"}, {"", "/"}, {"/a%2Fb", "/a%2fb"}, {"/tenant", "/Tenant"},
	} {
		s := newSite(t)
		for _, place := range serverPlaces(s.at(t, tt.asked)) {
			s.server(place.RequestURI(), s.URL+tt.has)
		}
		got, err := localFetcher(t, Options{}).Server(t.Context(), s.URL+tt.asked)
		e, ok := errors.AsType[*Error](err)
		if !ok || !e.Permanent() || !strings.Contains(err.Error(), "want exactly") {
			t.Errorf("issuer %q in the document of %q: %v, %v, want a permanent error", tt.has, tt.asked, got, err)
		}
	}
}

// TestDocumentOfAnotherIssuerIsSkipped: some servers return the same document for all paths.
func TestDocumentOfAnotherIssuerIsSkipped(t *testing.T) {
	s := newSite(t)
	s.server(oauth+"/tenant1", s.URL)
	s.server("/tenant1"+openID, s.URL+"/tenant1")
	if _, err := localFetcher(t, Options{}).Server(t.Context(), s.URL+"/tenant1"); err != nil {
		t.Errorf("error is %v, want the document of the third location", err)
	}
}

func TestUnsafeEndpointsAreRejected(t *testing.T) {
	for _, tt := range []struct{ member, value, want string }{
		{"authorization_endpoint", "javascript:alert(1)", "not an absolute URL"},
		{"authorization_endpoint", "vbscript://as.example/x", "scheme is not https"},
		{"authorization_endpoint", "file:///etc/passwd", "not an absolute URL"},
		{"authorization_endpoint", "http://as.example/authorize", "not https"},
		{"authorization_endpoint", "https://as.example/authorize#x", "fragment"},
		{"token_endpoint", "https://169.254.169.254/token", "special-purpose"},
		{"token_endpoint", "https://user:pass@as.example/token", "user information"},
		{"token_endpoint", "", "missing"},
		{"registration_endpoint", "/register", "not an absolute URL"},
		{"registration_endpoint", "https://a b/", "not a URL"},
		{"registration_endpoint", "https://10.0.0.1/register", "private"},
	} {
		s := newSite(t)
		doc := map[string]any{"issuer": s.URL, "token_endpoint": s.URL + "/token"}
		doc[tt.member] = tt.value
		s.json(oauth, doc)
		_, err := localFetcher(t, Options{}).Server(t.Context(), s.URL)
		if err == nil || !strings.Contains(err.Error(), tt.member) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %q: error is %v, want an error with %q", tt.member, tt.value, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "pass@") {
			t.Errorf("error %q contains the password", err)
		}
	}
}

func TestInvalidIssuersAreRejected(t *testing.T) {
	for issuer, want := range map[string]string{
		"http://as.example":           "not https",
		"https://as.example?x":        "query",
		"https://as.example#x":        "fragment",
		"https://10.1.2.3":            "private",
		"https://[fe80::1]":           "special-purpose",
		"http://localhost:1":          "loopback",
		"":                            "not an absolute URL",
		"https://u:secret@as.example": "user information",
		"https://%zz":                 "not a URL",
	} {
		_, err := New(Options{}).Server(t.Context(), issuer)
		e, ok := errors.AsType[*Error](err)
		if !ok || !e.Permanent() || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("issuer %q: error is %v, want a permanent error with %q", issuer, err, want)
		}
	}
}

func TestLegacyServerMetadataIsAtTheRootOfTheOrigin(t *testing.T) {
	s := newSite(t)
	s.json(oauth, map[string]any{"issuer": s.URL + "/", "token_endpoint": s.URL + "/oauth/token"})
	got, err := New(Options{}).LegacyServer(t.Context(), s.at(t, "/v1/mcp?x"))
	if err != nil || got.TokenEndpoint != s.URL+"/oauth/token" || got.Default {
		t.Fatalf("LegacyServer = %+v, %v, want the document", got, err)
	}
	s.wantPaths(t, oauth)
	if v := s.asked[0].Header.Get("MCP-Protocol-Version"); v != "2025-03-26" {
		t.Errorf("MCP-Protocol-Version is %q, want 2025-03-26", v)
	}
}

func TestLegacyServerHasDefaultEndpoints(t *testing.T) {
	s := newSite(t)
	got, err := New(Options{}).LegacyServer(t.Context(), s.at(t, "/v1/mcp"))
	if err != nil {
		t.Fatal(err)
	}
	want := &Server{
		Issuer:                s.URL,
		AuthorizationEndpoint: s.URL + "/authorize",
		TokenEndpoint:         s.URL + "/token",
		RegistrationEndpoint:  s.URL + "/register",
		Default:               true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metadata, want - got +:\n%s", diff)
	}
}

func TestLegacyServerHasNoDefaultsAfterAServerFailure(t *testing.T) {
	s := newSite(t)
	s.text(oauth, http.StatusBadGateway, "")
	if got, err := New(Options{}).LegacyServer(t.Context(), s.at(t, "/mcp")); err == nil {
		t.Errorf("LegacyServer = %+v for a server that fails, want an error", got)
	}
	s.json(oauth, map[string]any{"issuer": "https://evil.example", "token_endpoint": "https://evil.example/token"})
	if got, err := New(Options{}).LegacyServer(t.Context(), s.at(t, "/mcp")); err == nil {
		t.Errorf("LegacyServer = %+v of another issuer, want an error", got)
	}
}
