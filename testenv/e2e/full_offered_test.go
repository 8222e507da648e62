package e2e

import (
	"errors"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

func useIntroduction(p *pair) {
	info := p.c.ServerInfo()
	p.equal("the server's name", "full 1.0.0", info.Name+" "+info.Version)
	p.equal("its title", since(p, mcp.Version20250618, "Full", ""), info.Title)
	p.equal("its icons", since(p, mcp.Version20251125, icons, nil), info.Icons)
	p.equal("the instructions", "use everything", p.c.Instructions())
	p.equal("the revision", p.v, p.c.ProtocolVersion())
	has := p.c.ServerCapabilities()
	p.equal("tools, resources, prompts and logging", [4]bool{true, true, true, true},
		[4]bool{has.Tools != nil, has.Resources != nil, has.Prompts != nil, has.Logging != nil})
	p.equal("completions", p.v >= mcp.Version20250326, has.Completions != nil)
	p.equal("the tasks extension", p.modern(), has.Extensions[mcp.ExtensionTasks] != nil)
	p.equal("list changes and subscriptions", [4]bool{!p.silent(), !p.silent(), !p.silent(), !p.silent()},
		[4]bool{has.Tools.ListChanged, has.Prompts.ListChanged, has.Resources.ListChanged, has.Resources.Subscribe})
	p.equal("what is experimental", `{"y":1}`, string(has.Experimental["example.com/x"]))
	if err := p.c.Ping(p.ctx); err != nil {
		p.Errorf("ping: %v", err)
	}
}

func useTools(p *pair) {
	all := listed(p, p.c.Tools(p.ctx), func(t *mcp.Tool) string { return t.Name })
	add := all["add"]
	p.equal("the description", "adds", add.Description)
	p.equal("the title", since(p, mcp.Version20250618, "Add", ""), add.Title)
	p.equal("the output schema", p.v >= mcp.Version20250618, add.OutputSchema != nil)
	p.equal("the annotations", p.v >= mcp.Version20250326, add.Annotations != nil)
	p.equal("the icons", since(p, mcp.Version20251125, icons, nil), add.Icons)
	p.equal("the execution", p.v == mcp.Version20251125, add.Execution != nil)
	p.equal("an output schema that is no object's", p.modern(), all["letters"].OutputSchema != nil)

	p.says("add", addends{1, 2}, `{"sum":3}`)
	p.says("letters", named{"abc"}, `["a","b","c"]`)
	if p.v >= mcp.Version20250618 {
		got, err := mcpclient.CallToolAs[sum](p.ctx, p.c, "add", addends{1, 2})
		if err != nil || got.Sum != 3 {
			p.Errorf("add: want 3, got %v, %v", got, err)
		}
	}
	if p.modern() {
		got, err := mcpclient.CallToolAs[[]string](p.ctx, p.c, "letters", named{"abc"})
		if err != nil || !slices.Equal(got, []string{"a", "b", "c"}) {
			p.Errorf("letters: want a, b, c, got %q, %v", got, err)
		}
	}
	r, err := p.c.CallTool(p.ctx, "contents", nil)
	if err != nil {
		p.Fatal(err)
	}
	p.equal("contents", contentsIn(p.v), r.Content)

	// The schema requires this argument in an HTTP header.
	header := ""
	switch {
	case strings.HasPrefix(p.way.name, "HTTP") && p.modern():
		header = "north"
	case !strings.HasPrefix(p.way.name, "HTTP"):
		header = "none"
	}
	p.says("region", map[string]string{"region": "north"}, header)
}

// listed returns a list as a map by name.
func listed[T any](p *pair, list func(func(T, error) bool), name func(T) string) map[string]T {
	p.Helper()
	all := map[string]T{}
	for v, err := range list {
		if err != nil {
			p.Fatal(err)
		}
		if _, twice := all[name(v)]; twice {
			p.Errorf("want each once, got %s twice", name(v))
		}
		all[name(v)] = v
	}
	return all
}

func useToolErrors(p *pair) {
	r, err := p.c.CallTool(p.ctx, "fail", named{"Ada"})
	if err != nil || !r.IsError || r.Text() != "failed for Ada" {
		p.Errorf("fail: want the tool's error, got %v, %v", r, err)
	}
	if _, err := mcpclient.CallToolAs[sum](p.ctx, p.c, "fail", named{"Ada"}); !isA[*mcp.ToolError](err) {
		p.Errorf("fail: want a ToolError, got %v", err)
	}
	_, err = p.c.CallTool(p.ctx, "refuse", nil)
	if e, ok := errors.AsType[*mcp.Error](err); !ok || e.Code != -31050 || string(e.Data) != `{"why":"because"}` {
		p.Errorf("refuse: want the tool's own code and data, got %v", err)
	}
	_, err = p.c.CallTool(p.ctx, "none", nil)
	p.code("an unknown tool", err, mcp.CodeInvalidParams)
	r, err = p.c.CallTool(p.ctx, "add", map[string]any{"a": "x"})
	if p.v < mcp.Version20251125 {
		p.code("bad arguments", err, mcp.CodeInvalidParams)
	} else if err != nil || !r.IsError {
		p.Errorf("bad arguments: want the tool's error, for the model to read, got %v, %v", r, err)
	}
	err = p.c.Call(p.ctx, "example/none", nil, nil)
	p.code("an unknown method", err, mcp.CodeMethodNotFound)
}

func isA[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// code expects a server error with this code.
func (p *pair) code(what string, err error, want int64) {
	p.Helper()
	if e, ok := errors.AsType[*mcp.Error](err); !ok || e.Code != want {
		p.Errorf("%s: want %d, got %v", what, want, err)
	}
}

func useResources(p *pair) {
	all := listed(p, p.c.Resources(p.ctx), func(r *mcp.Resource) string { return r.URI })
	text := all["demo://text"]
	p.equal("the size", int64(5), *text.Size)
	p.equal("the title", since(p, mcp.Version20250618, "Text", ""), text.Title)
	p.equal("when it was changed", since(p, mcp.Version20250618, noted.LastModified, ""), text.Annotations.LastModified)
	p.equal("the icons", since(p, mcp.Version20251125, icons, nil), text.Icons)

	r, err := p.c.ReadResource(p.ctx, "demo://several")
	if err != nil {
		p.Fatal(err)
	}
	p.equal("several parts", []*mcp.ResourceContents{
		{URI: "demo://several", MIMEType: "text/plain", Text: "hello", Meta: since(p, mcp.Version20250618, mark, nil)},
		{URI: "demo://several", Blob: new("AAEC")},
	}, r.Contents)
	r, err = p.c.ReadResource(p.ctx, "demo://blob")
	if err != nil {
		p.Fatal(err)
	}
	p.equal("a blob", []*mcp.ResourceContents{{URI: "demo://blob", MIMEType: "application/x", Blob: new("AAEC")}},
		r.Contents)
	p.noResource("demo://none")
}

func (p *pair) noResource(uri string) {
	p.Helper()
	_, err := p.c.ReadResource(p.ctx, uri)
	if !errors.Is(err, mcp.ErrResourceNotFound) {
		p.Errorf("%s: want it not found, got %v", uri, err)
	}
	p.code(uri, err, since[int64](p, mcp.Version20260728, mcp.CodeInvalidParams, mcp.CodeResourceNotFound))
}

func useTemplates(p *pair) {
	all := listed(p, p.c.ResourceTemplates(p.ctx), func(t *mcp.ResourceTemplate) string { return t.URITemplate })
	city := all["demo://city/{country}/{city}"]
	p.equal("the templates", 3, len(all))
	p.equal("the title", since(p, mcp.Version20250618, "City", ""), city.Title)
	p.equal("the icons", since(p, mcp.Version20251125, icons, nil), city.Icons)
	for uri, want := range map[string]string{
		"demo://city/fr/Aix%20en%20Provence": "map[city:Aix en Provence country:fr]",
		"demo://search?q=a&max=3":            "map[max:3 q:a]",
		"demo://path/a/b/c":                  "map[path:a/b/c]",
	} {
		r, err := p.c.ReadResource(p.ctx, uri)
		if err != nil {
			p.Fatalf("%s: %v", uri, err)
		}
		if c := r.Contents[0]; c.URI != uri || c.Text != want {
			p.Errorf("want %s with %s, got %+v", uri, want, c)
		}
	}
	p.noResource("demo://city/atlantis/x")
}

func usePrompts(p *pair) {
	all := listed(p, p.c.Prompts(p.ctx), func(p *mcp.Prompt) string { return p.Name })
	review := all["review"]
	p.equal("the arguments", []mcp.PromptArgument{
		{Name: "language", Title: since(p, mcp.Version20250618, "Language", ""), Description: "of the code", Required: true},
		{Name: "framework"},
	}, review.Arguments)
	p.equal("the icons", since(p, mcp.Version20251125, icons, nil), review.Icons)
	for want, get := range map[string]struct {
		name      string
		arguments map[string]string
	}{
		"review map[language:go]": {"review", map[string]string{"language": "go"}},
		"plain map[]":             {"plain", nil},
	} {
		r, err := p.c.GetPrompt(p.ctx, get.name, get.arguments)
		if err != nil {
			p.Fatal(err)
		}
		p.equal(get.name, []*mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text(want)}}, r.Messages)
	}
	r, err := p.c.GetPrompt(p.ctx, "contents", nil)
	if err != nil {
		p.Fatal(err)
	}
	for i, want := range contentsIn(p.v) {
		p.equal("contents", &mcp.PromptMessage{Role: mcp.RoleAssistant, Content: want}, r.Messages[i])
	}
	_, err = p.c.GetPrompt(p.ctx, "review", nil)
	p.code("a prompt without what it requires", err, mcp.CodeInvalidParams)
	_, err = p.c.GetPrompt(p.ctx, "none", nil)
	p.code("an unknown prompt", err, mcp.CodeInvalidParams)
}

func useCompletion(p *pair) {
	review := mcp.CompleteRef{Type: mcp.RefPrompt, Name: "review", Title: "Review"}
	r, err := p.c.Complete(p.ctx, review, mcp.CompleteArgument{Name: "language", Value: "go"}, nil)
	if err != nil {
		p.Fatal(err)
	}
	c := r.Completion
	if len(c.Values) != 100 || c.Values[99] != "go99" || c.Total == nil || *c.Total != 120 || !c.HasMore {
		p.Errorf("want the first 100 of 120 values, got %+v", c)
	}
	r, err = p.c.Complete(p.ctx, review, mcp.CompleteArgument{Name: "framework", Value: "fla"},
		map[string]string{"language": "python"})
	if err != nil {
		p.Fatal(err)
	}
	p.equal("with what is settled", []string{since(p, mcp.Version20250618, "fla-python", "fla-")}, r.Completion.Values)
	r, err = p.c.Complete(p.ctx, mcp.CompleteRef{Type: mcp.RefResource, URI: "demo://city/{country}/{city}"},
		mcp.CompleteArgument{Name: "city", Value: "Ai"}, nil)
	if err != nil {
		p.Fatal(err)
	}
	p.equal("of a template", []string{"Ai-"}, r.Completion.Values)
	_, err = p.c.Complete(p.ctx, mcp.CompleteRef{Type: mcp.RefPrompt, Name: "none"}, mcp.CompleteArgument{Name: "x"}, nil)
	p.code("of nothing", err, mcp.CodeInvalidParams)
}

// usePages checks the single pages of the lists.
func usePages(p *pair) {
	var cursors []string
	for cursor := (*string)(nil); ; {
		r, err := p.c.ListResourceTemplates(p.ctx, cursor, mcpclient.WithoutCache())
		if err != nil {
			p.Fatal(err)
		}
		if len(r.ResourceTemplates) > pageSize {
			p.Errorf("want pages of %d, got one of %d", pageSize, len(r.ResourceTemplates))
		}
		if cursor = r.NextCursor; cursor == nil {
			break
		}
		cursors = append(cursors, *cursor)
	}
	if len(cursors) != 1 {
		p.Errorf("want two pages, got the cursors %q", cursors)
	}
	_, err := p.c.ListTools(p.ctx, new("nonsense"))
	p.code("a cursor that the server has not given", err, mcp.CodeInvalidParams)
}
