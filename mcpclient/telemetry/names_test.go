package telemetry_test

import (
	"fmt"
	"go/format"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func TestConstantsAreThoseOfTheSchema(t *testing.T) {
	source, err := format.Source([]byte(constants(telemetry.Schema)))
	if err != nil {
		t.Fatal(err)
	}
	checkFile(t, filepath.Join("names", "names.go"), string(source))
}

// constants is the source of package names.
func constants(d telemetry.Definition) string {
	var b strings.Builder
	b.WriteString(`// Code generated from mcpclient/telemetry by "go generate ./mcpclient/telemetry". DO NOT EDIT.

// Package names has a constant for every name in the schema of package telemetry, for those who query, filter or test
// what is emitted: metrics, attributes and events, each called as its name in one word. A name that the schema gives up
// is gone here too, and the compiler says where it was used.
package names

`)
	fmt.Fprintf(&b, "// SchemaVersion is the version of the schema that these names are from.\nconst SchemaVersion = %q\n", d.Version)
	block := func(title string) func(prefix, name, brief string) {
		fmt.Fprintf(&b, "\n// %s.\nconst (\n", title)
		return func(prefix, name, brief string) {
			for line := range strings.SplitSeq(wrapped(brief, 110), "\n") {
				fmt.Fprintf(&b, "\t// %s\n", line)
			}
			fmt.Fprintf(&b, "\t%s%s = %q\n", prefix, inOneWord(name), strings.TrimSuffix(name, "{name}"))
		}
	}
	add := block("Names of metrics")
	for _, m := range d.Metrics {
		add("Metric", m.Name, m.Brief+" In "+m.Unit+".")
	}
	b.WriteString(")\n")
	add = block("Keys of attributes, the same on spans, metrics and log records")
	for _, a := range d.Attributes {
		add("Key", a.Key, a.Brief)
	}
	b.WriteString(")\n")
	add = block("Names of events, which are the messages of their log records too")
	for _, e := range d.Events {
		add("Event", e.Name, e.Brief)
	}
	b.WriteString(")\n")
	return b.String()
}

// initials are the words that Go writes in capitals.
var initials = map[string]string{
	"mcp": "MCP", "ai": "AI", "id": "ID", "uri": "URI", "pid": "PID", "rpc": "RPC", "jsonrpc": "JSONRPC", "mrtr": "MRTR",
}

// inOneWord is a name as a part of an identifier: mcp_client.corr_id is MCPClientCorrID. What a key ends
// with that stands for many is left out.
func inOneWord(name string) string {
	var b strings.Builder
	name = strings.TrimSuffix(name, ".{name}")
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '_' }) {
		if capitals, ok := initials[word]; ok {
			b.WriteString(capitals)
		} else {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// wrapped breaks a text into lines of at most so many bytes.
func wrapped(text string, width int) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}
