package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// A person authorizes in the browser; the token is stored for the next run.
func Example() {
	dir, err := os.UserConfigDir()
	if err != nil {
		fmt.Println(err)
		return
	}
	store, err := auth.NewFileStore(filepath.Join(dir, "example", "tokens"))
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := auth.New(&auth.Options{
		Interact:     &auth.Loopback{},
		Store:        store,
		Registration: auth.Registration{ClientName: "Example"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = a.Close() }()
	t := &transport.HTTP{URL: "https://example.com/mcp", Authorizer: a}
	fmt.Println(t.Name())
}

// A program authorizes on its own behalf. The example calls the Authorizer as a transport does, against an MCP server
// that is its own authorization server.
func ExampleClientCredentials() {
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/.well-known/oauth-protected-resource/mcp":
			_, _ = fmt.Fprintf(w, `{"resource":"%[1]s/mcp","authorization_servers":["%[1]s"]}`, server.URL)
		case "/.well-known/oauth-authorization-server":
			_, _ = fmt.Fprintf(w, `{"issuer":"%[1]s","token_endpoint":"%[1]s/token"}`, server.URL)
		case "/token":
			_, _ = fmt.Fprint(w, `{"access_token":"T","token_type":"Bearer","expires_in":3600}`)
		default:
			if r.Header.Get("Authorization") != "Bearer T" {
				w.Header().Set("WWW-Authenticate", "Bearer")
				w.WriteHeader(http.StatusUnauthorized)
			}
		}
	}))
	defer server.Close()
	a, err := auth.New(&auth.Options{
		Grant:       auth.ClientCredentials{},
		Credentials: &auth.Credentials{ClientID: "nightly-report", ClientSecret: "secret", Issuer: server.URL},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = a.Close() }()

	for attempt, again := 1, true; again; attempt++ {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL+"/mcp",
			strings.NewReader("{}"))
		if err != nil {
			fmt.Println(err)
			return
		}
		if err := a.Authorize(req); err != nil {
			fmt.Println(err)
			return
		}
		resp, err := server.Client().Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		_ = resp.Body.Close()
		if again, err = a.Review(resp, attempt); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(attempt, resp.Status, again)
	}
	// Output:
	// 1 401 Unauthorized true
	// 2 200 OK false
}
