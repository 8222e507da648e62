package bearer_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/bearer"
)

// An MCP server that requires tokens, with two clients: one with a valid token and one without.
func ExampleRequire() {
	s := mcpserver.New(mcp.Implementation{Name: "whoami", Version: "1.0"}, nil)
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "whoami"}, func(ctx context.Context, _ struct{}) (string, error) {
		p, ok := bearer.PrincipalFrom(ctx)
		if !ok {
			return "", errors.New("nobody")
		}
		return p.Subject, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	const resource = "https://mcp.example.com/mcp" // the URL that clients use
	tokens := bearer.Static(map[string]*bearer.Principal{
		"of-alice": {Subject: "alice", Audience: []string{resource}},
	})
	require := bearer.Require(tokens, &bearer.Options{Resource: resource})
	handler := s.HTTPHandler(nil)
	web := httptest.NewServer(require(handler))
	defer web.Close()
	defer handler.Shutdown(context.Background())

	ctx := context.Background()
	for _, token := range []string{"of-alice", "of-nobody"} {
		server := &transport.HTTP{URL: web.URL, Header: http.Header{"Authorization": {"Bearer " + token}}}
		client, err := mcpclient.Connect(ctx, server, nil)
		if err != nil {
			fmt.Println("not authorized:", errors.Is(err, mcpclient.ErrUnauthorized))
			continue
		}
		result, err := client.CallTool(ctx, "whoami", nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("hello,", result.Text())
		if err := client.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// hello, alice
	// not authorized: true
}
