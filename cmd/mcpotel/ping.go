package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
)

func newPing(s streams) *cobra.Command {
	var c connection
	return c.command(s, &cobra.Command{
		Use: "ping [flags]" + behind, Short: "check that a server answers, and measure how fast",
		Example: "mcpotel ping --url https://mcp.example.com/mcp\nmcpotel ping --config mcp.json --server github --json",
	}, c.runPing)
}

func (c *connection) runPing(ctx context.Context) error {
	return c.list(ctx, "ping", func(ctx context.Context, one *server) (listing, error) {
		begun := time.Now()
		if err := one.client.Ping(ctx); err != nil {
			return nil, err
		}
		took := time.Since(begun)
		info := one.client.ServerInfo()
		return &sign{
			Server: one.ofSeveral(), ServerInfo: info, Version: one.client.ProtocolVersion(),
			Milliseconds: float64(took.Microseconds()) / 1000,
		}, nil
	})
}

// sign is the answer of a server to a ping.
type sign struct {
	Server       string             `json:"server,omitzero"` // set if there are several servers
	ServerInfo   mcp.Implementation `json:"serverInfo"`
	Version      mcp.Version        `json:"protocolVersion"`
	Milliseconds float64            `json:"milliseconds"`
}

func (s *sign) json() any { return s }

func (s *sign) print(w io.Writer, label string) error {
	return printLine(w, fmt.Sprintf("%s%s answered in %v, protocol %s", label,
		visible.Line(s.ServerInfo.Name+" "+s.ServerInfo.Version),
		time.Duration(s.Milliseconds*float64(time.Millisecond)), s.Version))
}
