package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
)

var telemetryName = regexp.MustCompile("`((?:mcp_client|mcp_server|gen_ai|mcp)\\.[a-z_.]+)`")

// TestGuidesUseNamesOfTheSchema checks the names of events, metrics and attributes in docs/guides against the
// schema.
func TestGuidesUseNamesOfTheSchema(t *testing.T) {
	s := schema.Current
	known := map[string]bool{"mcp_client.connect": true, "mcp_client.auth": true} // names of spans
	for _, e := range s.Events {
		known[e.Name] = true
	}
	for _, m := range s.Metrics {
		known[m.Name] = true
	}
	for _, a := range s.Attributes {
		known[string(a.Key)] = true
	}
	for _, r := range s.Spans {
		known[r.ID] = true
	}
	pages, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range telemetryName.FindAllStringSubmatch(string(text), -1) {
			named++
			if !known[m[1]] {
				t.Errorf("%s: the schema has no %s", filepath.Base(page), m[1])
			}
		}
	}
	if named < 40 {
		t.Errorf("the guides name %d rows of the schema, want at least 40", named)
	}
}
