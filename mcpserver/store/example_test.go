package store_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// Two handlers serve one session. For two processes, use the stores of package redisstore.
func ExampleSessions() {
	sessions, events := store.NewMemorySessions(), store.NewMemoryEvents(0, 0)
	serve := func(name string) *mcpserver.HTTPHandler {
		s := mcpserver.New(mcp.Implementation{Name: name, Version: "1.0"}, nil)
		tool := func(context.Context, struct{}) (string, error) { return "answered by " + name, nil }
		if err := mcpserver.AddTool(s, &mcp.Tool{Name: "who"}, tool); err != nil {
			panic(err)
		}
		return s.HTTPHandler(&mcpserver.HTTPOptions{Sessions: sessions, Events: events})
	}
	one, other := serve("one"), serve("the other")
	defer one.Shutdown(context.Background())
	defer other.Shutdown(context.Background())

	post := func(h http.Handler, session, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	w := post(one, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
		"capabilities":{},"clientInfo":{"name":"example","version":"1.0"}}}`)
	session := w.Header().Get("Mcp-Session-Id")
	for _, h := range []http.Handler{one, other} {
		fmt.Println(post(h, session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"who"}}`).Body)
	}
	// Output:
	// {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"answered by one"}]}}
	// {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"answered by the other"}]}}
}
