package mcpserver_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/sse"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// FuzzHTTP sends arbitrary requests. It replaces SESSION in the headers by the id of an open session.
func FuzzHTTP(f *testing.F) {
	const usual = "Content-Type: application/json\nAccept: application/json, text/event-stream\n"
	modern := usual + "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: query\n"
	f.Add("POST", "", usual, initialize)
	f.Add("POST", "", usual+"Mcp-Session-Id: SESSION\n", pingRequest)
	f.Add("POST", "", usual+"Mcp-Session-Id: SESSION\nMCP-Protocol-Version: 2025-03-26\n",
		`[`+legacySteps(1)+`,`+pingRequest+`,`+initialized+`]`)
	f.Add("POST", "", modern+"Mcp-Param-Region: =?base64?SGVsbG8=?=\n",
		asked(1, "tools/call", bothMetas, `"name":"query","arguments":{"region":"Hello"}`))
	f.Add("POST", "", strings.ReplaceAll(modern, "query", "steps"),
		asked(1, "tools/call", bothMetas+`,"progressToken":"p"`, stepsParams))
	f.Add("POST", "", usual+"MCP-Protocol-Version: 2026-07-28\nMcp-Method: subscriptions/listen\n",
		listenFor(1, allFilters))
	f.Add("POST", "sessionId=x", usual, initialized)
	f.Add("GET", "", "Accept: text/event-stream\n", "")
	f.Add("GET", "", "Accept: text/event-stream\nMcp-Session-Id: SESSION\nLast-Event-ID: 0-0\n", "")
	f.Add("DELETE", "", "Mcp-Session-Id: nobody\nOrigin: null\n", "")
	f.Fuzz(func(t *testing.T, method, query, headers, body string) {
		s := withTool(t, mcpserver.Options{Limits: mcpserver.Limits{Frame: 1 << 16}}, "query", echo)
		if err := mcpserver.AddTool(s, &mcp.Tool{Name: "steps"}, steps); err != nil {
			t.Fatal(err)
		}
		h := s.HTTPHandler(&mcpserver.HTTPOptions{Timeouts: mcpserver.HTTPTimeouts{Write: -1, Body: -1}})
		defer func() {
			if err := h.Shutdown(context.Background()); err != nil {
				t.Errorf("Shutdown returned %v, want nil", err)
			}
		}()
		opened := httptest.NewRecorder()
		h.ServeHTTP(opened, request(t, t.Context(), "POST", initializeAs("2025-03-26")))
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		r, err := http.NewRequestWithContext(ctx, "POST", "http://localhost/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Method, r.URL = method, &url.URL{Path: "/", RawQuery: query}
		for line := range strings.Lines(strings.ReplaceAll(headers, "SESSION", opened.Header().Get("Mcp-Session-Id"))) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			r.Header.Add(name, strings.TrimSpace(value))
		}
		w := &leaver{ResponseRecorder: httptest.NewRecorder(), leave: leave}
		h.ServeHTTP(w, r)
		checkResponse(t, w.ResponseRecorder)
	})
}

// leaver is a client that disconnects after it has read a part of a stream.
type leaver struct {
	*httptest.ResponseRecorder
	leave func()
}

func (w *leaver) Flush() { w.leave() }

// checkResponse checks that a client can process the response.
func checkResponse(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	body := w.Body.Bytes()
	switch w.Header().Get("Content-Type") {
	case "application/json":
		if err := jsonscan.Valid(body); err != nil {
			t.Errorf("the body %q is no JSON: %v", body, err)
		}
	case "text/event-stream":
		if w.Code != http.StatusOK {
			t.Errorf("a stream has status %d, want 200", w.Code)
		}
		events := sse.NewReader(strings.NewReader(string(body)), 1<<20, false)
		for e, err := events.Next(); err == nil; e, err = events.Next() {
			if e.Name == "endpoint" || len(e.Data) == 0 {
				continue
			}
			if err := jsonscan.Valid(e.Data); err != nil {
				t.Errorf("the event %q is no JSON: %v", e.Data, err)
			}
		}
	default:
		if len(body) > 0 {
			t.Errorf("the body %q has no type", body)
		}
	}
	known := []int{200, 202, 204, 400, 403, 404, 405, 406, 413, 415, 429, 503}
	if !slices.Contains(known, w.Code) {
		t.Errorf("status %d, want one of %v", w.Code, known)
	}
	if w.Code >= 400 && len(body) == 0 {
		t.Errorf("status %d has no body", w.Code)
	}
}
