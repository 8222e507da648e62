package benchmarks

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// BenchmarkListTools lists 1,000 tools, which the server sends each time or the client has in its cache, in programs
// without telemetry, without an SDK and with one.
func BenchmarkListTools(b *testing.B) {
	for _, kept := range []struct {
		name string
		ttl  time.Duration
	}{{"fresh", 0}, {"cached", time.Hour}} {
		for _, in := range []struct {
			name string
			tel  func(*testing.B) *telemetry.Telemetry
		}{
			{"absent", func(*testing.B) *telemetry.Telemetry { return telemetry.Off() }},
			{"no-sdk", func(*testing.B) *telemetry.Telemetry { return telemetry.New() }},
			{"unsampled", func(b *testing.B) *telemetry.Telemetry { return sdk(b, trace.NeverSample()) }},
		} {
			b.Run(kept.name+"/"+in.name, func(b *testing.B) {
				c := listing(b, in.tel(b), kept.ttl)
				list := func() {
					if r, err := c.ListTools(b.Context(), nil); err != nil || len(r.Tools) != 1000 {
						b.Fatal(len(r.Tools), err)
					}
				}
				list()
				b.ReportAllocs()
				for b.Loop() {
					list()
				}
			})
		}
	}
}

// listing returns a client of a server with 1,000 tools, in memory.
func listing(b *testing.B, tel *telemetry.Telemetry, ttl time.Duration) *mcpclient.Client {
	s := mcpserver.New(mcp.Implementation{Name: "many", Version: "1"}, &mcpserver.Options{Telemetry: telemetry.Off(),
		Cache: mcpserver.Cache{TTL: ttl}})
	for i := range 1000 {
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

// listedPath are the arguments of the tools.
type listedPath struct {
	Path string `json:"path" jsonschema:"Where the file is, from the root of the workspace."`
	Line int    `json:"line,omitempty" jsonschema:"The first line to read, from 1."`
}
