// Command client drives the client of mcp-go once: it connects, lists the tools, calls one, and says on one line of
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

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
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
	c, err := newClient(url, mode)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var progress atomic.Int64
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/progress" {
			progress.Add(1)
		}
	})
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	var hello mcp.InitializeRequest
	hello.Params.ClientInfo = mcp.Implementation{Name: "mcp-go", Version: "1.2.1"}
	if mode == "modern" {
		hello.Params.ProtocolVersion = "2026-07-28"
	}
	info, err := c.Initialize(ctx, hello)
	if err != nil {
		return nil, err
	}
	o := &outcome{Version: info.ProtocolVersion, Server: info.ServerInfo.Name}
	list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	for _, t := range list.Tools {
		o.Tools = append(o.Tools, t.Name)
	}
	var call mcp.CallToolRequest
	call.Params.Name, call.Params.Arguments = tool, json.RawMessage(arguments)
	call.Params.Meta = &mcp.Meta{ProgressToken: "progress"}
	r, err := c.CallTool(ctx, call)
	if err != nil {
		return nil, err
	}
	for tool == "count" && progress.Load() < 3 && ctx.Err() == nil { // the SDK may still have them in a queue
		time.Sleep(time.Millisecond)
	}
	o.Structured, o.IsError, o.Progress = r.StructuredContent, r.IsError, progress.Load()
	for _, c := range r.Content {
		if text, ok := c.(mcp.TextContent); ok {
			o.Text += text.Text
		}
	}
	return o, nil
}

func newClient(url, mode string) (*client.Client, error) {
	if mode == "sse" {
		t, err := transport.NewSSE(url)
		return client.NewClient(t), err
	}
	t, err := transport.NewStreamableHTTP(url)
	if mode == "legacy" {
		return client.NewClient(t, client.WithLegacyProtocolOnly()), err
	}
	return client.NewClient(t), err
}
