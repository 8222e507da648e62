package e2e

import (
	"context"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

var (
	icons = []mcp.Icon{{Src: "data:image/png;base64,iVBORw0=", MIMEType: "image/png", Sizes: []string{"48x48"},
		Theme: mcp.ThemeDark}}
	mark  = mcp.Meta(`{"example.com/mark":"x"}`)
	noted = &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}, Priority: new(0.5), LastModified: "2026-01-02T03:04:05Z"}
)

// contents returns one block of each kind, with all members.
func contents() mcp.ContentList {
	return mcp.ContentList{
		&mcp.TextContent{Text: "text", Annotations: noted, Meta: mark},
		&mcp.ImageContent{Data: "aW1hZ2U=", MIMEType: "image/png", Annotations: noted, Meta: mark},
		&mcp.AudioContent{Data: "c291bmQ=", MIMEType: "audio/wav", Annotations: noted, Meta: mark},
		&mcp.ResourceLink{
			URI: "demo://text", Name: "text", Title: "Text", Description: "some text", MIMEType: "text/plain",
			Annotations: noted, Size: new(int64(5)), Icons: icons, Meta: mark,
		},
		&mcp.EmbeddedResource{
			Resource:    &mcp.ResourceContents{URI: "demo://text", MIMEType: "text/plain", Text: "hello", Meta: mark},
			Annotations: noted, Meta: mark,
		},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "demo://blob", MIMEType: "application/x",
			Blob: new("AAEC")}},
	}
}

// contentsIn returns the blocks in the form of a revision.
func contentsIn(v mcp.Version) mcp.ContentList {
	all := contents()
	if v < mcp.Version20251125 {
		all[3].(*mcp.ResourceLink).Icons = nil
	}
	if v >= mcp.Version20250618 {
		return all
	}
	plain := &mcp.Annotations{Audience: noted.Audience, Priority: noted.Priority}
	all[0] = &mcp.TextContent{Text: "text", Annotations: plain}
	all[1] = &mcp.ImageContent{Data: "aW1hZ2U=", MIMEType: "image/png", Annotations: plain}
	all[2] = &mcp.AudioContent{Data: "c291bmQ=", MIMEType: "audio/wav", Annotations: plain}
	all[3] = &mcp.TextContent{Text: "Text (text/plain): demo://text\nsome text", Annotations: plain}
	all[4] = &mcp.EmbeddedResource{
		Resource: &mcp.ResourceContents{URI: "demo://text", MIMEType: "text/plain", Text: "hello"}, Annotations: plain,
	}
	if v < mcp.Version20250326 {
		all[2] = &mcp.TextContent{Text: "[audio, audio/wav, 5 bytes: omitted, because this protocol revision has no audio]",
			Annotations: plain}
	}
	return all
}

// addResources adds resources and templates.
func (f *full) addResources() {
	must(f.AddResource(&mcp.Resource{
		URI: "demo://text", Name: "text", Title: "Text", Description: "some text", MIMEType: "text/plain", Annotations: noted,
		Size: new(int64(5)), Icons: icons, Meta: mark,
	}, f.resource))
	must(f.AddResource(&mcp.Resource{URI: "demo://blob", Name: "blob", MIMEType: "application/x"}, f.resource))
	must(f.AddResource(&mcp.Resource{URI: "demo://several", Name: "several"}, f.resource))
	must(f.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: "demo://city/{country}/{city}", Name: "city", Title: "City", Description: "a city",
		MIMEType:    "text/plain",
		Annotations: noted, Icons: icons, Meta: mark,
	}, f.city))
	must(f.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "demo://search{?q,max}", Name: "search"}, f.city))
	must(f.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "demo://path/{+path}", Name: "path"}, f.city))
	must(f.AddCompletion(mcp.CompleteRef{Type: mcp.RefResource, URI: "demo://city/{country}/{city}"}, "city", f.complete))
}

func (*full) resource(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	text := &mcp.ResourceContents{URI: r.URI, MIMEType: "text/plain", Text: "hello", Meta: mark}
	blob := &mcp.ResourceContents{URI: r.URI, Blob: new("AAEC")}
	switch r.URI {
	case "demo://blob":
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{blob}}, nil
	case "demo://several":
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{text, blob}}, nil
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{text},
		CacheHint: mcp.CacheHint{TTLMs: new(cacheTTL.Milliseconds())}}, nil
}

// city answers with the variables of its template. It knows no city in Atlantis.
func (*full) city(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	if r.Variables["country"] == "atlantis" {
		return nil, mcpserver.ResourceNotFound(r.URI)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: fmt.Sprint(r.Variables)}}}, nil
}

// addPrompts adds prompts.
func (f *full) addPrompts() {
	must(f.AddPrompt(&mcp.Prompt{
		Name: "review", Title: "Review", Description: "reviews", Icons: icons, Meta: mark,
		Arguments: []mcp.PromptArgument{
			{Name: "language", Title: "Language", Description: "of the code", Required: true}, {Name: "framework"},
		},
	}, f.prompt))
	must(f.AddPrompt(&mcp.Prompt{Name: "plain"}, f.prompt))
	must(f.AddPrompt(&mcp.Prompt{Name: "contents"},
		func(context.Context, *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
			r := &mcp.GetPromptResult{Description: "all kinds", Result: mcp.Result{Meta: mark}}
			for _, block := range contents() {
				r.Messages = append(r.Messages, &mcp.PromptMessage{Role: mcp.RoleAssistant, Content: block})
			}
			return r, nil
		}))
	for _, argument := range []string{"language", "framework"} {
		must(f.AddCompletion(mcp.CompleteRef{Type: mcp.RefPrompt, Name: "review"}, argument, f.complete))
	}
}

func (*full) prompt(_ context.Context, r *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{
		{Role: mcp.RoleUser, Content: mcp.Text(fmt.Sprintf("%s %v", r.Name, r.Arguments))},
	}}, nil
}

// complete offers 120 languages, and the frameworks of a chosen language.
func (*full) complete(_ context.Context, r *mcpserver.CompleteRequest) (values []string, err error) {
	if r.Argument != "language" {
		return []string{r.Value + "-" + r.Context["language"]}, nil
	}
	for i := range 120 {
		values = append(values, fmt.Sprintf("%s%d", r.Value, i))
	}
	return values, nil
}
