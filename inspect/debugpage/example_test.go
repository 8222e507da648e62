package debugpage_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/mcpotel/mcpotel/inspect/debugpage"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// inMemory is a transport to s.
func inMemory(s *mcpserver.Server) transport.Transport {
	return transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) })
}

func ExampleHandler() {
	ctx := context.Background()
	weather := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	client, err := mcpclient.Connect(ctx, inMemory(weather), &mcpclient.Options{Name: "forecasts"})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	// Beside net/http/pprof, on an address that only operators can reach.
	mux := http.NewServeMux()
	mux.Handle("/debug/mcp/", debugpage.Handler(debugpage.WithTraceURL("http://localhost:16686/trace/{trace_id}")))
	admin := httptest.NewServer(mux)
	defer admin.Close()

	response, err := http.Get(admin.URL + "/debug/mcp/")
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.Status, strings.Contains(string(page), "forecasts"), strings.Contains(string(page), "weather"))
	// Output: 200 OK true true
}

// Each tenant has its own page, which shows no other tenant's clients.
func ExampleWithClients() {
	ctx := context.Background()
	weather := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	ours, err := mcpclient.Connect(ctx, inMemory(weather), &mcpclient.Options{Name: "ours"})
	if err != nil {
		log.Fatal(err)
	}
	defer ours.Close()
	theirs, err := mcpclient.Connect(ctx, inMemory(weather), &mcpclient.Options{Name: "theirs"})
	if err != nil {
		log.Fatal(err)
	}
	defer theirs.Close()

	h := debugpage.Handler(debugpage.WithClients(ours), debugpage.WithServers())
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	fmt.Println(strings.Contains(w.Body.String(), "ours"), strings.Contains(w.Body.String(), "theirs"))
	// Output: true false
}
