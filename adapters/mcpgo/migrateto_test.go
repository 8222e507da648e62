package mcpgo_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// The programs in docs/guides/migrate-mcpgo.md after the migration.

type query struct {
	City string `json:"city" jsonschema:"the name of the city"`
}

type weather struct {
	Celsius int `json:"celsius"`
}

func clientAfter(ctx context.Context, url, city string) (w weather, err error) {
	// docs:client
	client, err := mcpclient.Connect(ctx, &transport.HTTP{URL: url},
		&mcpclient.Options{ClientInfo: mcp.Implementation{Name: "orders", Version: "1.0"}})
	if err != nil {
		return w, err
	}
	defer client.Close()

	for tool, err := range client.Tools(ctx) {
		if err != nil {
			return w, err
		}
		fmt.Println(tool.Name)
	}
	w, err = mcpclient.CallToolAs[weather](ctx, client, "forecast", map[string]any{"city": city})
	// docs:end
	return w, err
}

// docs:tool

func forecastAfter(_ context.Context, in query) (weather, error) {
	if in.City != "Oslo" {
		return weather{}, errors.New("ask for Oslo")
	}
	return weather{Celsius: 4}, nil
}

// docs:end

func serverAfter() (http.Handler, error) {
	// docs:server
	server := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	err := mcpserver.AddTool(server, &mcp.Tool{Name: "forecast", Description: "The weather."}, forecastAfter)
	handler := server.HTTPHandler(nil)
	// docs:end
	return handler, err
}

func TestGuideProgramsBehaveSameBeforeAndAfter(t *testing.T) {
	after, err := serverAfter()
	if err != nil {
		t.Fatal(err)
	}
	for serverName, handler := range map[string]http.Handler{"before": serverBefore(), "after": after} {
		web := httptest.NewServer(handler)
		for clientName, client := range map[string]func(ctx context.Context, url, city string) (weather, error){
			"before": clientBefore, "after": clientAfter,
		} {
			if w, err := client(t.Context(), web.URL, "Oslo"); err != nil || w.Celsius != 4 {
				t.Errorf("client %s, server %s: got %v and %v", clientName, serverName, w, err)
			}
			if _, err := client(t.Context(), web.URL, "Rome"); err == nil || !strings.Contains(err.Error(), "ask for Oslo") {
				t.Errorf("client %s, server %s: got %v, want the tool's error", clientName, serverName, err)
			}
		}
		web.Close()
	}
}
