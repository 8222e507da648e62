package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

type attribute struct {
	Key   string `json:"key"`
	Bound string `json:"bound"`
}

// schema returns the telemetry schema, read from a file: this module does not require the project's module, because
// that would mix their versions of OpenTelemetry.
func schema(t *testing.T) map[string]attribute {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "internal", "instrument", "schema", "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Attributes []attribute `json:"attributes"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Attributes) == 0 {
		t.Fatal("schema.json has no attributes")
	}
	all := map[string]attribute{}
	for _, a := range file.Attributes {
		all[a.Key] = a
	}
	return all
}

// foreign are the attributes in configurations that are not in the schema.
var foreign = []string{
	"http.request.method", "url.path", "url.full", "url.query", // from HTTP instrumentations
	"service.name", "service.namespace", "service.version", "deployment.environment.name", // attributes of the resource
	"deployment.environment", // the name in older conventions
}

func TestDimensionsAreInTheSchema(t *testing.T) {
	ours := schema(t)
	dimensions, _ := setting(t, "gateway.yaml", "connectors", "span_metrics", "dimensions").([]any)
	if len(dimensions) == 0 {
		t.Fatal("the span metrics have no dimensions")
	}
	for _, d := range dimensions {
		name, _ := d.(map[string]any)["name"].(string)
		if slices.Contains(foreign, name) {
			continue // the operator chooses its values
		}
		if a, ok := ours[name]; !ok {
			t.Errorf("the schema has no attribute %q", name)
		} else if a.Bound == "unbounded" {
			t.Errorf("%s has any number of values, so it cannot be a dimension", name)
		}
	}
}

func TestEveryAttributeIsInTheSchema(t *testing.T) {
	ours := schema(t)
	named := regexp.MustCompile(`attributes(?:\[|, \[?|\)?, )"([a-z_.]+)"`)
	for _, name := range shipped {
		for _, m := range named.FindAllStringSubmatch(readShipped(t, name), -1) {
			if _, ok := ours[m[1]]; !ok && m[1] != "event.name" && !slices.Contains(foreign, m[1]) {
				t.Errorf("%s names the attribute %q, which the schema does not have", name, m[1])
			}
		}
	}
}

// TestScrubbingKeepsNonContentAttributes runs the patterns of the agent over the keys of the schema.
func TestScrubbingKeepsNonContentAttributes(t *testing.T) {
	content := []string{"gen_ai.tool.call.arguments", "gen_ai.tool.call.result"}
	pattern := regexp.MustCompile(`delete_matching_keys\(attributes, "([^"]+)"\)`)
	var patterns []*regexp.Regexp
	for _, m := range pattern.FindAllStringSubmatch(readShipped(t, "agent.yaml"), -1) {
		patterns = append(patterns, regexp.MustCompile(strings.NewReplacer(`\\`, `\`, "$$", "$").Replace(m[1])))
	}
	scrubbed := func(key string) bool {
		return slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(key) })
	}
	if len(patterns) < 5 {
		t.Fatalf("found %d patterns in agent.yaml", len(patterns))
	}
	for key := range schema(t) {
		isContent := slices.Contains(content, key) || strings.HasPrefix(key, "gen_ai.prompt.variable")
		if scrubbed(key) && !isContent {
			t.Errorf("the agent would remove %s, which is not content", key)
		}
	}
	for _, key := range []string{
		"gen_ai.prompt.variable.name", "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions",
		"gen_ai.prompt", "gen_ai.prompt.0.content", "gen_ai.completion.12.content", "gen_ai.event.content",
		"mcp.request.argument.path", "mcp.tool.result.content", "mcp.prompt.result.message_content", "input.value",
		"output.value",
		"traceloop.entity.input", "http.request.header.Authorization", "http.response.header.set-cookie",
	} {
		if !scrubbed(key) {
			t.Errorf("the agent should remove %s", key)
		}
	}
}
