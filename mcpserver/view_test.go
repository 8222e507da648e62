package mcpserver

import (
	"slices"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
)

func TestEveryRevisionHasItsOwnView(t *testing.T) {
	known := mcp.SupportedVersions()
	slices.Reverse(known)
	if !slices.Equal(known, revisions[:]) {
		t.Errorf("got views for %v, want one for each of %v", revisions, known)
	}
}

func TestViewDoesNotChangeOriginal(t *testing.T) {
	whole := &mcp.Prompt{
		Name: "p", Title: "P", Meta: mcp.Meta(`{}`), Icons: []mcp.Icon{{Src: "https://example.com/i.png"}},
		Arguments: []mcp.PromptArgument{{Name: "a", Title: "A"}},
	}
	before, err := mcp.AppendResult(nil, whole)
	if err != nil {
		t.Fatal(err)
	}
	var forms views
	for _, v := range revisions {
		if _, err := viewOf(&forms, whole, promptMembers, v); err != nil {
			t.Fatal(err)
		}
	}
	if after, err := mcp.AppendResult(nil, whole); err != nil || string(after) != string(before) {
		t.Errorf("after it was shown to all, it is %s, %v, want still %s", after, err, before)
	}
}
