package mcp

import (
	"encoding/json"
	"testing"
)

func TestImplementationInDropsMembersOfLaterRevisions(t *testing.T) {
	whole := Implementation{
		Name: "n", Title: "t", Version: "1", Description: "d", WebsiteURL: "https://example.com",
		Icons: []Icon{{Src: "data:,"}},
	}
	const title, all = `{"name":"n","title":"t","version":"1"}`,
		`{"name":"n","title":"t","version":"1","description":"d","websiteUrl":"https://example.com",` +
			`"icons":[{"src":"data:,"}]}`
	for v, want := range map[Version]string{
		Version20241105: `{"name":"n","version":"1"}`, Version20250326: `{"name":"n","version":"1"}`,
		Version20250618: title, Version20251125: all, Version20260728: all,
	} {
		if got, err := json.Marshal(whole.In(v)); err != nil || string(got) != want {
			t.Errorf("%s: want %s, got %s, %v", v, want, got, err)
		}
	}
}
