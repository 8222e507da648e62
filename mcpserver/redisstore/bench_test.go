package redisstore_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// BenchmarkCall measures a tool call in a legacy session over HTTP: with the answer as JSON, and with a progress
// notification and the answer on a stream.
func BenchmarkCall(b *testing.B) {
	for _, kind := range []string{"json", "stream"} {
		for name, options := range map[string]func(b *testing.B) *mcpserver.HTTPOptions{
			"none": func(*testing.B) *mcpserver.HTTPOptions { return nil },
			"memory": func(*testing.B) *mcpserver.HTTPOptions {
				return &mcpserver.HTTPOptions{Sessions: store.NewMemorySessions(), Events: store.NewMemoryEvents(0, 0)}
			},
			"redis": func(b *testing.B) *mcpserver.HTTPOptions {
				store, _ := open(b, nil)
				return &mcpserver.HTTPOptions{Sessions: store.Sessions(), Events: store.Events()}
			},
		} {
			b.Run("answer="+kind+"/store="+name, func(b *testing.B) { benchmarkCall(b, options(b), kind == "stream") })
		}
	}
}

func benchmarkCall(b *testing.B, o *mcpserver.HTTPOptions, stream bool) {
	s := mcpserver.New(mcp.Implementation{Name: "bench", Version: "1"}, &mcpserver.Options{Telemetry: telemetry.Off()})
	err := s.AddTool(&mcp.Tool{Name: "echo"},
		func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text("hello")}}, r.Progress(ctx, 1, 0, "")
		})
	if err != nil {
		b.Fatal(err)
	}
	h := s.HTTPHandler(o)
	srv := httptest.NewServer(h)
	b.Cleanup(func() {
		if err := h.Shutdown(context.Background()); err != nil {
			b.Error(err)
		}
		srv.Close()
	})
	session := ""
	post := func(body string) {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, srv.URL, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		resp, err := srv.Client().Do(r)
		if err != nil {
			b.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode >= 300 {
			b.Fatalf("status %d: %s, %v", resp.StatusCode, text, err)
		}
		session = resp.Header.Get("Mcp-Session-Id") + session
	}
	post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"b","version":"1"}}}`)
	post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	meta := `{}`
	if stream {
		meta = `{"progressToken":1}`
	}
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":` + meta + `,"name":"echo","arguments":{}}}`
	for b.Loop() {
		post(call)
	}
}
