package bearer_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/mcpotel/mcpotel/mcpserver/bearer"
)

// A server with one token, which an operator gives to its only client. For tokens of an authorization server, use
// NewJWT instead of Static.
func Example() {
	const resource = "https://mcp.example.com/mcp"
	tokens := bearer.Static(map[string]*bearer.Principal{
		"from-the-environment": {Subject: "reporting", Audience: []string{resource}},
	})
	protected := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, _ := bearer.PrincipalFrom(r.Context())
		fmt.Println("hello,", p.Subject)
	})
	mux := http.NewServeMux()
	mux.Handle("/mcp", bearer.Require(tokens, &bearer.Options{Resource: resource})(protected))
	mux.Handle(bearer.MetadataPath(resource), bearer.Metadata(bearer.ResourceMetadata{
		Resource:             resource,
		AuthorizationServers: []string{"https://as.example.com"},
	}))

	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Header().Get("WWW-Authenticate"))

	r.Header.Set("Authorization", "Bearer from-the-environment")
	mux.ServeHTTP(httptest.NewRecorder(), r)
	// Output:
	// 401 Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
	// hello, reporting
}
