package metadata

import (
	"net/url"
	"strings"
	"testing"
)

func TestDecodeErrorNamesTheInvalidMember(t *testing.T) {
	resource := &url.URL{Scheme: "https", Host: "h", Path: "/mcp"}
	for in, want := range map[string]string{
		`{"resource":"https://h/mcp","scopes_supported":"a b"}`: "scopes_supported is a JSON string, " +
			"want an array of strings",
		`{"resource":"https://h/mcp","scopes_supported":["a",{}]}`: "scopes_supported/1 is a JSON object, " +
			"want a string",
		`{"resource":["https://h/mcp"]}`: "resource is a JSON array, want a string",
		`{"resource":"https://h/mcp","dpop_bound_access_tokens_required":"true"}`: "dpop_bound_access_tokens_required is " +
			"a JSON string, want true or false",
		`{"resource":"https://h/mcp","resource":"https://evil"}`: `member "/resource" occurs twice`,
		`{"resource":"https://h/mcp","x":{"a":1,"a":2}}`:         `member "/x/a" occurs twice`,
		`{"resource":"https://h/mcp"`:                            "not valid JSON",
		`{"resource":"https://h/mcp"} {}`:                        "not valid JSON",
		"{\"resource\":\"https://h/mcp\xff\"}":                   "not valid JSON",
		`{"Resource":"https://h/mcp"}`:                           "resource is missing",
		`{"resource":null}`:                                      "resource is missing",
		`{}`:                                                     "resource is missing",
		`{"resource":"https://h/mcp","` + strings.Repeat("x", 5000) + `":1` + strings.Repeat(" ", 3): "not valid JSON",
	} {
		_, err := decodeResource([]byte(in), resource, "")
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 500 {
			t.Errorf("%.100s: error is %.600v, want %q", in, err, want)
		}
	}
	got, err := decodeResource([]byte(`{"resource":"https://h/mcp","scopes_supported":null,"authorization_servers":[]}`),
		resource, "")
	if err != nil || got.ScopesSupported != nil || got.AuthorizationServers == nil {
		t.Errorf("null and an empty list are %+v, %v, want nil and an empty list", got, err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"resource":"https://h/mcp","authorization_servers":["https://as"]}`,
		`{"issuer":"https://h","token_endpoint":"https://h/token","authorization_endpoint":"https://h/authorize"}`,
		`{"issuer":"https://h","token_endpoint":"javascript:x"}`,
		`{"resource":1}`, `[]`, `{`, ``, `{"issuer":"https://h","issuer":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	resource := &url.URL{Scheme: "https", Host: "h", Path: "/mcp"}
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := decodeResource(data, resource, ""); err == nil && !isAbout(r.Resource, resource) {
			t.Fatalf("metadata of %q was accepted for %s", r.Resource, resource)
		}
		g := guard{}
		s, err := g.decodeServer(data, "https://as.example", func(issuer string) bool { return issuer == "https://h" })
		if err != nil {
			if len(err.Error()) > 2000 {
				t.Fatalf("an error of %d bytes, want a short one", len(err.Error()))
			}
			return
		}
		if s.Issuer != "https://h" || s.TokenEndpoint == "" {
			t.Fatalf("accepted %+v, want the issuer and a token endpoint", s)
		}
		for _, endpoint := range []string{s.AuthorizationEndpoint, s.TokenEndpoint, s.RegistrationEndpoint} {
			if u, err := url.Parse(endpoint); endpoint != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
				t.Fatalf("accepted the endpoint %q, want https only", endpoint)
			}
		}
	})
}
