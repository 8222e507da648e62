package benchmarks

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// BenchmarkIdleClient measures the memory of many idle clients.
func BenchmarkIdleClient(b *testing.B) {
	workload.Idles(b, workload.Floor, workload.FloorJSON, workload.Ours)
}

// BenchmarkIdleAsUsed measures the memory of many clients immediately after typical use.
func BenchmarkIdleAsUsed(b *testing.B) {
	workload.IdlesAsUsed(b, workload.Floor, workload.FloorJSON, workload.Ours)
}

// BenchmarkIdleServer measures the memory of many idle sessions of one server.
func BenchmarkIdleServer(b *testing.B) {
	workload.IdleServers(b, workload.FloorServer, workload.FloorJSONServer, workload.OursServer)
}

// BenchmarkIdleServerHTTP measures the memory of many legacy sessions over HTTP that have made one call and have no
// open stream. The handler is called without a network. A floor would need no memory.
func BenchmarkIdleServerHTTP(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("transport=httpjson/era=%s/clients=%d/peer=ours", workload.Legacy, n), func(b *testing.B) {
			s := mcpserver.New(mcp.Implementation{Name: "ours", Version: "1.0"}, &mcpserver.Options{Telemetry: telemetry.New()})
			err := s.AddTool(&mcp.Tool{Name: workload.TinyTool},
				func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
					return nil, nil
				})
			if err != nil {
				b.Fatal(err)
			}
			// one account may have half of the sessions
			h := s.HTTPHandler(&mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Sessions: 2 * n}})
			defer h.Shutdown(context.Background())
			workload.Idle(b, n, func() (func() error, error) { return webSession(h) })
		})
	}
}

// webSession opens a session and makes a call.
func webSession(h http.Handler) (stop func() error, err error) {
	opened, err := ask(h, http.MethodPost, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+
		`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	if err != nil {
		return nil, err
	}
	id := opened.Get("Mcp-Session-Id")
	if id == "" {
		return nil, fmt.Errorf("no session: %w", errWrong)
	}
	for _, message := range []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + workload.TinyTool + `"}}`,
	} {
		if _, err := ask(h, http.MethodPost, id, message); err != nil {
			return nil, err
		}
	}
	return func() error {
		_, err := ask(h, http.MethodDelete, id, "")
		return err
	}, nil
}

// ask sends one request to a handler.
func ask(h http.Handler, method, session, body string) (http.Header, error) {
	r := httptest.NewRequest(method, "http://localhost/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
		r.Header.Set("Mcp-Protocol-Version", string(workload.Legacy))
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code/100 != 2 {
		return nil, fmt.Errorf("%s %s: status %d, %s", method, body, w.Code, w.Body)
	}
	return w.Header(), nil
}
