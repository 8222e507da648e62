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

func ExampleServer_HTTPHandler() {
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "forecast"}, func(_ context.Context, in struct {
		City string `json:"city"`
	}) (string, error) {
		return "Sunny in " + in.City, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	handler := s.HTTPHandler(nil)
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	srv := httptest.NewServer(mux) // a real program uses an http.Server
	defer srv.Close()
	defer handler.Shutdown(context.Background()) // runs before srv.Close, which waits for the streams that Shutdown ends

	ctx := context.Background()
	for _, v := range []mcp.Version{mcp.Version20250618, mcp.Version20260728} { // with and without a session
		client, err := mcpclient.Connect(ctx, &transport.HTTP{URL: srv.URL + "/mcp"},
			&mcpclient.Options{Versions: []mcp.Version{v}})
		if err != nil {
			log.Fatal(err)
		}
		result, err := client.CallTool(ctx, "forecast", map[string]any{"city": "Rome"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(client.ProtocolVersion(), result.Text())
		if err := client.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 2025-06-18 Sunny in Rome
	// 2026-07-28 Sunny in Rome
}
