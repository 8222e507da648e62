package mcpgo_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/mcpotel/mcpotel/adapters/mcpgo"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func greet(_ context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText("Hello, " + q.GetString("name", "whoever you are")), nil
}

// A client and a server of mcp-go emit the spans of one trace, with one more line of code each.
func Example() {
	spans := tracetest.NewInMemoryExporter()
	tel := telemetry.New( // with a global provider and propagator, New() suffices
		telemetry.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))),
		telemetry.WithPropagators(propagation.TraceContext{}),
	)

	s := server.NewMCPServer("greeter", "1.0")
	s.AddTool(mcp.NewTool("greet", mcp.WithString("name")), greet)
	mcpgo.InstrumentServer(s, tel, "greeter")

	c := client.NewClient(mcpgo.WrapTransport(transport.NewInProcessTransport(s), tel, "greeter"))

	ctx := context.Background()
	if err := c.Start(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := c.Initialize(ctx, mcp.InitializeRequest{}); err != nil {
		log.Fatal(err)
	}
	call := mcp.CallToolRequest{}
	call.Params.Name, call.Params.Arguments = "greet", map[string]any{"name": "Ada"}
	if _, err := c.CallTool(ctx, call); err != nil {
		log.Fatal(err)
	}
	if err := c.Close(); err != nil {
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

func ExampleWrapTransport() {
	const url = "https://weather.example.com/mcp"
	http, err := transport.NewStreamableHTTP(url)
	if err != nil {
		log.Fatal(err)
	}
	c := client.NewClient(mcpgo.WrapTransport(http, telemetry.New(), "weather", mcpgo.WithEndpoint(url)))
	defer func() { _ = c.Close() }()
}

func ExampleInstrumentServer() {
	s := server.NewMCPServer("greeter", "1.0")
	mcpgo.InstrumentServer(s, telemetry.New(), "greeter")
	s.AddTool(mcp.NewTool("greet", mcp.WithString("name")), greet)

	if err := server.ServeStdio(s); err != nil {
		log.Fatal(err)
	}
}
