package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Limits on the processing time of any client, and on the memory in proportion to the bytes that it has sent.
const (
	anyLeave     = time.Minute // time until a client has disconnected, in virtual time
	anySlack     = time.Second
	anyReal      = 10 * time.Second // for all exchanges together, on a busy machine, in real time
	anyFrame     = 64 << 10         // the frame limit
	anyAllocated = 64 << 20         // bytes allocated in all exchanges together, including freed memory
	anyPerByte   = 64               // further bytes for each byte that clients sent
)

// FuzzAnyClient connects clients to the HTTP handler. They send random data at any speed and disconnect at any time.
// FuzzAnyClient checks that nothing panics, that each exchange ends when its client has disconnected, that the handler
// then still serves a correct client, and that the allocated memory is in proportion to the bytes received.
func FuzzAnyClient(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		rapid.MakeFuzz(func(r *rapid.T) { anyClient(t, r, drawVisits(r)) })(t, data)
	})
}

func TestAnyClient(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) { anyClient(t, r, drawVisits(r)) })
}

// visit is one HTTP request.
type visit struct {
	At     time.Duration // time since the previous visit
	Method string
	Query  string
	Header map[string]string // a value SESSION means the id of the latest session
	Body   string
	Length int64         // announced length; -1 for chunks
	Parts  int           // number of parts of the body
	Pause  time.Duration // before each part except the first
	Leave  time.Duration // time from the start of the visit to the disconnection
	Remote string
}

func drawVisits(r *rapid.T) []visit {
	return rapid.SliceOfN(rapid.Custom(drawVisit), 1, 8).Draw(r, "visits")
}

func drawVisit(r *rapid.T) visit {
	v := visit{
		At: rapid.SampledFrom([]time.Duration{0, 0, time.Millisecond, time.Second, time.Hour}).Draw(r, "at"),
		Method: rapid.SampledFrom([]string{"POST", "POST", "POST", "POST", "POST", "GET", "DELETE", "OPTIONS", "PUT"}).Draw(r,
			"method"),
		Query: rapid.SampledFrom([]string{"", "", "", "sessionId=SESSION", "x=%zz"}).Draw(r, "query"),
		Parts: rapid.SampledFrom([]int{1, 1, 1, 2, 20}).Draw(r, "parts"),
		Pause: rapid.SampledFrom([]time.Duration{0, time.Second, time.Hour}).Draw(r, "pause"),
		Leave: rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Second, anyLeave}).Draw(r, "leave"),
		Remote: rapid.SampledFrom([]string{"127.0.0.1:1", "192.0.2.1:2", "192.0.2.2:3", "[2001:db8::1]:4", ""}).Draw(r,
			"remote"),
	}
	version := rapid.SampledFrom([]string{"2026-07-28", "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26",
		"2024-11-05"}).Draw(r, "version")
	method := rapid.SampledFrom(slices.Sorted(maps.Keys(requests))).Draw(r, "request")
	v.Header = map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
	if rapid.IntRange(0, 3).Draw(r, "versioned") > 0 {
		v.Header["MCP-Protocol-Version"] = version
	}
	var params map[string]any
	if json.Unmarshal([]byte(requests[method]), &params) != nil {
		r.Fatalf("the params of %s are not JSON", method)
	}
	modern := version == "2026-07-28" && method != mcp.MethodInitialize
	if modern {
		v.Header["Mcp-Method"] = method
		if name, ok := params["name"].(string); ok {
			v.Header["Mcp-Name"] = name
		}
		if uri, ok := params["uri"].(string); ok {
			v.Header["Mcp-Name"] = uri
		}
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion": version, "progressToken": "p",
			"io.modelcontextprotocol/clientInfo": map[string]any{"name": "n", "version": "v"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{"form": map[string]any{}},
				"roots": map[string]any{}, "extensions": map[string]any{mcp.ExtensionTasks: map[string]any{}}},
		}
	} else if rapid.IntRange(0, 3).Draw(r, "in session") > 0 && method != mcp.MethodInitialize {
		v.Header["Mcp-Session-Id"] = "SESSION"
	}
	message := map[string]any{"jsonrpc": "2.0", "id": rapid.IntRange(1, 3).Draw(r, "id"), "method": method,
		"params": params}
	for range rapid.IntRange(0, 3).Draw(r, "changes") {
		changed(message, rapid.IntRange(0, 20).Draw(r, "at"), rapid.SampledFrom(clientMembers).Draw(r, "member"),
			anyJSON().Draw(r, "value"))
	}
	raw, err := json.Marshal(message)
	if err != nil {
		raw = []byte(`{}`)
	}
	v.Body = string(raw)
	switch rapid.IntRange(0, 12).Draw(r, "body") {
	case 0:
		v.Body = rapid.SampledFrom([]string{
			"", "{", "[]", "null", `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":1,"result":{}}`,
			`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, strings.Repeat("[",
				10_000), strings.Repeat(" ", anyFrame+1),
			"[" + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`,
				1000) + `{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		}).Draw(r, "raw")
	case 1:
		v.Header[rapid.SampledFrom([]string{
			"Mcp-Method", "Mcp-Name", "MCP-Protocol-Version", "Mcp-Session-Id", "Last-Event-ID", "Origin", "Accept",
			"Content-Type", "Content-Encoding", "Host",
			"Mcp-Param-Region", "Traceparent",
		}).Draw(r, "header")] = rapid.OneOf(rapid.SampledFrom([]string{
			"", "null", "*/*", "text/plain", "gzip", "2026-07-28", "SESSION", "0-0", "https://evil.example",
			"=?base64?SGVsbG8=?=", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		}), rapid.StringMatching(`[ -~]{0,40}`)).Draw(r, "header value")
	case 2:
		v.Body, v.Length = strings.Repeat(" ", 100), rapid.SampledFrom([]int64{-1, 0, 100, 1 << 40}).Draw(r, "length")
		return v
	}
	v.Length = int64(len(v.Body))
	return v
}

// requests are the params of valid requests, by method.
var requests = map[string]string{
	mcp.MethodInitialize: `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"roots":{},` +
		`"sampling":{}},"clientInfo":{"name":"n","version":"v"}}`,
	mcp.MethodDiscover:               `{}`,
	mcp.MethodPing:                   `{}`,
	mcp.MethodListTools:              `{}`,
	mcp.MethodCallTool:               `{"name":"echo","arguments":{"a":["b",1]}}`,
	mcp.MethodListResources:          `{}`,
	mcp.MethodReadResource:           `{"uri":"demo://x"}`,
	mcp.MethodListPrompts:            `{}`,
	mcp.MethodComplete:               `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"b"}}`,
	mcp.MethodSubscriptionsListen:    `{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["demo://x"]}}`,
	mcp.NotificationInitialized:      `{}`,
	mcp.NotificationCancelled:        `{"requestId":1}`,
	mcp.MethodGetTask:                `{"taskId":"t"}`,
	mcp.NotificationRootsListChanged: `{}`,
	mcp.MethodSetLevel:               `{"level":"debug"}`,
	mcp.MethodSubscribe:              `{"uri":"demo://x"}`,
	"acme/unknown":                   `{}`,
}

// clientMembers are names of JSON members that a server reads.
var clientMembers = []string{
	"jsonrpc", "id", "method", "params", "name", "uri", "arguments", "_meta", "progressToken", "cursor", "inputResponses",
	"requestState", "task", "ttl",
	"protocolVersion", "capabilities", "clientInfo", "io.modelcontextprotocol/protocolVersion",
	"io.modelcontextprotocol/clientInfo", "notifications",
	"resourceSubscriptions", "traceparent", "baggage", "result", "error", "level",
}

// anyJSON generates a JSON value.
func anyJSON() *rapid.Generator[any] {
	scalar := rapid.OneOf(rapid.SampledFrom([]any{
		nil, true, json.Number("0"), json.Number("1e400"), json.Number("1e-99999999"), "", "x", "slow", "ask", "task",
		"SESSION", "\u202e\x00", strings.Repeat("a", 5000),
		json.RawMessage(strings.Repeat(`[`, 300) + strings.Repeat(`]`, 300)), json.RawMessage(`[` + strings.Repeat(`{},`,
			3000) + `{}]`),
		json.RawMessage(`[` + strings.Repeat(`1e-300,`, 2000) + `1]`),
	}), rapid.Map(rapid.String(), func(s string) any { return s }))
	return rapid.OneOf(scalar,
		rapid.Map(rapid.SliceOfN(scalar, 0, 4), func(a []any) any { return a }),
		rapid.Map(rapid.MapOfN(rapid.OneOf(rapid.SampledFrom(clientMembers), rapid.String()), scalar, 0, 4),
			func(m map[string]any) any { return m }))
}

// changed returns m with another value, or with a new member, at the position at. The count starts in the outermost
// object.
func changed(m map[string]any, at int, member string, value any) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if at--; at == 0 {
			m[k] = value
			return
		}
		if inner, ok := m[k].(map[string]any); ok && at < len(inner) {
			changed(inner, at, member, value)
			return
		}
	}
	m[member] = value
}

// anyClient serves all visits, and then the request of a correct client.
func anyClient(t *testing.T, r *rapid.T, visits []visit) {
	began := time.Now()
	var sent int
	var err error
	bytes := heap.Allocated(func() {
		synctest.Test(t, func(t *testing.T) { sent, err = served(t, visits) })
	})
	if err != nil {
		r.Fatalf("%v: %+v", err, visits)
	}
	if took := time.Since(began); took > anyReal {
		r.Fatalf("the exchanges took %v: %+v", took, visits)
	}
	if bytes > anyAllocated+uint64(sent)*anyPerByte {
		r.Fatalf("%d bytes were allocated for %d that clients sent: %+v", bytes, sent, visits)
	}
}

func served(t *testing.T, visits []visit) (sent int, _ error) {
	s := strangelyUsed(t)
	h := s.HTTPHandler(&mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Requests: 8, Sessions: 3, Subscriptions: 2},
		Timeouts: mcpserver.HTTPTimeouts{Session: time.Minute}, AllowedHosts: []string{"*"}})
	door := &door{h: h}
	var all sync.WaitGroup
	for _, v := range visits {
		time.Sleep(v.At) // virtual time
		sent += len(v.Body)
		all.Go(func() { door.take(t.Context(), v) })
	}
	all.Wait()
	time.Sleep(time.Hour) // every time limit has passed
	honest := door.take(t.Context(), visit{
		Method: "POST", Length: -1, Parts: 1, Leave: anyLeave, Remote: "198.51.100.1:9",
		Header: map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"MCP-Protocol-Version": "2026-07-28",
			"Mcp-Method":           mcp.MethodCallTool, "Mcp-Name": "echo"},
		Body: asked(1, mcp.MethodCallTool, bothMetas, `"name":"echo","arguments":{"a":"b"}`),
	})
	if honest.Code != http.StatusOK || !strings.Contains(honest.Body.String(), `"content"`) {
		return 0, fmt.Errorf("a client that keeps to the protocol got %d %.300q", honest.Code, honest.Body)
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), anySlack)
	defer cancel()
	if err := h.Shutdown(ctx); err != nil {
		return 0, fmt.Errorf("Shutdown returned %v after %v", err, time.Since(begun))
	}
	return sent, door.failed
}

// strangelyUsed returns a server with features of every kind.
func strangelyUsed(t *testing.T) *mcpserver.Server {
	s := mcpserver.New(mcp.Implementation{Name: "test", Version: "1"},
		&mcpserver.Options{Limits: mcpserver.Limits{Frame: anyFrame}, Telemetry: telemetry.Off()})
	for name, handle := range map[string]mcpserver.ToolHandler{
		"echo": echo,
		"slow": func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"ask": func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			if _, err := r.ListRoots(ctx); err != nil {
				return nil, err
			}
			return echo(ctx, r)
		},
	} {
		if err := s.AddTool(&mcp.Tool{Name: name}, handle); err != nil {
			t.Fatal(err)
		}
	}
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: "task"},
		func(ctx context.Context, in map[string]any) (string, error) { return "done", nil },
		mcpserver.TaskTool()); err != nil {
		t.Fatal(err)
	}
	return s
}

// door serves visits like net/http.
type door struct {
	h http.Handler

	mu      sync.Mutex
	session string // guarded by mu; the latest session id
	failed  error  // guarded by mu
}

func (d *door) take(ctx context.Context, v visit) *httptest.ResponseRecorder {
	ctx, leave := context.WithTimeout(ctx, v.Leave)
	defer leave()
	d.mu.Lock()
	fill := strings.NewReplacer("SESSION", d.session)
	d.mu.Unlock()
	w := &line{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequestWithContext(ctx, v.Method, "http://localhost/mcp", nil)
	r.URL.RawQuery = fill.Replace(v.Query)
	r.RemoteAddr, r.ContentLength = v.Remote, v.Length
	r.Body = io.NopCloser(&slowBody{ctx: ctx, line: w, rest: fill.Replace(v.Body), parts: v.Parts, pause: v.Pause})
	for name, value := range v.Header {
		r.Header.Set(name, fill.Replace(value))
	}
	begun := time.Now()
	d.h.ServeHTTP(w, r)
	d.mu.Lock()
	defer d.mu.Unlock()
	if took := time.Since(begun); took > v.Leave+anySlack {
		d.failed = fmt.Errorf("an exchange took %v although its client left after %v", took, v.Leave)
	}
	if id := w.Header().Get("Mcp-Session-Id"); id != "" {
		d.session = id
	}
	return w.ResponseRecorder
}

// line is the connection of one exchange. It supports deadlines.
type line struct {
	*httptest.ResponseRecorder
	mu   sync.Mutex
	read time.Time // guarded by mu; the deadline
}

func (l *line) SetReadDeadline(at time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read = at
	return nil
}

func (l *line) SetWriteDeadline(time.Time) error { return nil }

func (l *line) deadline() (time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read, !l.read.IsZero()
}

// slowBody is a body that arrives in parts, with pauses between them.
type slowBody struct {
	ctx   context.Context
	line  *line
	rest  string
	parts int
	pause time.Duration
	begun bool
}

func (b *slowBody) Read(p []byte) (int, error) {
	if b.rest == "" {
		return 0, io.EOF
	}
	if b.begun {
		pause := time.NewTimer(b.pause)
		defer pause.Stop()
		ctx := b.ctx
		if at, ok := b.line.deadline(); ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, at)
			defer cancel()
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			if b.ctx.Err() == nil {
				return 0, &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}
			}
			return 0, io.ErrUnexpectedEOF
		}
	}
	b.begun = true
	n := copy(p, b.rest[:max(1, len(b.rest)/max(1, b.parts))])
	b.rest = b.rest[n:]
	b.parts--
	return n, nil
}
