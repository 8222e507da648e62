package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
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
		// A program uses what authenticates its requests: bearer.Identity, for example.
		Principal: func(r *http.Request) string { user, _, _ := r.BasicAuth(); return user },
	})
	srv := httptest.NewServer(handler)
	defer srv.Close()
	defer handler.Shutdown(context.Background())

	r, err := http.NewRequest("POST", srv.URL, strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
	if err != nil {
		log.Fatal(err)
	}
	r.SetBasicAuth("alice", "secret")
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Accept-Language": "de",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "whoami",
	} {
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(string(body), "alice in de"))
	// Output:
	// true
}
