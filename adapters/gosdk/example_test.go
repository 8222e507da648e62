package gosdk_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/mcpotel/mcpotel/adapters/gosdk"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

type greeting struct {
	Name string `json:"name"`
}

func greet(_ context.Context, _ *mcp.CallToolRequest, in greeting) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello, " + in.Name}}}, nil, nil
}

// A client and a server of the SDK emit the spans of one trace, with one more line of code each.
func Example() {
	spans := tracetest.NewInMemoryExporter()
	tel := telemetry.New( // with a global provider and propagator, New() suffices
		telemetry.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))),
		telemetry.WithPropagators(propagation.TraceContext{}),
	)

	server := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "greet"}, greet)
	gosdk.InstrumentServer(server, tel, "greeter")

	client := gosdk.InstrumentClient(mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1.0"}, nil), tel,
		"greeter")

	ctx := context.Background()
	there, here := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, there, nil); err != nil {
		log.Fatal(err)
	}
	session, err := client.Connect(ctx, here, nil)
	if err != nil {
		log.Fatal(err)
	}
	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "greet", Arguments: greeting{"Ada"}})
	if err != nil {
		log.Fatal(err)
	}
	if err := session.Close(); err != nil {
		log.Fatal(err)
	}

	for _, s := range spans.GetSpans() {
		if s.Name == "tools/call greet" {
			fmt.Printf("%v span %q, with a parent: %v\n", s.SpanKind, s.Name, s.Parent.IsValid())
		}
	}
	// Output:
	// server span "tools/call greet", with a parent: true
	// client span "tools/call greet", with a parent: false
}

func ExampleInstrumentClient() {
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1.0"}, nil)
	weather := gosdk.InstrumentClient(client, telemetry.New(), "weather")

	session, err := weather.Connect(ctx, &mcp.CommandTransport{Command: exec.Command("weather-server")}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = session.Close() }()
}

func ExampleInstrumentServer() {
	server := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1.0"}, nil)
	gosdk.InstrumentServer(server, telemetry.New(), "greeter")
	mcp.AddTool(server, &mcp.Tool{Name: "greet"}, greet)

	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}

func ExampleHTTPHandler() {
	server := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1.0"}, nil)
	gosdk.InstrumentServer(server, telemetry.New(), "greeter")
	handler := gosdk.HTTPHandler(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))

	log.Fatal(http.ListenAndServe("127.0.0.1:8080", handler)) // or otelhttp.NewHandler(handler, "mcp")
}
