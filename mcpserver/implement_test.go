package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// toolbox, shelf, phrasebook and similar types implement parts of a handler.
type toolbox struct{}

func (toolbox) ListTools(_ context.Context, r *mcpserver.ListRequest) (*mcp.ListToolsResult, error) {
	if r.Cursor == nil {
		return &mcp.ListToolsResult{NextCursor: new(""), Tools: []*mcp.Tool{{
			Name: "one", Title: "One", Icons: []mcp.Icon{{Src: "https://example.com/1.png"}},
			OutputSchema: json.RawMessage(`{"type":"array"}`),
		}}}, nil
	}
	switch *r.Cursor {
	case "", "two":
		return &mcp.ListToolsResult{
			Result: mcp.Result{Meta: mcp.Meta(`{"a":1}`),
				ResultType: mcp.ResultComplete}, CacheHint: mcp.CacheHint{TTLMs: new(int64(7))},
			Tools: []*mcp.Tool{{Name: "two", InputSchema: json.RawMessage(`{"type":"object","required":["x"]}`)}},
		}, nil
	case "nil":
		return nil, nil
	case "hole":
		return &mcp.ListToolsResult{Tools: []*mcp.Tool{nil}}, nil
	case "panic":
		panic("secret")
	}
	return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: "no such page"}
}

func (toolbox) CallTool(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
	switch r.Name {
	case "one":
		return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(string(r.Arguments))},
			StructuredContent: json.RawMessage(`[1]`)}, nil
	case "nil":
		return nil, nil
	case "fail":
		return nil, errors.New("no such city")
	case "panic":
		panic("secret")
	}
	return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: "unknown tool: " + r.Name}
}

type shelf struct{}

func (shelf) ListResources(context.Context, *mcpserver.ListRequest) (*mcp.ListResourcesResult, error) {
	return &mcp.ListResourcesResult{Resources: []*mcp.Resource{{URI: "file:///a", Name: "a", Title: "A",
		Icons: []mcp.Icon{{Src: "https://example.com/y.png"}}}}}, nil
}

func (shelf) ReadResource(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	if r.URI != "file:///a" {
		return nil, nil
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.URI, Text: "text"}}}, nil
}

type templates struct{}

func (templates) ListResourceTemplates(context.Context, *mcpserver.ListRequest) (*mcp.ListResourceTemplatesResult,
	error) {
	return &mcp.ListResourceTemplatesResult{ResourceTemplates: []*mcp.ResourceTemplate{{URITemplate: "file:///{x}",
		Name: "x", Title: "X"}}}, nil
}

type phrasebook struct{}

func (phrasebook) ListPrompts(context.Context, *mcpserver.ListRequest) (*mcp.ListPromptsResult, error) {
	return &mcp.ListPromptsResult{Prompts: []*mcp.Prompt{{Name: "p", Title: "P",
		Arguments: []mcp.PromptArgument{{Name: "x", Title: "X", Required: true}}}}}, nil
}

func (phrasebook) GetPrompt(_ context.Context, r *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
	if r.Name == "nil" {
		return nil, nil
	}
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: mcp.RoleUser,
		Content: mcp.Text(r.Name + r.Arguments["x"])}}}, nil
}

func (phrasebook) Complete(_ context.Context, r *mcpserver.CompleteRequest) ([]string, error) {
	return []string{r.Ref.Name + r.Argument + r.Value, r.Context["y"]}, nil
}

// watcher records which resources are watched.
type watcher struct {
	shelf
	mu  sync.Mutex
	log []string
}

func (w *watcher) note(ctx context.Context, what, uri string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, what+" "+uri)
	if uri == "panic:" {
		panic("secret")
	}
	if !strings.HasPrefix(uri, "file:") {
		return mcpserver.ResourceNotFound(uri)
	}
	return nil
}

func (w *watcher) taken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	log := w.log
	w.log = nil
	return log
}

func (w *watcher) SubscribeResource(ctx context.Context, uri string) error {
	return w.note(ctx, "watch", uri)
}

func (w *watcher) UnsubscribeResource(ctx context.Context, uri string) error {
	return w.note(ctx, "leave", uri)
}

type leveled struct{ levels []mcp.LoggingLevel }

func (l *leveled) SetLevel(_ context.Context, level mcp.LoggingLevel) error {
	l.levels = append(l.levels, level)
	if level == mcp.LevelDebug {
		return &mcp.Error{Code: mcp.CodeInternalError, Message: "too much"}
	}
	return nil
}

type declarer struct{}

func (declarer) DeclareCapabilities(c *mcp.ServerCapabilities, v mcp.Version) {
	c.Experimental = map[string]mcp.Object{"example.com/x": mcp.Object(`{"v":"` + string(v) + `"}`)}
}

// everything implements all interfaces that answer requests.
type everything struct {
	toolbox
	*watcher
	templates
	phrasebook
	*leveled
	declarer
}

func newEverything() *everything { return &everything{watcher: new(watcher), leveled: new(leveled)} }

func empty(t testing.TB, o *mcpserver.Options) *mcpserver.Server {
	if o == nil {
		o = &mcpserver.Options{}
	}
	if o.Telemetry == nil {
		o.Telemetry = checked(t)
	}
	return mcpserver.New(mcp.Implementation{Name: "test", Version: "1"}, o)
}

func implementing(t *testing.T, o *mcpserver.Options, handlers ...any) *mcpserver.Server {
	t.Helper()
	s := empty(t, o)
	for _, h := range handlers {
		if err := s.Implement(h); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func requestOf(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

func TestImplementDeclaresCapabilitiesOfHandler(t *testing.T) {
	tests := []struct {
		handler any
		version string
		want    string
	}{
		{toolbox{}, "2025-11-25", `{"tools":{"listChanged":true}}`},
		{shelf{}, "2025-11-25", `{"resources":{"listChanged":true}}`},
		{struct {
			templates
			mcpserver.ResourceReader
		}{ResourceReader: shelf{}}, "2025-11-25", `{"resources":{"listChanged":true}}`},
		{new(watcher), "2025-11-25", `{"resources":{"subscribe":true,"listChanged":true}}`},
		{phrasebook{}, "2025-11-25", `{"prompts":{"listChanged":true},"completions":{}}`},
		{phrasebook{}, "2024-11-05", `{"prompts":{"listChanged":true}}`},
		{new(leveled), "2025-11-25", `{"logging":{}}`},
		{declarer{}, "2025-06-18", `{"experimental":{"example.com/x":{"v":"2025-06-18"}}}`},
		{newEverything(), "2025-11-25", `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},` +
			`"prompts":{"listChanged":true},"completions":{},"logging":{},"experimental":{"example.com/x":{"v":"2025-11-25"}}}`},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%T", tt.handler), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := serve(t, t.Context(), implementing(t, nil, tt.handler))
				w.send(initializeAs(tt.version))
				var r struct{ Capabilities json.RawMessage }
				if err := json.Unmarshal(w.reply(t).Result, &r); err != nil || string(r.Capabilities) != tt.want {
					t.Errorf("in %s the server declares %s, want %s", tt.version, r.Capabilities, tt.want)
				}
				if err := w.finish(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestImplementRefusesInvalidHandlers(t *testing.T) {
	full := newEverything()
	tests := []struct {
		handler any
		want    string
	}{
		{nil, "implement: no handler"},
		{struct{}{}, "none of the handler interfaces"},
		{struct{ mcpserver.ToolLister }{toolbox{}}, "it has ListTools, but no CallTool"},
		{struct{ mcpserver.ToolCaller }{toolbox{}}, "it has CallTool, but no ListTools"},
		{struct{ mcpserver.PromptLister }{phrasebook{}}, "it has ListPrompts, but no GetPrompt"},
		{struct{ mcpserver.PromptGetter }{phrasebook{}}, "it has GetPrompt, but no ListPrompts"},
		{struct{ mcpserver.ResourceLister }{shelf{}}, "it has ListResources, but no ReadResource"},
		{templates{}, "it has ListResourceTemplates, but no ReadResource"},
		{struct{ mcpserver.ResourceReader }{shelf{}}, "it has ReadResource, but no ListResources nor ListResourceTemplates"},
		{struct{ mcpserver.ResourceSubscriber }{full}, "it has SubscribeResource, but no ReadResource"},
	}
	for _, tt := range tests {
		if err := empty(t, nil).Implement(tt.handler); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Implement(%T) returned %v, want %q", tt.handler, err, tt.want)
		}
	}
}

func TestOneMethodHasOneHandler(t *testing.T) {
	handle := func(context.Context, *mcpserver.Request) (any, error) { return nil, nil }
	tool := func(s *mcpserver.Server) error { return s.AddTool(&mcp.Tool{Name: "t"}, toolbox{}.CallTool) }
	resource := func(s *mcpserver.Server) error {
		return s.AddResource(&mcp.Resource{URI: "a:b", Name: "b"}, shelf{}.ReadResource)
	}
	prompt := func(s *mcpserver.Server) error { return s.AddPrompt(&mcp.Prompt{Name: "p"}, phrasebook{}.GetPrompt) }
	completion := func(s *mcpserver.Server) error {
		return s.AddCompletion(mcp.CompleteRef{Type: mcp.RefPrompt, Name: "p"}, "x", phrasebook{}.Complete)
	}
	level := func(s *mcpserver.Server) error { return s.HandleRequest(mcp.MethodSetLevel, handle) }
	implement := func(h any) func(*mcpserver.Server) error {
		return func(s *mcpserver.Server) error { return s.Implement(h) }
	}
	tests := map[string]struct {
		first, second func(*mcpserver.Server) error
	}{
		"tools":                            {tool, implement(toolbox{})},
		"tools, later":                     {implement(toolbox{}), tool},
		"resources":                        {resource, implement(shelf{})},
		"resources, later":                 {implement(shelf{}), resource},
		"prompts":                          {prompt, implement(phrasebook{})},
		"prompts, later":                   {implement(phrasebook{}), prompt},
		"completion":                       {completion, implement(struct{ mcpserver.Completer }{phrasebook{}})},
		"completion, later":                {implement(struct{ mcpserver.Completer }{phrasebook{}}), completion},
		"level":                            {level, implement(new(leveled))},
		"level, later":                     {implement(new(leveled)), level},
		"two handlers":                     {implement(toolbox{}), implement(newEverything())},
		"two handlers of logging/setLevel": {implement(new(leveled)), implement(new(leveled))},
	}
	for name, tt := range tests {
		s := empty(t, nil)
		if err := tt.first(s); err != nil {
			t.Errorf("%s: the first got %v, want nil", name, err)
		}
		if err := tt.second(s); err == nil || !strings.Contains(err.Error(), "has a handler") {
			t.Errorf("%s: the second got %v, want that there is a handler", name, err)
		}
	}
	s := empty(t, &mcpserver.Options{Logging: true})
	for _, f := range []func(*mcpserver.Server) error{implement(toolbox{}), implement(shelf{}), implement(new(leveled)),
		prompt, completion} {
		if err := f(s); err != nil {
			t.Errorf("what does not concern the same methods was refused: %v", err)
		}
	}
}

func TestARefusedHandlerChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := implementing(t, nil, toolbox{})
		if err := s.Implement(newEverything()); err == nil {
			t.Fatal("Implement returned nil, want that there are tools")
		}
		w := serve(t, t.Context(), s)
		w.send(initialize)
		if m := w.reply(t); !strings.Contains(string(m.Result), `"capabilities":{"tools":{"listChanged":true}}`) {
			t.Errorf("initialize got %s, want that there are tools and nothing else", m.Result)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestImplementedServerFollowsRevision(t *testing.T) {
	const schema = `"inputSchema":{"type":"object"}`
	tests := []struct {
		version, method, params, want string
	}{
		{"2025-11-25", "tools/list", `{}`, `{"nextCursor":"","tools":[{"name":"one","title":"One",` +
			`"icons":[{"src":"https://example.com/1.png"}],` + schema + `}]}`},
		{"2024-11-05", "tools/list", `{}`, `{"nextCursor":"","tools":[{"name":"one",` + schema + `}]}`},
		{"2025-06-18", "tools/list", `{"cursor":"two"}`,
			`{"_meta":{"a":1},"tools":[{"name":"two","inputSchema":{"type":"object","required":["x"]}}]}`},
		{"2025-06-18", "tools/list", `{"cursor":""}`,
			`{"_meta":{"a":1},"tools":[{"name":"two","inputSchema":{"type":"object","required":["x"]}}]}`},
		{"2025-06-18", "tools/list", `{"cursor":"nil"}`, `{"tools":[]}`},
		{"2025-06-18", "tools/list", `{"cursor":"hole"}`, `-32603 internal error`},
		{"2025-06-18", "tools/list", `{"cursor":"panic"}`, `-32603 internal error`},
		{"2025-06-18", "tools/list", `{"cursor":"x"}`, `-32602 no such page`},
		{"2025-06-18", "tools/list", `{"cursor":7}`, `-32602 params`},
		{"2025-06-18", "tools/call", `{"name":"one","arguments":{"x":1}}`,
			`{"content":[{"type":"text","text":"{\"x\":1}"}]}`},
		{"2025-06-18", "tools/call", `{"name":"nil"}`, `{"content":[]}`},
		{"2025-06-18", "tools/call", `{"name":"fail"}`, `{"content":[{"type":"text","text":"no such city"}],"isError":true}`},
		{"2025-06-18", "tools/call", `{"name":"panic"}`, `-32603 internal error`},
		{"2025-06-18", "tools/call", `{"name":"who"}`, `-32602 unknown tool: who`},
		{"2025-06-18", "tools/call", `{}`, `-32602 params.name`},
		{"2025-06-18", "tools/call", `{"name":"one","arguments":[]}`, `-32602 params.arguments`},
		{"2025-11-25", "resources/list", `{}`,
			`{"resources":[{"uri":"file:///a","name":"a","title":"A","icons":[{"src":"https://example.com/y.png"}]}]}`},
		{"2025-06-18", "resources/list", `{}`, `{"resources":[{"uri":"file:///a","name":"a","title":"A"}]}`},
		{"2024-11-05", "resources/list", `{}`, `{"resources":[{"uri":"file:///a","name":"a"}]}`},
		{"2024-11-05", "resources/templates/list", `{}`, `{"resourceTemplates":[{"uriTemplate":"file:///{x}","name":"x"}]}`},
		{"2025-06-18", "resources/read", `{"uri":"file:///a"}`, `{"contents":[{"uri":"file:///a","text":"text"}]}`},
		{"2025-06-18", "resources/read", `{"uri":"file:///b"}`, `-32002 resource not found`},
		{"2025-06-18", "resources/read", `{}`, `-32602 params.uri`},
		{"2025-06-18", "prompts/list", `{}`,
			`{"prompts":[{"name":"p","title":"P","arguments":[{"name":"x","title":"X","required":true}]}]}`},
		{"2024-11-05", "prompts/list", `{}`, `{"prompts":[{"name":"p","arguments":[{"name":"x","required":true}]}]}`},
		{"2025-06-18", "prompts/get", `{"name":"p","arguments":{"x":"y"}}`,
			`{"messages":[{"role":"user","content":{"type":"text","text":"py"}}]}`},
		{"2025-06-18", "prompts/get", `{"name":"nil"}`, `{"messages":[]}`},
		{"2025-06-18", "prompts/get", `{"name":"p","arguments":{"x":1}}`, `-32602 params.arguments`},
		{"2025-06-18", "prompts/get", `{}`, `-32602 params.name`},
		{"2025-06-18", "completion/complete",
			`{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"x","value":"v"},"context":{"arguments":{"y":"z"}}}`,
			`{"completion":{"values":["pxv","z"],"total":2}}`},
		{"2025-06-18", "completion/complete", `{}`, `-32602 params`},
		{"2026-07-28", "tools/list", ``, `"ttlMs":0,"cacheScope":"public"`},
		{"2026-07-28", "tools/list", `"cursor":"two"`, `"ttlMs":7,"cacheScope":"public"`},
		{"2026-07-28", "tools/list", `"cursor":"two"`,
			`"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"},"a":1}`},
		{"2026-07-28", "tools/list", ``, `"outputSchema":{"type":"array"}`},
		{"2026-07-28", "tools/call", `"name":"one"`, `"structuredContent":[1]`},
		{"2026-07-28", "resources/read", `"uri":"file:///b"`, `-32602 resource not found`},
		{"2026-07-28", "resources/templates/list", ``, `"resultType":"complete"`},
	}
	synctest.Test(t, func(t *testing.T) {
		s := implementing(t, nil, newEverything())
		for _, tt := range tests {
			w := serve(t, t.Context(), s)
			if tt.version == "2026-07-28" {
				w.send(asked(1, tt.method, bothMetas, tt.params))
			} else {
				w.send(initializeAs(tt.version))
				w.taken()
				w.send(requestOf(1, tt.method, tt.params))
			}
			m := w.reply(t)
			got := string(m.Result)
			if m.Error != nil {
				got = fmt.Sprintf("%d %s", m.Error.Code, m.Error.Message)
			}
			if whole := strings.HasPrefix(tt.want, "{"); whole && got != tt.want || !whole && !strings.Contains(got, tt.want) {
				t.Errorf("%s %s %s got\n%s\nwant\n%s", tt.version, tt.method, tt.params, got, tt.want)
			}
			if err := w.finish(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestMissingListMethodsReturnEmptyLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := opened(t, t.Context(), implementing(t, nil, shelf{}))
		w.send(requestOf(1, "resources/templates/list", `{}`))
		if m := w.reply(t); string(m.Result) != `{"resourceTemplates":[]}` {
			t.Errorf("the list is %s, want an empty one", m.Result)
		}
		w.send(requestOf(1, "resources/subscribe", `{"uri":"file:///a"}`))
		if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeMethodNotFound {
			t.Errorf("resources/subscribe got %+v, want that there is no such method", m)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestHandlerIsNotifiedOfWatchStartAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(watcher)
		s := implementing(t, nil, h)
		legacy := opened(t, t.Context(), s)
		legacy.send(requestOf(1, "resources/subscribe", `{"uri":"file:///a"}`),
			requestOf(2, "resources/subscribe", `{"uri":"file:///b"}`))
		legacy.taken()
		legacy.send(requestOf(3, "resources/subscribe", `{"uri":"x:y"}`))
		if m := legacy.reply(t); m.Error == nil || m.Error.Code != mcp.CodeResourceNotFound {
			t.Errorf("a resource that the handler refuses got %+v, want -32002", m)
		}
		legacy.send(requestOf(4, "resources/unsubscribe", `{"uri":"file:///a"}`),
			requestOf(5, "resources/unsubscribe", `{"uri":"file:///a"}`))
		legacy.taken()
		modern := serve(t, t.Context(), s)
		modern.send(listenFor(6, `"resourceSubscriptions":["file:///c","x:y","file:///c"]`))
		if out := modern.taken(); len(out) != 1 || !strings.Contains(out[0], `"resourceSubscriptions":["file:///c"]`) {
			t.Errorf("the subscription got %q, want the one resource that there is", out)
		}
		s.ResourceUpdated("file:///b")
		s.ResourceUpdated("file:///c")
		for _, w := range []*wire{legacy, modern} {
			if err := w.finish(); err != nil {
				t.Error(err)
			}
		}
		want := []string{"watch file:///a", "watch file:///b", "watch x:y", "leave file:///a", "watch file:///c", "watch x:y",
			"leave file:///b", "leave file:///c"}
		if got := h.taken(); !slices.Equal(got, want) {
			t.Errorf("the handler heard\n%q, want\n%q", got, want)
		}
	})
}

func TestImplementedServerNotifiesSubscribers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := implementing(t, nil, newEverything())
		w := opened(t, t.Context(), s)
		w.send(requestOf(1, "resources/subscribe", `{"uri":"file:///a"}`))
		w.taken()
		s.ResourceUpdated("file:///a")
		s.ToolsChanged()
		s.ResourcesChanged()
		s.PromptsChanged()
		time.Sleep(time.Second) // longer than changeWindow
		synctest.Wait()
		var methods []string
		for _, f := range w.taken() {
			methods = append(methods, decoded(t, f).Method)
		}
		slices.Sort(methods)
		want := []string{mcp.NotificationPromptListChanged, mcp.NotificationResourceListChanged,
			mcp.NotificationResourceUpdated, mcp.NotificationToolListChanged}
		if !slices.Equal(methods, want) {
			t.Errorf("the client got %q, want %q", methods, want)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestLevelSetterReceivesLevelsAndMayRefuseThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newEverything()
		s := implementing(t, nil, h)
		w := opened(t, t.Context(), s)
		w.send(setLevel("error"))
		w.taken()
		w.send(setLevel("debug"))
		if m := w.reply(t); m.Error == nil || m.Error.Message != "too much" {
			t.Errorf("the level that the handler refuses got %+v, want its error", m)
		}
		for _, level := range allLevels {
			if err := s.Log(level, "", 1); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if got := logged(t, w.taken()); !slices.Equal(got, allLevels[4:]) {
			t.Errorf("the client got %v, want %v: the level before", got, allLevels[4:])
		}
		if want := []mcp.LoggingLevel{"error", "debug"}; !slices.Equal(h.levels, want) {
			t.Errorf("the handler heard %v, want %v", h.levels, want)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

// slowWatcher takes some time for each subscription.
type slowWatcher struct {
	*watcher
	asked, proceed chan struct{}
}

func (w *slowWatcher) SubscribeResource(ctx context.Context, uri string) error {
	close(w.asked)
	<-w.proceed
	return w.watcher.SubscribeResource(ctx, uri)
}

func TestHandlerIsNotifiedOfWatchEndAfterDisconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &slowWatcher{new(watcher), make(chan struct{}), make(chan struct{})}
		w := serveWeb(t, implementing(t, nil, h), nil)
		session := w.open("2025-11-25")
		answer := make(chan page)
		go func() {
			answer <- w.post(requestOf(1, "resources/subscribe", `{"uri":"file:///a"}`), "Mcp-Session-Id", session)
		}()
		<-h.asked
		w.do("DELETE", "", "Mcp-Session-Id", session)
		synctest.Wait()
		close(h.proceed)
		<-answer
		w.end()
		if got, want := h.taken(), []string{"watch file:///a", "leave file:///a"}; !slices.Equal(got, want) {
			t.Errorf("the handler heard %q, want %q", got, want)
		}
	})
}

// holed returns contents of resources that are nil.
type holed struct{ shelf }

func (holed) ReadResource(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{nil}}, nil
}

func TestNilResourceContentsAreError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := opened(t, t.Context(), implementing(t, nil, holed{}))
		w.send(requestOf(1, "resources/read", `{"uri":"file:///a"}`))
		if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeInternalError {
			t.Errorf("contents that are nil got %s, want -32603", m.Result)
		}
		must(t, w.finish())
	})
}
