package mcpserver_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func ExampleRequestInfo_HTTP() {
	s := mcpserver.New(mcp.Implementation{Name: "whoami", Version: "1.0"}, nil)
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "whoami"}, func(ctx context.Context, _ struct{}) (string, error) {
		r := mcpserver.RequestFrom(ctx)
		return fmt.Sprintf("%s in %s", r.Principal(), r.HTTP().Header.Get("Accept-Language")), nil
	})
	if err != nil {
		log.Fatal(err)
	}
	handler := s.HTTPHandler(&mcpserver.HTTPOptions{
		// A real program uses the result of its authentication, for example bearer.Identity.
		Principal: func(r *http.Request) string { user, _, _ := r.BasicAuth(); return user },
	})
	srv := httptest.NewServer(handler)
	defer srv.Close()
	defer handler.Shutdown(context.Background())

	ctx := context.Background()
	header := http.Header{"Accept-Language": {"de"}, "Authorization": {"Basic YWxpY2U6c2VjcmV0"}} // alice, secret
	client, err := mcpclient.Connect(ctx, &transport.HTTP{URL: srv.URL, Header: header}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	result, err := client.CallTool(ctx, "whoami", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text())
	// Output: alice in de
}
