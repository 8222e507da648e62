package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

const badMeta = `{"a bad name":1}`

var unsafeIcons = []mcp.Icon{{Src: "https://example.com/a.png"}, {Src: "javascript:alert(1)"}}

func TestNamesAndIconsAreCheckedWhenAdded(t *testing.T) {
	s := bare(t, mcpserver.Options{})
	read := func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return nil, nil
	}
	for _, bad := range []struct {
		meta  mcp.Meta
		icons []mcp.Icon
		want  string
	}{
		{mcp.Meta(badMeta), nil, `_meta: meta name "a bad name" has an invalid character`},
		{mcp.Meta(`{"dev.mcp/x":1}`), nil, `_meta: meta name "dev.mcp/x" has a prefix that the protocol reserves`},
		{nil, unsafeIcons, `icons: [1]: source has the unsafe scheme "javascript"`},
	} {
		for what, err := range map[string]error{
			"add tool x: ": s.AddTool(&mcp.Tool{Name: "x", Meta: bad.meta, Icons: bad.icons}, idle),
			"add prompt x: ": s.AddPrompt(&mcp.Prompt{Name: "x", Meta: bad.meta, Icons: bad.icons},
				saying(nil, nil)),
			"add resource x:y: ": s.AddResource(&mcp.Resource{Name: "x", URI: "x:y", Meta: bad.meta,
				Icons: bad.icons}, read),
			"add resource template x:{y}: ": s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "x", URITemplate: "x:{y}",
				Meta: bad.meta, Icons: bad.icons}, read),
			"add tool y: ": mcpserver.AddTool(s, &mcp.Tool{Name: "y", Meta: bad.meta, Icons: bad.icons},
				func(context.Context, struct{}) (string, error) { return "", nil }),
		} {
			if err == nil || !strings.HasPrefix(err.Error(), what+bad.want) {
				t.Errorf("%v, want %s", err, what+bad.want)
			}
		}
	}
}

func TestServerImplementationInfoIsChecked(t *testing.T) {
	info := mcp.Implementation{Name: "a"}
	for want, make := range map[string]func(){
		`extensions: extension "no prefix!" has no prefix`: func() {
			mcpserver.New(info,
				&mcpserver.Options{Capabilities: mcp.ServerCapabilities{Extensions: map[string]mcp.Object{"no prefix!": {}}}})
		},
		`icons: [1]: source has the unsafe scheme "javascript"`: func() {
			mcpserver.New(mcp.Implementation{Name: "a", Icons: unsafeIcons}, nil)
		},
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, want) {
					t.Errorf("panics with %s, want %s", p, want)
				}
			}()
			make()
		}()
	}
}

func TestNamesAndIconsInResultsAreChecked(t *testing.T) {
	results := map[string]any{
		"bad":   &mcp.CallToolResult{Result: mcp.Result{Meta: mcp.Meta(badMeta)}},
		"block": &mcp.CallToolResult{Content: mcp.ContentList{&mcp.TextContent{Meta: mcp.Meta(badMeta)}}},
		"link":  &mcp.CallToolResult{Content: mcp.ContentList{&mcp.ResourceLink{URI: "x:y", Name: "x", Icons: unsafeIcons}}},
		"good":  &mcp.CallToolResult{Result: mcp.Result{Meta: mcp.Meta(`{"com.example/x":1}`)}},
	}
	make := func(t *testing.T) *mcpserver.Server {
		s := bare(t, mcpserver.Options{})
		must(t, s.AddTool(&mcp.Tool{Name: "x"},
			func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				return results[string(r.Arguments[len(`{"a":"`):len(r.Arguments)-2])].(*mcp.CallToolResult), nil
			}))
		for name, result := range map[string]any{
			"acme/raw":  json.RawMessage(`{"_meta":` + badMeta + `}`),
			"acme/map":  map[string]any{"_meta": map[string]int{"a b": 1}},
			"acme/mcp":  &mcp.Result{Meta: mcp.Meta(badMeta)},
			"acme/good": map[string]any{"_meta": map[string]int{"com.example/x": 1}},
		} {
			must(t, s.HandleRequest(name, func(context.Context, *mcpserver.Request) (any, error) { return result, nil }))
		}
		return s
	}
	inEachRevision(t, make, func(t *testing.T, c *talk) {
		for name := range results {
			answer := c.ask("tools/call", fmt.Sprintf(`"name":"x","arguments":{"a":%q}`, name))
			if refused := answer.Error != nil; refused != (name != "good") &&
				!(name == "link" && c.version < mcp.Version20250618) {
				t.Errorf("a call with the result %s got %+v", name, answer)
			}
		}
		for _, name := range []string{"raw", "map", "mcp", "good"} {
			if answer := c.ask("acme/"+name, ""); (answer.Error != nil) != (name != "good") {
				t.Errorf("acme/%s got %+v", name, answer)
			}
		}
	})
}

func TestNamesInServerRequestsAreChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, mcpserver.Options{})
		var got error
		must(t, s.AddTool(&mcp.Tool{Name: "x"},
			func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				p := prompt("hi")
				p.Messages[0].Meta = mcp.Meta(badMeta)
				_, got = mcpserver.RequestFrom(ctx).CreateMessage(ctx, p)
				return nil, nil
			}))
		w := openedAble(t, s, "2025-11-25")
		w.send(callOf(2, "x", `{}`))
		synctest.Wait()
		if got == nil || !strings.Contains(got.Error(),
			`sampling/createMessage: messages: [0]: _meta: meta name "a bad name"`) {
			t.Errorf("%v, want an error about the name", got)
		}
	})
}

func TestUnsafeClientIconsAreOmitted(t *testing.T) {
	const said = `"clientInfo":{"name":"a","version":"1",` +
		`"icons":[{"src":"javascript:alert(1)"},{"src":"https://example.com/a.png"}]}`
	for version, open := range map[string]string{
		"2025-11-25": `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
			`"capabilities":{},` + said + `}}`,
		"2026-07-28": "",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := bare(t, mcpserver.Options{})
			var got mcp.Implementation
			must(t, s.AddTool(&mcp.Tool{Name: "x"},
				func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
					got = r.Client()
					return nil, nil
				}))
			w := serve(t, t.Context(), s)
			meta := `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
				`"io.modelcontextprotocol/` + said[1:] + `}`
			if open != "" {
				meta = `{}`
				w.send(open, initialized)
			}
			w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","_meta":` + meta + `}}`)
			synctest.Wait()
			if len(got.Icons) != 1 || got.Icons[0].Src != "https://example.com/a.png" {
				t.Errorf("the client of %s has the icons %v, want the safe one only", version, got.Icons)
			}
		})
	}
}
