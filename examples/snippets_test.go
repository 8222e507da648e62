package examples

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpotel/mcpotel/inspect/debugpage"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/auth"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// The code in README.md and docs. tools/snippets copies the lines between // docs:name and // docs:end.

func callOfTheREADME(ctx context.Context) (*mcp.CallToolResult, error) {
	// docs:connect
	client, err := mcpclient.Connect(ctx, transport.Stdio{Command: "weather-server"}, nil)
	if err != nil {
		return nil, err // after three attempts, with exit status and last output of the server
	}
	defer client.Close()

	result, err := client.CallTool(ctx, "forecast", map[string]any{"city": "Oslo"})
	// docs:end
	return result, err
}

func observedCallOfTheGuide(ctx context.Context, server transport.Transport) error {
	// docs:otlp
	providers, err := otlp.Setup(ctx)
	if err != nil {
		return err
	}
	defer providers.Shutdown(context.Background())
	client, err := mcpclient.Connect(ctx, server, &mcpclient.Options{Name: "weather", Telemetry: providers.Telemetry()})
	// docs:end
	if err != nil {
		return err
	}
	return client.Close()
}

func TestREADMEClientCallsATool(t *testing.T) {
	path := t.TempDir()
	if err := os.Symlink(filepath.Join(built, "server"), filepath.Join(path, "weather-server")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("OTEL_SDK_DISABLED", "true")
	result, err := callOfTheREADME(t.Context())
	var forecast struct {
		Celsius int `json:"celsius"`
	}
	if err == nil {
		err = result.Decode(&forecast)
	}
	if err != nil || forecast.Celsius != 4 {
		t.Errorf("got %+v and %v, want 4 degrees", forecast, err)
	}
	if err := observedCallOfTheGuide(t.Context(), transport.Stdio{Command: "weather-server"}); err != nil {
		t.Error(err)
	}
}

// serversOfTheREADME returns the servers in README.md that the client does not start.
func serversOfTheREADME() []transport.Transport {
	var all []transport.Transport
	{
		// docs:http
		server := &transport.HTTP{URL: "https://mcp.example.com/mcp"}
		// docs:end
		all = append(all, server)
	}
	{
		// docs:streams
		unix := transport.Network{Transport: "unix"}
		server := transport.StreamsFrom(unix, func(ctx context.Context) (io.ReadWriteCloser, error) {
			return new(net.Dialer).DialContext(ctx, "unix", "/run/files.sock")
		})
		// docs:end
		all = append(all, server)
	}
	return all
}

func authorizedServerOfTheREADME(dir string) (*transport.HTTP, error) {
	// docs:auth
	store, err := auth.NewFileStore(dir)
	if err != nil {
		return nil, err
	}
	authorizer, err := auth.New(&auth.Options{Interact: &auth.Loopback{}, Store: store}) // opens the browser
	if err != nil {
		return nil, err
	}
	server := &transport.HTTP{URL: "https://mcp.example.com/mcp", Authorizer: authorizer}
	// docs:end
	return server, authorizer.Close()
}

func TestClientAcceptsTheServersOfTheREADME(t *testing.T) {
	authorized, err := authorizedServerOfTheREADME(filepath.Join(t.TempDir(), "tokens"))
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range append(serversOfTheREADME(), authorized) {
		client, err := mcpclient.New(server, nil)
		if err != nil {
			t.Errorf("%s: %v", server.Name(), err)
			continue
		}
		if err := client.Close(); err != nil {
			t.Errorf("%s: %v", server.Name(), err)
		}
	}
}

type (
	Forecast struct{ Celsius int }
)

func lookup(_ context.Context, city string) (Forecast, error) {
	if city != "Oslo" {
		return Forecast{}, errors.New("ask for Oslo")
	}
	return Forecast{4}, nil
}

// docs:query

type Query struct {
	City string `json:"city" jsonschema:"the name of the city" keywords:"minLength=1"`
	Days int    `json:"days,omitzero" keywords:"minimum=1,maximum=14,default=3"`
}

// docs:end

func serverOfTheREADME(mux *http.ServeMux) (*mcpserver.Server, error) {
	// docs:server
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	forecast := &mcp.Tool{Name: "forecast", Description: "The weather of the next days."}
	err := mcpserver.AddTool(s, forecast, func(ctx context.Context, in Query) (Forecast, error) {
		return lookup(ctx, in.City)
	})
	if err != nil {
		return nil, err
	}
	mux.Handle("/mcp", s.HTTPHandler(nil)) // all revisions at one URL; or call s.ServeStdio(ctx)
	// docs:end
	// docs:trust
	mux.Handle("/internal/mcp", s.HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: true}))
	// docs:end
	// docs:debug
	mux.Handle("/debug/mcp/", debugpage.Handler(
		debugpage.WithTraceURL("http://localhost:16686/trace/{trace_id}"), // for example Jaeger
	))
	// docs:end
	return s, nil
}

func TestREADMEServerAnswers(t *testing.T) {
	mux := http.NewServeMux()
	s, err := serverOfTheREADME(mux)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(mux)
	defer web.Close()
	client, err := mcpclient.Connect(t.Context(), &transport.HTTP{URL: web.URL + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := mcpclient.CallToolAs[Forecast](t.Context(), client, "forecast", Query{City: "Oslo"})
	if err != nil || got.Celsius != 4 {
		t.Errorf("got %+v and %v, want 4 degrees", got, err)
	}
	page, err := http.Get(web.URL + "/debug/mcp/")
	if err != nil || page.StatusCode != http.StatusOK {
		t.Errorf("the debug page: got %v and %v", page, err)
	} else {
		_ = page.Body.Close()
	}
	if err := errors.Join(client.Close(), s.Shutdown(t.Context())); err != nil {
		t.Error(err)
	}
}
