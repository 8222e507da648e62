package benchmarks

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// BenchmarkCachedList measures lists of tools from the client's cache.
func BenchmarkCachedList(b *testing.B) {
	for _, n := range []int{100, 1000} {
		for _, p := range []struct {
			name string
			tel  *telemetry.Telemetry
		}{{"ours", telemetry.New()}, {"absent", telemetry.Off()}} {
			b.Run(fmt.Sprintf("tools=%d/peer=%s", n, p.name), func(b *testing.B) {
				c := listing(b, p.tel, n)
				list := func() error {
					r, err := c.ListTools(b.Context(), nil)
					if err == nil && len(r.Tools) != n {
						err = errWrong
					}
					return err
				}
				if err := list(); err != nil {
					b.Fatal(err)
				}
				each(b, 0, list)
			})
		}
	}
}

// listing returns a client of an in-memory server with n tools, which the client may cache for an hour.
func listing(b *testing.B, tel *telemetry.Telemetry, n int) *mcpclient.Client {
	s := mcpserver.New(mcp.Implementation{Name: "many", Version: "1"}, &mcpserver.Options{Telemetry: telemetry.Off(),
		Cache: mcpserver.Cache{TTL: time.Hour}})
	for i := range n {
		tool := &mcp.Tool{Name: fmt.Sprint("tool-", i), Description: strings.Repeat("What it does. ", 10)}
		err := mcpserver.AddTool(s, tool,
			func(context.Context, listedPath) (string, error) { return "", nil })
		if err != nil {
			b.Fatal(err)
		}
	}
	c, err := mcpclient.Connect(b.Context(),
		transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) }),
		&mcpclient.Options{Telemetry: tel})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	return c
}

// listedPath is the type of the tools' arguments.
type listedPath struct {
	Path string `json:"path" jsonschema:"Where the file is, from the root of the workspace."`
	Line int    `json:"line,omitempty" jsonschema:"The first line to read, from 1."`
}
