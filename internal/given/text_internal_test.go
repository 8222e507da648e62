package given

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcp"
)

// TestTextContentNeedsOnlyItsMetaChecked checks that onlyText examines each field that needs it.
func TestTextContentNeedsOnlyItsMetaChecked(t *testing.T) {
	for _, of := range []struct {
		t    reflect.Type
		want []string
	}{
		{reflect.TypeFor[mcp.CallToolResult](), []string{"", "content"}},
		{reflect.TypeFor[mcp.Result](), []string{"_meta"}},
		{reflect.TypeFor[mcp.TextContent](), []string{"_meta"}},
	} {
		var have []string
		for _, f := range planOf(of.t).fields {
			have = append(have, f.name)
		}
		if !slices.Equal(have, of.want) {
			t.Errorf("%v has %q to check, and onlyText knows of %q", of.t, have, of.want)
		}
	}
}

func TestTextShortcutAgreesWithTheFullCheck(t *testing.T) {
	metas := []mcp.Meta{nil, nil, nil, mcp.Meta("{}"), mcp.Meta(`{"a":1}`), mcp.Meta(`{"-":1}`), mcp.Meta("[")}
	rapid.Check(t, func(t *rapid.T) {
		meta := func() mcp.Meta { return rapid.SampledFrom(metas).Draw(t, "meta") }
		block := rapid.Custom(func(t *rapid.T) mcp.Content {
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				return &mcp.ResourceLink{URI: "a:b", Name: "n", Meta: meta()}
			case 1:
				return (*mcp.TextContent)(nil)
			case 2:
				return nil
			}
			return &mcp.TextContent{Text: "text", Meta: meta()}
		})
		r := &mcp.CallToolResult{Result: mcp.Result{Meta: meta()}, Content: rapid.SliceOfN(block, 0, 3).Draw(t, "content")}
		v := reflect.ValueOf(r)
		if full := planOf(v.Type()).check(v); onlyText(r) && full != nil {
			t.Fatalf("%v passes, and the full check says: %v", r, full)
		}
		if plain := !slices.ContainsFunc(r.Content, func(c mcp.Content) bool {
			text, ok := c.(*mcp.TextContent)
			return !ok || text == nil || text.Meta != nil
		}); onlyText(r) != (plain && r.Meta == nil) {
			t.Fatalf("%v: onlyText is %v", r, onlyText(r))
		}
	})
	if onlyText(nil) || onlyText((*mcp.CallToolResult)(nil)) || onlyText(&mcp.Tool{}) {
		t.Error("what is no result of a tool is taken for one")
	}
}
