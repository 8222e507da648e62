// Command client runs the client of the Go SDK: it connects, and for each line of standard input, {"tool": …,
// "arguments": …}, it lists the tools, calls that tool, and prints the outcome as one line of JSON.
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
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
	var progress atomic.Int64
	c := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1.8.0"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { progress.Add(1) },
	})
	t, err := transport(target, mode)
	if err != nil {
		return err
	}
	s, err := c.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: version(mode)})
	if err != nil {
		return err
	}
	defer s.Close()
	var closed atomic.Bool
	go func() {
		_ = s.Wait()
		closed.Store(true)
	}()
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var w wanted
		if err := in.Decode(&w); errors.Is(err, io.EOF) {
			return s.Close()
		} else if err != nil {
			return err
		}
		o := &outcome{Version: s.InitializeResult().ProtocolVersion}
		if info := s.InitializeResult().ServerInfo; info != nil {
			o.Server = info.Name
		}
		for t, err := range s.Tools(ctx, nil) {
			if err != nil {
				return err
			}
			o.Tools = append(o.Tools, t.Name)
		}
		o.call(ctx, s, w, &progress)
		o.Closed = closed.Load()
		if err := out.Encode(o); err != nil {
			return err
		}
	}
}

// call records the outcome of a call.
func (o *outcome) call(ctx context.Context, s *mcp.ClientSession, w wanted, progress *atomic.Int64) {
	p := &mcp.CallToolParams{Name: w.Tool, Arguments: w.Arguments}
	p.SetProgressToken("progress")
	r, err := s.CallTool(ctx, p)
	if err != nil {
		o.Error = err.Error()
		return
	}
	for w.Tool == "count" && progress.Load() < 3 && ctx.Err() == nil { // the SDK may still have notifications in a queue
		time.Sleep(time.Millisecond)
	}
	o.Structured, o.IsError, o.Progress = r.StructuredContent, r.IsError, progress.Load()
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			o.Text += text.Text
		}
	}
}

func transport(target, mode string) (mcp.Transport, error) {
	switch {
	case strings.HasPrefix(target, "["):
		var argv []string
		if err := json.Unmarshal([]byte(target), &argv); err != nil {
			return nil, err
		}
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stderr = os.Stderr
		return &mcp.CommandTransport{Command: cmd}, nil
	case mode == "sse":
		return &mcp.SSEClientTransport{Endpoint: target}, nil
	}
	return &mcp.StreamableClientTransport{Endpoint: target}, nil
}

// version returns the version that the client requests; empty makes it negotiate.
func version(mode string) string {
	switch mode {
	case "auto":
		return ""
	case "modern":
		return "2026-07-28"
	}
	return "2025-11-25"
}
