package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// A routing proxy must send the requests about a task to the server that has the task. (extension
// io.modelcontextprotocol/tasks, "Streamable HTTP: Routing Headers")
func TestTaskRequestsHaveTaskIDInHeaders(t *testing.T) {
	const state = `{"resultType":%q,"taskId":"tâche 1","status":%q,"createdAt":"","lastUpdatedAt":"","ttlMs":null,` +
		`"pollIntervalMs":0%s}`
	var mu sync.Mutex
	var got []string
	results := map[string]string{
		mcp.MethodDiscover: `{"resultType":"complete","supportedVersions":["2026-07-28"],"ttlMs":0,"cacheScope":"private",` +
			`"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`,
		mcp.MethodCallTool:   fmt.Sprintf(state, "task", "working", ""),
		mcp.MethodGetTask:    fmt.Sprintf(state, "complete", "working", ""),
		mcp.MethodUpdateTask: `{"resultType":"complete"}`,
		mcp.MethodCancelTask: `{"resultType":"complete"}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&request)
		mu.Lock()
		got = append(got, r.Header.Get("Mcp-Method")+" "+r.Header.Get("Mcp-Name"))
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, results[request.Method])
	}))
	defer server.Close()
	c, err := mcpclient.Connect(t.Context(), &transport.HTTP{URL: server.URL}, &mcpclient.Options{
		Versions: []mcp.Version{mcp.Version20260728}, RequestTimeout: time.Minute,
		Features: []mcpclient.Feature{mcpclient.UseTasks(nil)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	task, err := c.StartTool(t.Context(), "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := task.Poll(t.Context()); err != nil {
		t.Error(err)
	}
	if err := task.Update(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if err := task.Cancel(t.Context()); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	const name = "=?base64?dMOiY2hlIDE=?="
	want := "server/discover , tools/call x, tasks/get " + name + ", tasks/update " + name + ", tasks/cancel " + name
	if got := strings.Join(got, ", "); got != want {
		t.Errorf("the headers were %q, want %q", got, want)
	}
}

// The answer to an abandoned call still arrives and contains a task.
func TestLateTaskOverHTTPIsCancelled(t *testing.T) {
	const task = `{"taskId":"t1","status":"working","createdAt":"2026-08-01T10:00:00Z",` +
		`"lastUpdatedAt":"2026-08-01T10:00:00Z","ttl":null}`
	called, left, cancelled := make(chan struct{}), make(chan struct{}), make(chan string, 10)
	results := map[string]string{
		mcp.MethodInitialize: `{"protocolVersion":"2025-11-25","serverInfo":{"name":"s","version":"1"},` +
			`"capabilities":{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}}`,
		mcp.MethodListTools: `{"tools":[{"name":"slow","inputSchema":{"type":"object"},` +
			`"execution":{"taskSupport":"required"}}]}`,
		mcp.MethodCallTool:   `{"task":` + task + `}`,
		mcp.MethodCancelTask: task,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params mcp.TaskParams
		}
		if json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
			if m.Method == mcp.NotificationCancelled {
				cancelled <- m.Method
			}
			w.WriteHeader(http.StatusAccepted)
			return
		}
		switch m.Method {
		case mcp.MethodCallTool:
			close(called)
			<-left
		case mcp.MethodCancelTask:
			cancelled <- m.Method + " " + m.Params.TaskID
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, results[m.Method])
	}))
	defer s.Close()
	c, err := mcpclient.Connect(t.Context(), &transport.HTTP{URL: s.URL}, &mcpclient.Options{
		Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}, Versions: []mcp.Version{mcp.Version20251125},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-called
		cancel()
	}()
	if _, err := c.CallTool(ctx, "slow", nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want the caller's cancellation", err)
	}
	close(left)
	if got := <-cancelled; got != mcp.MethodCancelTask+" t1" {
		t.Errorf("the server got %q, want only the cancellation of the task", got)
	}
}
