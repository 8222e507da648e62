package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// rich returns content of all kinds, with all members.
func rich() mcp.ContentList {
	annotations := &mcp.Annotations{Priority: new(1.0), LastModified: "2025-01-12"}
	meta := mcp.Meta(`{"k":1}`)
	return mcp.ContentList{
		&mcp.TextContent{Text: "t", Annotations: annotations, Meta: meta},
		&mcp.ImageContent{Data: "AAAA", MIMEType: "image/png", Annotations: annotations, Meta: meta},
		&mcp.AudioContent{Data: "AAAAAA==", MIMEType: "audio/wav", Annotations: annotations, Meta: meta},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test://e", Text: "e", Meta: meta},
			Annotations: annotations, Meta: meta},
		&mcp.ResourceLink{
			URI: "test://l", Name: "l", Title: "L", Description: "d", MIMEType: "text/plain", Annotations: annotations,
			Meta: meta,
			Size: new(int64(1)), Icons: []mcp.Icon{{Src: "https://example.com/a.png"}},
		},
		&mcp.ResourceLink{URI: "test://m"},
		&mcp.UnknownContent{Type: "new", Raw: json.RawMessage(`{"type":"new"}`)},
	}
}

// richIn returns the blocks that a client of revision v should get for rich.
func richIn(v mcp.Version) []string {
	newest := []string{
		`{"type":"text","text":"t","annotations":{"priority":1,"lastModified":"2025-01-12"},"_meta":{"k":1}}`,
		`{"type":"image","data":"AAAA","mimeType":"image/png","annotations":{"priority":1,"lastModified":"2025-01-12"},` +
			`"_meta":{"k":1}}`,
		`{"type":"audio","data":"AAAAAA==","mimeType":"audio/wav","annotations":{"priority":1,"lastModified":"2025-01-12"},` +
			`"_meta":{"k":1}}`,
		`{"type":"resource","resource":{"_meta":{"k":1},"uri":"test://e","text":"e"},"annotations":{"priority":1,` +
			`"lastModified":"2025-01-12"},"_meta":{"k":1}}`,
		`{"type":"resource_link","_meta":{"k":1},"uri":"test://l","name":"l","title":"L","description":"d",` +
			`"mimeType":"text/plain","annotations":{"priority":1,"lastModified":"2025-01-12"},"size":1,` +
			`"icons":[{"src":"https://example.com/a.png"}]}`,
		`{"type":"resource_link","uri":"test://m","name":""}`,
		`{"type":"new"}`,
	}
	if v >= mcp.Version20251125 {
		return newest
	}
	newest[4] = strings.Replace(newest[4], `,"icons":[{"src":"https://example.com/a.png"}]`, "", 1)
	if v == mcp.Version20250618 {
		return newest
	}
	for i := range newest {
		newest[i] = strings.NewReplacer(`,"lastModified":"2025-01-12"`, "", `,"_meta":{"k":1}`, "", `"_meta":{"k":1},`,
			"").Replace(newest[i])
	}
	newest[4] = `{"type":"text","text":"L (text/plain): test://l\nd","annotations":{"priority":1}}`
	newest[5] = `{"type":"text","text":"resource: test://m"}`
	if v == mcp.Version20241105 {
		newest[2] = `{"type":"text",` +
			`"text":"[audio, audio/wav, 4 bytes: omitted, because this protocol revision has no audio]",` +
			`"annotations":{"priority":1}}`
	}
	return newest
}

func TestContentFollowsRevision(t *testing.T) {
	shared, untouched := rich(), rich()
	messages := make([]*mcp.PromptMessage, len(shared))
	for i, c := range shared {
		messages[i] = &mcp.PromptMessage{Role: mcp.RoleUser, Content: c}
	}
	inEachRevision(t, func(t *testing.T) *mcpserver.Server {
		s := bare(t, mcpserver.Options{})
		must(t, s.AddTool(&mcp.Tool{Name: "rich"},
			func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: shared}, nil
			}))
		must(t, s.AddPrompt(&mcp.Prompt{Name: "rich"}, saying(&mcp.GetPromptResult{Messages: messages}, nil)))
		return s
	}, func(t *testing.T, c *talk) {
		want := richIn(c.version)
		if diff := cmp.Diff(`{"content":[`+strings.Join(want, ",\n")+`]}`,
			strings.ReplaceAll(c.result("tools/call", `"name":"rich"`), "},{\"type", "},\n{\"type")); diff != "" {
			t.Errorf("the tool's result differs (-want +got):\n%s", diff)
		}
		for i := range want {
			want[i] = `{"role":"user","content":` + want[i] + `}`
		}
		if diff := cmp.Diff(`{"messages":[`+strings.Join(want, ",\n")+`]}`,
			strings.ReplaceAll(c.result("prompts/get", `"name":"rich"`), "},{\"role", "},\n{\"role")); diff != "" {
			t.Errorf("the prompt differs (-want +got):\n%s", diff)
		}
	})
	if diff := cmp.Diff(untouched, shared); diff != "" {
		t.Errorf("the handler's content has been changed:\n%s", diff)
	}
}

func TestNilContentIsInternalError(t *testing.T) {
	for _, v := range []mcp.Version{mcp.Version20241105, mcp.Version20251125, mcp.Version20260728} {
		synctest.Test(t, func(t *testing.T) {
			s := bare(t, mcpserver.Options{})
			nils := mcp.ContentList{
				nil, (*mcp.TextContent)(nil), (*mcp.ImageContent)(nil), (*mcp.AudioContent)(nil), (*mcp.EmbeddedResource)(nil),
				&mcp.EmbeddedResource{}, (*mcp.UnknownContent)(nil),
			}
			must(t, mcpserver.AddTool(s, &mcp.Tool{Name: "nil"}, func(_ context.Context, in struct {
				I int `json:"i"`
			}) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: nils[in.I : in.I+1]}, nil
			}))
			c := speak(t, s, v)
			for i := range nils {
				params := `"name":"nil","arguments":{"i":` + string(rune('0'+i)) + `}`
				if got := c.refused("tools/call", params); got != "-32603 internal error" {
					t.Errorf("%T is refused with %s, want an internal error", nils[i], got)
				}
			}
			c.bye()
		})
	}
}

func TestUnchangedContentIsNotCopied(t *testing.T) {
	plain := mcp.ContentList{mcp.Text("a"), &mcp.ImageContent{Data: "AAAA"},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "x"}}}
	for _, v := range mcp.SupportedVersions() {
		if n := testing.AllocsPerRun(10, func() { mcpserver.ContentIn(plain, v) }); n != 0 {
			t.Errorf("in %s it costs %v allocations, want none", v, n)
		}
	}
}
