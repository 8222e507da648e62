package e2e

import (
	"errors"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// asks calls a tool that asks the client. It expects the answer want from revision first on. In earlier revisions, and
// if no question can be sent, it expects the information that the client cannot be asked.
func (p *pair) asks(tool string, arguments any, first mcp.Version, want string) {
	p.Helper()
	if p.silent() || p.v < first {
		want = "unsupported"
	}
	p.says(tool, arguments, want)
}

func useForms(p *pair) {
	drain(p.user.forms)
	full := `["accept",{"name":"Ada","size":"l","count":3,"ratio":0.5,"gift":true}]`
	p.asks("ask_form", named{}, mcp.Version20250618,
		since(p, mcp.Version20251125, full, `["accept",{"name":"Ada","gift":true}]`))
	for _, no := range []string{"decline", "cancel"} {
		p.asks("ask_form", named{no}, mcp.Version20250618, `["`+no+`",{"name":""}]`)
	}
	p.asks("ask_several", named{}, mcp.Version20251125, `["accept",{"toppings":["b"]}]`)
	if p.silent() || p.v < mcp.Version20250618 {
		return
	}
	form, err := next(p.T, p.ctx, "a form", p.user.forms).Form()
	if err != nil {
		p.Fatal(err)
	}
	size, ratio := form.Field("size"), form.Field("ratio")
	p.equal("the sizes", since(p, mcp.Version20251125,
		[]mcp.FormOption{{Const: "s", Title: "Small"}, {Const: "l", Title: "Large"}}, nil), size.OneOf)
	p.equal("their names", since(p, mcp.Version20251125, nil, []string{"Small", "Large"}), size.EnumNames)
	p.equal("a bound that is no integer", 0.75, *ratio.Maximum)
}

func useURLs(p *pair) {
	p.user.client = p.c
	p.asks("ask_url", named{"one"}, mcp.Version20251125, `["accept",true]`)
	p.asks("ask_url", named{"decline"}, mcp.Version20251125, `["decline",false]`)
	if p.silent() || p.v < mcp.Version20251125 {
		_, err := p.c.CallTool(p.ctx, "need_url", named{"two"})
		if e, ok := errors.AsType[*mcp.Error](err); !ok || e.Code == mcp.CodeURLElicitationRequired {
			p.Errorf("want the call refused, for lack of a way to send the user anywhere, got %v", err)
		}
		return
	}
	p.says("need_url", named{"two"}, `"signed in"`)
	if p.v == mcp.Version20251125 {
		for _, want := range []string{"one", "two"} {
			if got := next(p.T, p.ctx, "word that the user is done", p.user.completed); got != want {
				p.Errorf("want the elicitation %s completed, got %s", want, got)
			}
		}
	}
	_, err := p.c.CallTool(p.ctx, "need_url", named{"decline"})
	if err == nil || isA[*mcpclient.URLElicitationRequiredError](err) != (p.v == mcp.Version20251125) {
		p.Errorf("want the call refused once the user has declined, got %v", err)
	}
}

func useSampling(p *pair) {
	drain(p.user.asked)
	p.asks("ask_model", named{}, mcp.Version20241105, since(p, mcp.Version20250618,
		`["a-model",{"type":"text","text":"[hello]","annotations":{"audience":["user"],"priority":0.5,`+
			`"lastModified":"2026-01-02T03:04:05Z"},"_meta":{"example.com/mark":"x"}},"endTurn"]`,
		`["a-model",{"type":"text","text":"[hello]","annotations":{"audience":["user"],"priority":0.5}},"endTurn"]`))
	p.asks("ask_model_with_tools", named{}, mcp.Version20251125,
		`[{"type":"text","text":"rain for {\"city\":\"Paris\"}"},"endTurn"]`)
	if p.silent() {
		return
	}
	asked := next(p.T, p.ctx, "a question to the model", p.user.asked)
	hello := *contentsIn(p.v)[0].(*mcp.TextContent)
	hello.Text = "hello"
	p.equal("the question", &mcp.CreateMessageParams{
		Messages: []*mcp.SamplingMessage{{
			Role: mcp.RoleUser, Meta: since(p, mcp.Version20251125, mark, nil),
			Content: mcp.SamplingContent{&hello},
		}},
		ModelPreferences: &mcp.ModelPreferences{Hints: []mcp.ModelHint{{Name: "small"}}, CostPriority: new(1.0)},
		SystemPrompt:     "be brief", IncludeContext: mcp.IncludeThisServer, Temperature: new(0.5), MaxTokens: 10,
		StopSequences: []string{"."},
		Metadata:      []byte(`{"provider":1}`), Meta: since(p, mcp.Version20260728, nil, mark),
	}, asked)
}

func useRoots(p *pair) {
	p.asks("ask_roots", named{}, mcp.Version20241105, since(p, mcp.Version20250618,
		`[{"_meta":{"example.com/mark":"x"},"uri":"file:///home/ada","name":"home"}]`,
		`[{"uri":"file:///home/ada","name":"home"}]`))
	if err := p.c.SetRoots(p.ctx, &mcp.Root{URI: "file:///srv"}, &mcp.Root{URI: "file:///tmp", Name: "tmp"}); err != nil {
		p.Fatal(err)
	}
	p.asks("ask_roots", named{}, mcp.Version20241105, `[{"uri":"file:///srv"},{"uri":"file:///tmp","name":"tmp"}]`)
	if p.silent() {
		return
	}
	prompt, err := p.c.GetPrompt(p.ctx, "asking", nil)
	if err != nil {
		p.Fatal(err)
	}
	p.equal("a prompt that asks", "file:///srv", prompt.Messages[0].Content.(*mcp.TextContent).Text)
	read, err := p.c.ReadResource(p.ctx, "demo://asking")
	if err != nil {
		p.Fatal(err)
	}
	p.equal("a resource that asks", "file:///srv", read.Contents[0].Text)
}

// useRounds asks in several rounds, and for several things at once.
func useRounds(p *pair) {
	const want = `["ticket 1","[ticket 1]","[ticket 1, [ticket 1]]","[ticket 1, [ticket 1], [ticket 1, [ticket 1]]]"]`
	p.asks("ask_in_rounds", named{}, mcp.Version20241105, want)
	p.asks("ask_all", named{}, mcp.Version20241105, `[2,"a-model"]`)
	if p.silent() {
		_, err := p.c.CallTool(p.ctx, "require", named{})
		if err == nil {
			p.Error("require: want an error where the client cannot be asked")
		}
		return
	}
	p.says("require", named{}, "2")
}

// useUndeclared asks a client without declared capabilities.
func useUndeclared(p *pair) {
	plain := *p
	plain.c = p.connect()
	for _, tool := range []string{"ask_form", "ask_url", "ask_model", "ask_model_with_tools", "ask_roots"} {
		plain.says(tool, named{}, "unsupported")
		r, err := plain.c.CallTool(p.ctx, tool, named{"insist"})
		if p.modern() {
			p.code(tool, err, mcp.CodeMissingClientCapability)
		} else if err != nil || !r.IsError {
			p.Errorf("%s: want the tool's error, got %v, %v", tool, r, err)
		}
	}
}
