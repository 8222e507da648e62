// Command client runs the client of mcp-go: it connects, and for each line of standard input, {"tool": …, "arguments":
// …}, it lists the tools, calls that tool, and prints the outcome as one line of JSON.
//
//	client TARGET auto|legacy|modern|sse
//
// TARGET is a URL, or a JSON array: the command of a server on standard input and output.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := drive(ctx, os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

type wanted struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

type outcome struct {
	Version    string   `json:"version"`
	Server     string   `json:"server"`
	Tools      []string `json:"tools"`
	Text       string   `json:"text"`
	Structured any      `json:"structured,omitempty"`
	IsError    bool     `json:"isError"`
	Progress   int64    `json:"progress"`
	Error      string   `json:"error,omitempty"`
	Closed     bool     `json:"closed"`
}

func drive(ctx context.Context, target, mode string) error {
	c, err := newClient(target, mode)
	if err != nil {
		return err
	}
	defer c.Close()
	var progress atomic.Int64
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/progress" {
			progress.Add(1)
		}
	})
	var closed atomic.Bool
	c.OnConnectionLost(func(error) { closed.Store(true) })
	if err := c.Start(ctx); err != nil {
		return err
	}
	var hello mcp.InitializeRequest
	hello.Params.ClientInfo = mcp.Implementation{Name: "mcp-go", Version: "1.2.1"}
	if mode == "modern" {
		hello.Params.ProtocolVersion = "2026-07-28"
	}
	info, err := c.Initialize(ctx, hello)
	if err != nil {
		return err
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var w wanted
		if err := in.Decode(&w); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		o := &outcome{Version: info.ProtocolVersion, Server: info.ServerInfo.Name}
		list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
		if err != nil {
			return err
		}
		for _, t := range list.Tools {
			o.Tools = append(o.Tools, t.Name)
		}
		o.call(ctx, c, w, &progress)
		o.Closed = closed.Load()
		if err := out.Encode(o); err != nil {
			return err
		}
	}
}

// call records the outcome of a call.
func (o *outcome) call(ctx context.Context, c *client.Client, w wanted, progress *atomic.Int64) {
	var call mcp.CallToolRequest
	call.Params.Name, call.Params.Arguments = w.Tool, w.Arguments
	call.Params.Meta = &mcp.Meta{ProgressToken: "progress"}
	r, err := c.CallTool(ctx, call)
	if err != nil {
		o.Error = err.Error()
		return
	}
	for w.Tool == "count" && progress.Load() < 3 && ctx.Err() == nil { // the SDK may still have notifications in a queue
		time.Sleep(time.Millisecond)
	}
	o.Structured, o.IsError, o.Progress = r.StructuredContent, r.IsError, progress.Load()
	for _, c := range r.Content {
		if text, ok := c.(mcp.TextContent); ok {
			o.Text += text.Text
		}
	}
}

func newClient(target, mode string) (*client.Client, error) {
	var options []client.ClientOption
	if mode == "legacy" {
		options = append(options, client.WithLegacyProtocolOnly())
	}
	switch {
	case strings.HasPrefix(target, "["):
		var argv []string
		if err := json.Unmarshal([]byte(target), &argv); err != nil {
			return nil, err
		}
		return client.NewClient(transport.NewStdio(argv[0], nil, argv[1:]...), options...), nil
	case mode == "sse":
		t, err := transport.NewSSE(target)
		return client.NewClient(t), err
	}
	t, err := transport.NewStreamableHTTP(target)
	return client.NewClient(t, options...), err
}
