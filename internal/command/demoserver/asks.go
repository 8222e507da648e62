package demoserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// addAsks adds the tools that send a request to the client before they answer.
func addAsks(s *mcpserver.Server) error {
	return errors.Join(
		mcpserver.AddTool(s, &mcp.Tool{Name: "order", Description: "Order coffee: the user fills in a form."}, order),
		mcpserver.AddTool(s, &mcp.Tool{Name: "sign-in", Description: "Send the user to a page, which does nothing."}, signIn),
		mcpserver.AddTool(s, &mcp.Tool{Name: "poem", Description: "Have the client's model write a poem."}, poem),
		mcpserver.AddTool(s, &mcp.Tool{Name: "roots", Description: "Tell where the client lets servers work."}, listRoots),
	)
}

type coffee struct {
	Name  string   `json:"name" jsonschema:"on whose name"`
	Size  string   `json:"size"`
	Cups  int      `json:"cups,omitzero"`
	With  []string `json:"with,omitzero" jsonschema:"what goes into it"`
	ToGo  bool     `json:"to_go,omitzero"`
	Email string   `json:"email,omitzero" jsonschema:"where the bill goes"`
}

func order(ctx context.Context, _ noArguments) (string, error) {
	in, action, err := mcpserver.ElicitAs[coffee](ctx, "Your coffee?", func(f *mcp.FormSchema) {
		f.Field("name").MinLength = new(int64(1))
		size := f.Field("size")
		size.OneOf = []mcp.FormOption{{Const: "s", Title: "small"}, {Const: "l", Title: "large"}}
		size.Default = json.RawMessage(`"l"`)
		cups := f.Field("cups")
		cups.Minimum, cups.Maximum, cups.Default = new(1.0), new(10.0), json.RawMessage(`1`)
		if mcpserver.RequestFrom(ctx).Version < mcp.Version20251125 { // 2025-11-25 is the first version with multiple choice
			f.Properties = slices.DeleteFunc(f.Properties, func(f mcp.FormField) bool { return f.Name == "with" })
		} else {
			f.Field("with").Items = &mcp.FormItems{Type: mcp.FormString, Enum: []string{"milk", "sugar", "cinnamon"}}
		}
		f.Field("to_go").Title = "To go"
		f.Field("email").Format = mcp.FormEmail
	})
	switch {
	case err != nil:
		return "", err
	case action != mcp.ElicitAccept:
		return "No coffee, then.", nil
	}
	text := fmt.Sprintf("%d × %s for %s", in.Cups, in.Size, in.Name)
	if len(in.With) > 0 {
		text += " with " + strings.Join(in.With, " and ")
	}
	if in.ToGo {
		text += ", to go"
	}
	return text, nil
}

func signIn(ctx context.Context, _ noArguments) (string, error) {
	r, err := mcpserver.RequestFrom(ctx).Elicit(ctx, &mcp.ElicitParams{
		Mode: mcp.ElicitURL, Message: "To see how a server sends you to a page.", URL: "https://example.com/?from=mcpotel",
	})
	if err != nil {
		return "", err
	}
	if r.Action != mcp.ElicitAccept {
		return "You did not go.", nil
	}
	return "You went there.", nil
}

type poemArguments struct {
	About string `json:"about"`
}

func poem(ctx context.Context, in poemArguments) (string, error) {
	m, err := mcpserver.RequestFrom(ctx).CreateMessage(ctx, &mcp.CreateMessageParams{
		Messages: []*mcp.SamplingMessage{
			{Role: "user", Content: mcp.SamplingContent{mcp.Text("Write a poem about " + in.About + ".")}}},
		MaxTokens: 200,
	})
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, block := range m.Content {
		if t, ok := block.(*mcp.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	return text.String(), nil
}

type rootsResult struct {
	Roots []string `json:"roots"`
}

func listRoots(ctx context.Context, _ noArguments) (rootsResult, error) {
	roots, err := mcpserver.RequestFrom(ctx).ListRoots(ctx)
	out := rootsResult{Roots: []string{}}
	for _, r := range roots {
		out.Roots = append(out.Roots, r.URI)
	}
	return out, err
}
