package mcpserver_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// operation is a kind of request that servers handle.
type operation struct {
	name, method string
	params       string // members of the params
	target       string // value of the header Mcp-Name, empty for none
	unknown      string // members with an unknown name; empty if the method has no target
	invalid      string // members with invalid params; empty for none
	tool, typed  bool
	inline       bool // the goroutine that reads the connection handles the request
	only         mcp.Era
}

var operations = []operation{
	{name: "typed tool", method: mcp.MethodCallTool, params: `"name":"typed","arguments":{}`, target: "typed",
		unknown: `"name":"none","arguments":{}`, invalid: `"name":"typed","arguments":[]`, tool: true, typed: true},
	{name: "raw tool", method: mcp.MethodCallTool, params: `"name":"raw"`, target: "raw",
		invalid: `"name":"raw","arguments":1`, tool: true},
	{name: "task tool", method: mcp.MethodCallTool, params: `"name":"task","arguments":{}`, target: "task", tool: true},
	{name: "prompt", method: mcp.MethodGetPrompt, params: `"name":"prompt"`, target: "prompt", unknown: `"name":"none"`,
		invalid: `"name":"prompt","arguments":[]`},
	{name: "resource", method: mcp.MethodReadResource, params: `"uri":"file:///one"`, target: "file:///one",
		unknown: `"uri":"file:///none"`},
	{name: "template", method: mcp.MethodReadResource, params: `"uri":"file:///many/1"`, target: "file:///many/1"},
	{name: "completion", method: mcp.MethodComplete, unknown: completing1("none"), params: completing1("prompt"),
		invalid: `"ref":1`},
	{name: "tools/list", method: mcp.MethodListTools, invalid: `"cursor":"%"`},
	{name: "prompts/list", method: mcp.MethodListPrompts, invalid: `"cursor":"%"`},
	{name: "resources/list", method: mcp.MethodListResources, invalid: `"cursor":"%"`},
	{name: "templates", method: mcp.MethodListResourceTemplates, invalid: `"cursor":"%"`},
	{name: "subscription", method: mcp.MethodSubscriptionsListen, params: `"notifications":{"toolsListChanged":true}`,
		invalid: `"notifications":1`, only: mcp.Modern},
	{name: "watch", method: mcp.MethodSubscribe, params: `"uri":"file:///one"`, unknown: `"uri":"file:///none"`,
		inline: true, only: mcp.Legacy},
	{name: "ping", method: mcp.MethodPing, inline: true, only: mcp.Legacy},
	{name: "own method", method: "example.com/do"},
}

func completing1(prompt string) string {
	return `"ref":{"type":"ref/prompt","name":"` + prompt + `"},"argument":{"name":"a","value":""}`
}

// wanted is the expected telemetry of one request. A zero level means no record above Debug.
type wanted struct {
	errorType string
	level     slog.Level
}

const silent = slog.LevelDebug

// misfortune is a way in which a request can end.
type misfortune struct {
	name    string
	do      func(ctx context.Context) error // behaviour of the handler; nil for success
	params  func(operation) string          // replaces the operation's params; empty if the misfortune does not apply
	options mcpserver.Options
	act     func(road)                    // events while the request is handled
	busy    bool                          // another request occupies the only place
	skip    func(operation, journey) bool // reports whether the misfortune is impossible in this case
	want    func(operation, journey) wanted
}

func always(errorType string, level slog.Level) func(operation, journey) wanted {
	return func(operation, journey) wanted { return wanted{errorType, level} }
}

func untilDone(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

func inline(o operation, _ journey) bool { return o.inline }

var errOwn = errors.New("no such city")

var misfortunes = []misfortune{
	{name: "none", want: always("", silent)},
	{name: "JSON-RPC error", do: func(context.Context) error { return &mcp.Error{Code: -100, Message: "no"} },
		want: always("-100", slog.LevelWarn)},
	{name: "error", do: func(context.Context) error { return errOwn }, want: func(o operation, _ journey) wanted {
		if o.tool {
			return wanted{"tool_error", slog.LevelInfo}
		}
		return wanted{"-32603", slog.LevelError}
	}},
	{name: "invalid output", do: func(context.Context) error { return errOutput },
		skip: func(o operation, _ journey) bool { return !o.typed }, want: always("-32603", slog.LevelError)},
	{name: "panic", do: func(context.Context) error { panic("oops") }, want: always("-32603", slog.LevelError)},
	{name: "Goexit", do: func(context.Context) error { runtime.Goexit(); return nil },
		want: always("-32603", slog.LevelError)},
	{name: "timeout", do: untilDone, options: mcpserver.Options{RequestTimeout: time.Second},
		want: always("timeout", slog.LevelWarn)},
	{name: "timeout, told otherwise", do: func(ctx context.Context) error { <-ctx.Done(); return errOwn },
		options: mcpserver.Options{RequestTimeout: time.Second}, want: always("timeout", slog.LevelWarn)},
	{name: "cancelled", do: untilDone, act: road.cancel, skip: inline, want: always("cancelled", silent)},
	{name: "client leaves", do: untilDone, act: road.leave, skip: inline, want: func(_ operation, j journey) wanted {
		if j.http && j.era == mcp.Modern { // a modern client cancels its request by disconnecting
			return wanted{"cancelled", silent}
		}
		return wanted{"connection_lost", slog.LevelWarn}
	}},
	{name: "connection breaks", do: untilDone, act: road.reset,
		skip: func(o operation, j journey) bool { return o.inline || j.http },
		want: always("connection_lost", slog.LevelWarn)},
	{name: "server stops", do: untilDone, act: road.stop, skip: inline, want: always("shutdown", slog.LevelWarn)},
	{name: "server stops, told otherwise", do: func(ctx context.Context) error { <-ctx.Done(); return errOwn },
		act: road.stop, skip: inline, want: always("shutdown", slog.LevelWarn)},
	{name: "overloaded", busy: true, options: mcpserver.Options{Limits: mcpserver.Limits{Total: 1, Concurrent: 1,
		Queued: -1}},
		skip: inline, want: always("overloaded", slog.LevelWarn)},
	{name: "too often", busy: true, options: mcpserver.Options{Rates: mcpserver.Rates{
		ToolCalls: mcpserver.Rate{PerSecond: 0.001, Burst: 1}}},
		skip: func(o operation, _ journey) bool { return !o.tool }, want: always("rate_limited", slog.LevelWarn)},
	{name: "unknown name", params: func(o operation) string { return o.unknown }, want: always("", silent)},
	{name: "invalid params", params: func(o operation) string { return o.invalid }, want: always("", silent)},
}

var errOutput = errors.New("output that does not fit")

// journey is a way in which a request reaches the server.
type journey struct {
	name string
	era  mcp.Era
	http bool
}

var journeys = []journey{
	{"pipe, legacy", mcp.Legacy, false}, {"pipe, modern", mcp.Modern, false},
	{"HTTP, legacy", mcp.Legacy, true}, {"HTTP, modern", mcp.Modern, true},
}

// road is a connection of a client. Its methods return when the server is idle.
type road interface {
	send(o operation, id int, params string)
	cancel() // cancels request 7
	leave()  // disconnects in the regular way
	reset()
	stop() // stops the server at once
	end()
}

// TestEveryRequestOutcomeIsObservedOnce combines each kind of request, each outcome and each transport. It checks that
// there is one span with the right error.type and status, one measurement of the duration, and at most one record
// above Debug.
func TestEveryRequestOutcomeIsObservedOnce(t *testing.T) {
	for _, o := range operations {
		for _, m := range misfortunes {
			for _, j := range journeys {
				params := cmp.Or(o.params, `"x":1`)
				if m.params != nil {
					params = m.params(o)
				}
				if params == "" || o.only != j.era && o.only != 0 || m.skip != nil && m.skip(o, j) {
					continue
				}
				t.Run(o.name+"/"+m.name+"/"+j.name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { endsAs(t, o, m, j, params, m.want(o, j)) })
				})
			}
		}
	}
}

func endsAs(t *testing.T, o operation, m misfortune, j journey, params string, want wanted) {
	rec := telemetrytest.Recorder(t, telemetry.WithAudit(auditLog(t)))
	options := m.options
	options.Telemetry = rec.Telemetry()
	release := make(chan struct{})
	r := j.to(t, failing(t, o, m, options, release))
	if m.busy {
		r.send(operation{method: mcp.MethodCallTool, target: "block"}, 6, `"name":"block"`)
	}
	r.send(o, 7, params)
	if m.act != nil {
		m.act(r)
	}
	time.Sleep(10 * time.Second)
	close(release)
	r.end()
	var spans []trace.ReadOnlySpan
	for _, s := range rec.Spans() {
		if s.SpanKind() == oteltrace.SpanKindServer && attributeOf(s, "jsonrpc.request.id") == "7" {
			spans = append(spans, s)
		}
	}
	if len(spans) != 1 {
		t.Fatalf("the request has %d SERVER spans, want 1", len(spans))
	}
	span := spans[0]
	status := codes.Unset
	if want.errorType != "" {
		status = codes.Error
	}
	if got := attributeOf(span, "error.type"); got != want.errorType || span.Status().Code != status {
		t.Errorf("the span has error.type %q and the status %v, want %q and %v", got, span.Status().Code, want.errorType,
			status)
	}
	measured := uint64(0)
	method := attributeOf(span, "mcp.method.name")
	for _, p := range rec.Points("mcp.server.operation.duration", "mcp.method.name", method) {
		if v, _ := p.Attrs.Value("error.type"); v.String() == want.errorType {
			measured += p.Count
		}
	}
	if m.busy && want.errorType == "" {
		measured--
	}
	if measured != 1 {
		t.Errorf("the duration was recorded %d times with error.type %q, want once", measured, want.errorType)
	}
	var records []string
	for _, l := range rec.Logs("") {
		if l.Level >= slog.LevelInfo && l.Span.Equal(span.SpanContext()) && !strings.Contains(l.Message, "stream") &&
			l.Message != names.EventMCPServerAuditCall {
			records = append(records, fmt.Sprint(l.Level, " ", l.Message))
			if l.Level != want.level {
				t.Errorf("the record %s is at %v, want %v", l.Message, l.Level, want.level)
			}
		}
	}
	if wantRecords := min(1, int(want.level-silent)); len(records) != wantRecords {
		t.Errorf("the records are %q, want %d", records, wantRecords)
	}
	theOneAuditRecord(t, rec, o, m)
}

// theOneAuditRecord checks that only a call of a tool has an audit record, with the right outcome.
func theOneAuditRecord(t *testing.T, rec *telemetrytest.Recording, o operation, m misfortune) {
	t.Helper()
	var got []string
	for _, r := range rec.Logs(names.EventMCPServerAuditCall) {
		if r.Text(names.KeyJSONRPCRequestID) == "7" {
			got = append(got, r.Text(names.KeyMCPServerAuditOutcome))
		}
	}
	var want []string
	if o.tool {
		want = []string{names.AuditMayHaveRun}
		switch m.name {
		case "none", "error":
			want = []string{names.AuditRan}
		case "overloaded", "too often", "unknown name", "invalid params":
			want = []string{names.AuditDidNotRun}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the audit records have the outcomes %q, want %q", got, want)
	}
}

func attributeOf(s trace.ReadOnlySpan, key string) string {
	for _, a := range s.Attributes() {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

// failing returns a server whose handlers of an operation fail in a given way.
func failing(
	t *testing.T, o operation, m misfortune, options mcpserver.Options, release chan struct{},
) *mcpserver.Server {
	t.Helper()
	do := func(ctx context.Context) error {
		if m.do == nil {
			return nil
		}
		return m.do(ctx)
	}
	options.Capabilities = mcp.ServerCapabilities{Resources: &mcp.ResourcesCapability{Subscribe: true}}
	options.Middleware = []func(mcpserver.RequestHandler) mcpserver.RequestHandler{
		func(next mcpserver.RequestHandler) mcpserver.RequestHandler {
			return func(ctx context.Context, r *mcpserver.Request) (any, error) {
				if r.Method == o.method && o.own() {
					if err := do(ctx); err != nil {
						return nil, err
					}
				}
				return next(ctx, r)
			}
		},
	}
	s := mcpserver.New(mcp.Implementation{Name: "test", Version: "1"}, &options)
	type out struct {
		N int `json:"n" keywords:"maximum=1"`
	}
	must(t, mcpserver.AddTool(s, &mcp.Tool{Name: "typed"}, func(ctx context.Context, _ struct{}) (out, error) {
		err := do(ctx)
		if err == errOutput {
			return out{2}, nil
		}
		return out{}, err
	}))
	raw := func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, do(ctx)
	}
	must(t, s.AddTool(&mcp.Tool{Name: "raw"}, raw))
	must(t, s.AddTool(&mcp.Tool{Name: "task"}, raw, mcpserver.TaskTool()))
	must(t, s.AddTool(&mcp.Tool{Name: "block"},
		func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			<-release
			return nil, nil
		}))
	must(t, s.AddPrompt(&mcp.Prompt{Name: "prompt", Arguments: []mcp.PromptArgument{{Name: "a"}}},
		func(ctx context.Context, _ *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return nil, do(ctx)
		}))
	read := func(ctx context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.URI, Text: "x"}}}, do(ctx)
	}
	must(t, s.AddResource(&mcp.Resource{URI: "file:///one", Name: "one"}, read))
	must(t, s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "file:///many/{x}", Name: "many"}, read))
	must(t, s.AddCompletion(mcp.CompleteRef{Type: mcp.RefPrompt, Name: "prompt"}, "a",
		func(ctx context.Context, _ *mcpserver.CompleteRequest) ([]string, error) { return nil, do(ctx) }))
	must(t, s.HandleRequest("example.com/do", func(ctx context.Context, _ *mcpserver.Request) (any, error) {
		return struct{}{}, do(ctx)
	}))
	return s
}

// own reports whether the server itself answers the operation. If so, the middleware fails instead of a handler.
func (o operation) own() bool {
	switch o.method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource, mcp.MethodComplete, "example.com/do":
		return false
	}
	return true
}

// request returns the frame of a request.
func (j journey) request(o operation, id int, params string) string {
	if j.era == mcp.Modern {
		return asked(id, o.method, bothMetas, params)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, id, o.method, params)
}

const cancelling = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`

// to connects a client to s.
func (j journey) to(t *testing.T, s *mcpserver.Server) road {
	t.Helper()
	if j.http {
		p := &posts{journey: j, t: t, h: s.HTTPHandler(&mcpserver.HTTPOptions{
			Account: func(*http.Request) string { return "one" }})}
		if j.era == mcp.Legacy {
			w := httptest.NewRecorder()
			p.h.ServeHTTP(w, request(t, t.Context(), http.MethodPost, initialize))
			p.session = w.Header().Get("Mcp-Session-Id")
			p.h.ServeHTTP(httptest.NewRecorder(), request(t, t.Context(), http.MethodPost, initialized,
				"Mcp-Session-Id", p.session))
		}
		return p
	}
	ctx, stop := context.WithCancel(t.Context())
	p := &line1{journey: j, wire: serve(t, ctx, s), quit: stop}
	if j.era == mcp.Legacy {
		p.wire.send(initialize, initialized)
	}
	return p
}

// line1 is a road over a connection that is not HTTP.
type line1 struct {
	journey
	*wire
	quit  context.CancelFunc
	ended bool
}

func (l *line1) send(o operation, id int, params string) { l.wire.send(l.request(o, id, params)) }
func (l *line1) cancel()                                 { l.wire.send(cancelling) }
func (l *line1) reset() {
	l.in <- received{err: errors.New("connection reset")}
	l.over()
}
func (l *line1) leave() { close(l.in); l.over() }
func (l *line1) stop()  { l.quit(); l.over() }
func (l *line1) over() {
	<-l.result
	l.ended = true
}
func (l *line1) end() {
	if !l.ended {
		l.leave()
	}
	l.quit()
}

// posts is a road over HTTP.
type posts struct {
	journey
	t       *testing.T
	h       *mcpserver.HTTPHandler
	session string
	last    context.CancelFunc
	ended   bool
}

func (p *posts) send(o operation, id int, params string) {
	ctx, leave := context.WithCancel(context.Background())
	p.last = leave
	headers := []string{"Mcp-Session-Id", p.session}
	if p.era == mcp.Modern {
		target := o.target
		if target != "" {
			for _, name := range []string{"none", "file:///none"} {
				if strings.Contains(params, `"`+name+`"`) {
					target = name
				}
			}
		}
		headers = modernHeaders(o.method, target)
	}
	p.do(request(p.t, ctx, http.MethodPost, p.request(o, id, params), headers...))
}

func (p *posts) do(r *http.Request) {
	go p.h.ServeHTTP(httptest.NewRecorder(), r)
	synctest.Wait()
}

func (p *posts) cancel() {
	if p.era == mcp.Modern {
		p.last()
		return
	}
	p.do(request(p.t, context.Background(), http.MethodPost, cancelling, "Mcp-Session-Id", p.session))
}

func (p *posts) leave() {
	if p.era == mcp.Modern {
		p.last()
		return
	}
	p.do(request(p.t, context.Background(), http.MethodDelete, "", "Mcp-Session-Id", p.session))
}

func (p *posts) reset() { p.last() }

func (p *posts) stop() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.h.Shutdown(ctx) // the error only reports that ctx has ended
	p.ended = true
}

func (p *posts) end() {
	synctest.Wait()
	p.last()
	if !p.ended {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = p.h.Shutdown(ctx)
	}
	synctest.Wait()
}
