package examples

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/auth"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/bearer"
)

// The code in docs/guides/authorization.md.

func authorizerOfAProgram(issuer, id, secret string) (*auth.Authorizer, error) {
	// docs:program
	authorizer, err := auth.New(&auth.Options{
		Grant:       auth.ClientCredentials{},
		Credentials: &auth.Credentials{ClientID: id, ClientSecret: secret, Issuer: issuer},
		Scopes:      []string{"weather"},
	})
	// docs:end
	return authorizer, err
}

func authorizerWithoutAPerson(dir string) (*auth.Authorizer, error) {
	// docs:stored
	store, err := auth.NewFileStore(dir) // the store that the user's login has filled
	if err != nil {
		return nil, err
	}
	authorizer, err := auth.New(&auth.Options{Store: store}) // no Interact: tokens are refreshed, but no page is opened
	// docs:end
	return authorizer, err
}

func staticToken(url, token string) *transport.HTTP {
	// docs:static
	server := &transport.HTTP{URL: url, Header: http.Header{"Authorization": {"Bearer " + token}}}
	// docs:end
	return server
}

func protect(mux *http.ServeMux, s *mcpserver.Server, tokens bearer.Verifier) {
	// docs:protect
	const resource = "https://mcp.example.com/mcp" // URL by which clients know the server
	require := bearer.Require(tokens, &bearer.Options{Resource: resource, Scopes: []string{"weather"}})
	mux.Handle("/mcp", require(s.HTTPHandler(nil)))
	mux.Handle(bearer.MetadataPath(resource), bearer.Metadata(bearer.ResourceMetadata{
		Resource:             resource,
		AuthorizationServers: []string{"https://as.example.com"},
	}))
	// docs:end
}

func verifier() (bearer.Verifier, error) {
	// docs:jwt
	tokens, err := bearer.NewJWT(bearer.JWT{
		Issuer:  "https://as.example.com",
		KeysURL: "https://as.example.com/keys",
	})
	// docs:end
	return tokens, err
}

// docs:principal

func whoami(ctx context.Context, _ struct{}) (string, error) {
	principal, ok := bearer.PrincipalFrom(ctx)
	if !ok || !principal.HasScopes("weather") {
		return "", errors.New("you may not see the weather")
	}
	return "for " + principal.Subject, nil
}

// docs:end

func TestGuideServerIdentifiesTheCaller(t *testing.T) {
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, &mcpserver.Options{Telemetry: telemetry.Off()})
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: "whoami"}, whoami); err != nil {
		t.Fatal(err)
	}
	audience := []string{"https://mcp.example.com/mcp"}
	mux := http.NewServeMux()
	protect(mux, s, bearer.Static(map[string]*bearer.Principal{
		"of-ada":   {Subject: "ada", Audience: audience, Scopes: []string{"weather"}},
		"of-grace": {Subject: "grace", Audience: audience},
	}))
	web := httptest.NewServer(mux)
	defer web.Close()
	for token, want := range map[string]string{"of-ada": "for ada", "of-grace": "", "of-alan": ""} {
		got, err := askedWith(t.Context(), staticToken(web.URL+"/mcp", token))
		if got != want || want == "" && !errors.Is(err, mcpclient.ErrUnauthorized) {
			t.Errorf("%s: got %q and %v, want %q or to be unauthorized", token, got, err, want)
		}
	}
	if _, err := verifier(); err != nil {
		t.Error(err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// askedWith calls the tool over a transport and returns the answer.
func askedWith(ctx context.Context, server transport.Transport) (string, error) {
	client, err := mcpclient.Connect(ctx, server, &mcpclient.Options{Telemetry: telemetry.Off()})
	if err != nil {
		return "", err
	}
	result, err := client.CallTool(ctx, "whoami", nil)
	if err := errors.Join(err, client.Close()); err != nil {
		return "", err
	}
	return result.Text(), nil
}

func TestGuideProgramUsesClientCredentials(t *testing.T) {
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, &mcpserver.Options{Telemetry: telemetry.Off()})
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: "whoami"}, whoami); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	defer web.Close()
	resource := web.URL + "/mcp"
	tokens := bearer.Static(map[string]*bearer.Principal{
		"T": {Subject: "nightly", Audience: []string{resource}, Scopes: []string{"weather"}},
	})
	mux.Handle("/mcp", bearer.Require(tokens, &bearer.Options{Resource: resource})(s.HTTPHandler(nil)))
	mux.Handle(bearer.MetadataPath(resource), bearer.Metadata(bearer.ResourceMetadata{
		Resource: resource, AuthorizationServers: []string{web.URL},
	}))
	answer := func(form string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, form, web.URL)
		}
	}
	mux.Handle("/.well-known/oauth-authorization-server", answer(`{"issuer":"%[1]s","token_endpoint":"%[1]s/token"}`))
	mux.Handle("/token", answer(`{"access_token":"T","token_type":"Bearer","expires_in":3600,"issuer":"%s"}`))

	authorizer, err := authorizerOfAProgram(web.URL, "nightly", "secret")
	if err != nil {
		t.Fatal(err)
	}
	got, err := askedWith(t.Context(), &transport.HTTP{URL: resource, Authorizer: authorizer})
	if err != nil || got != "for nightly" {
		t.Errorf("got %q and %v, want to be known", got, err)
	}

	alone, err := authorizerWithoutAPerson(filepath.Join(t.TempDir(), "tokens"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = askedWith(t.Context(), &transport.HTTP{URL: resource, Authorizer: alone})
	if !errors.Is(err, auth.ErrNoInteraction) {
		t.Errorf("without a person and a token: got %v, want %v", err, auth.ErrNoInteraction)
	}
	if err := errors.Join(authorizer.Close(), alone.Close(), s.Shutdown(t.Context())); err != nil {
		t.Error(err)
	}
}
