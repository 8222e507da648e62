// Command client drives the client of the Go SDK once: it connects, lists the tools, calls one, and says on one line of
// JSON what came of it.
//
//	client URL auto|legacy|modern|sse TOOL ARGUMENTS
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	o, err := drive(ctx, os.Args[1], os.Args[2], os.Args[3], os.Args[4])
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
		log.Fatal(err)
	}
}

type outcome struct {
	Version    string   `json:"version"`
	Server     string   `json:"server"`
	Tools      []string `json:"tools"`
	Text       string   `json:"text"`
	Structured any      `json:"structured,omitempty"`
	IsError    bool     `json:"isError"`
	Progress   int64    `json:"progress"`
}

func drive(ctx context.Context, url, mode, tool, arguments string) (*outcome, error) {
	var progress atomic.Int64
	c := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1.8.0"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { progress.Add(1) },
	})
	s, err := c.Connect(ctx, transport(url, mode), &mcp.ClientSessionOptions{ProtocolVersion: version(mode)})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	o := &outcome{Version: s.InitializeResult().ProtocolVersion}
	if info := s.InitializeResult().ServerInfo; info != nil {
		o.Server = info.Name
	}
	for t, err := range s.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		o.Tools = append(o.Tools, t.Name)
	}
	p := &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}
	p.SetProgressToken("progress")
	r, err := s.CallTool(ctx, p)
	if err != nil {
		return nil, err
	}
	for tool == "count" && progress.Load() < 3 && ctx.Err() == nil { // the SDK may still have them in a queue
		time.Sleep(time.Millisecond)
	}
	o.Structured, o.IsError, o.Progress = r.StructuredContent, r.IsError, progress.Load()
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			o.Text += text.Text
		}
	}
	return o, s.Close()
}

func transport(url, mode string) mcp.Transport {
	if mode == "sse" {
		return &mcp.SSEClientTransport{Endpoint: url}
	}
	return &mcp.StreamableClientTransport{Endpoint: url}
}

// version is what the client asks for; empty lets it find out.
func version(mode string) string {
	switch mode {
	case "auto":
		return ""
	case "modern":
		return "2026-07-28"
	}
	return "2025-11-25"
}
