// Command first calls a tool of the demo's server: the first program of docs/guides/getting-started.md.
//
//	go run ./examples/first
//
// docs:program
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	providers, err := otlp.Setup(ctx, otlp.WithServiceName("first"))
	if err != nil {
		return err
	}
	defer providers.Shutdown(ctx)

	server := transport.Stdio{Command: "mcpotel", Args: []string{"serve-demo"}}
	client, err := mcpclient.Connect(ctx, server, &mcpclient.Options{Telemetry: providers.Telemetry()})
	if err != nil {
		return err
	}
	defer client.Close()

	for tool, err := range client.Tools(ctx) {
		if err != nil {
			return err
		}
		fmt.Println(tool.Name)
	}
	result, err := client.CallTool(ctx, "forecast", map[string]any{"city": "Oslo"})
	if err != nil {
		return err
	}
	fmt.Println(result.Text())
	return nil
}

// docs:end
