package audit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/audit"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func Example() {
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := audited(filepath.Join(dir, "audit.jsonl"), []byte("32 bytes of secret, random data.")); err != nil {
		fmt.Println(err)
	}
	// Output: called
}

// audited serves a tool and calls it, with an audit of the client.
func audited(file string, key []byte) (err error) {
	s := mcpserver.New(mcp.Implementation{Name: "shop", Version: "1"}, nil)
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: "buy"},
		func(context.Context, struct{}) (string, error) { return "called", nil }); err != nil {
		return err
	}
	server := transport.InMemory(func(ctx context.Context, p *transport.Peer) { _ = s.Serve(ctx, p) })
	ctx := context.Background()
	// docs:open
	log, err := audit.Open(file, key) // package mcpclient/telemetry/audit
	if err != nil {
		return err
	}
	defer log.Close() // after all clients and servers
	client, err := mcpclient.Connect(ctx, server, &mcpclient.Options{
		Telemetry: telemetry.New(telemetry.WithAudit(log)),
	})
	// docs:end
	if err != nil {
		return err
	}
	defer client.Close()
	r, err := client.CallTool(ctx, "buy", nil)
	if err != nil {
		return err
	}
	fmt.Println(r.Content[0].(*mcp.TextContent).Text)
	return nil
}
