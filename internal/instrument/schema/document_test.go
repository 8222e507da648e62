package schema_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
)

var update = flag.Bool("update", false, "write the pages of docs/telemetry and schema.json")

const regenerate = "go generate ./..."

func TestReferencePageMatchesSchema(t *testing.T) {
	samples := readSamples(t)
	for name, text := range map[string]string{
		"telemetry.md":               overview(schema.Current),
		"telemetry/client-events.md": eventsPage("client", schema.Current.Events, samples),
		"telemetry/server-events.md": eventsPage("server", schema.Current.Events, samples),
		"telemetry/spans.md":         spansPage(schema.Current.Spans),
		"telemetry/metrics.md":       metricsPage(schema.Current.Metrics),
		"telemetry/attributes.md":    attributesPage(schema.Current.Attributes),
	} {
		checkFile(t, filepath.Join("..", "..", "..", "docs", name), text)
	}
}

func TestSchemaFileMatchesSchema(t *testing.T) {
	data, err := json.MarshalIndent(schema.Current, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	checkFile(t, "schema.json", string(data)+"\n")
}

// checkFile compares a file with its generated content, or writes it with -update.
func checkFile(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is generated from the schema; run %q (-want +got):\n%s", path, regenerate, diff)
	}
}

// generated is the text after the title of each page. Apostrophes stand for backquotes in the texts of pages.
const generated = `
<!-- Generated from internal/instrument/schema by 'go generate ./...'. Do not edit. -->
`

// head is the beginning of the reference.
const head = `# Telemetry reference
` + generated + `
This reference lists everything that a client or a server emits, in version %s of the schema. The schema is also available as data:
[schema.json](../internal/instrument/schema/schema.json), and 'schema.Current' in Go. [Package names](../mcpclient/telemetry/names) has a
constant for every name. Package telemetrytest compares the emissions of a test with the schema.

| to look up | read |
|---|---|
| a log record: its level, its fields, and a sample | [events of a client](telemetry/client-events.md), [events of a server](telemetry/server-events.md) |
| a span: its attributes at the start and at the end | [spans](telemetry/spans.md) |
| a metric: its unit, attributes, buckets, and number of series | [metrics](telemetry/metrics.md) |
| an attribute: its type and its values | [attributes](telemetry/attributes.md) |

- The major version increases when a stable row is removed, or its name, type, unit, values or meaning change. The minor version
  increases with any other change: new rows, optional attributes and values, changed experimental and convention rows.
- *Stable* rows keep their name, type and meaning within a major version. *Experimental* rows may change in a minor version,
  with a line in the changelog. *Convention* rows follow the [OpenTelemetry semantic conventions for MCP](%s),
  which are in development, and change with them.
- 'mcp.client.*' and 'mcp.server.*', and the kinds of spans, refer to the sender and the receiver of a message.
  The process of a client emits 'mcp_client.*', the process of a server emits 'mcp_server.*'.
- '_OTHER' replaces every value outside of a closed or limited set.
- With 'telemetry.WithProfileLabels', profiles have labels of the same names: see [profiles](debugging.md#profiles).

`

// overview returns the first page of the reference, with the contents and links to them.
func overview(d schema.Definition) string {
	var b strings.Builder
	fmt.Fprintf(&b, quote(head), d.Version, d.Conventions)
	b.WriteString("## Events\n\n**Bold** events are the contract: their names, fields and meaning never change within a " +
		"major version.\n\n")
	table(&b, "Event", "Level", "Meaning")
	for _, e := range d.Events {
		side, _, _ := strings.Cut(strings.TrimPrefix(e.Name, "mcp_"), ".")
		name := rowLink("telemetry/"+side+"-events.md", e.Name)
		if e.Core {
			name = "**" + name + "**"
		}
		row(&b, name, levels(e), firstSentence(e.Brief))
	}
	b.WriteString("\n## Spans\n\n")
	table(&b, "Span", "Kind", "Scope")
	for _, s := range d.Spans {
		row(&b, rowLink("telemetry/spans.md", s.ID), string(s.Kind), firstSentence(s.Brief))
	}
	b.WriteString("\n## Metrics\n\n")
	table(&b, "Metric", "Instrument", "Unit", "Meaning")
	for _, m := range d.Metrics {
		row(&b, rowLink("telemetry/metrics.md", m.Name), string(m.Instrument), code(m.Unit), firstSentence(m.Brief))
	}
	b.WriteString("\n## Attributes\n\nEach attribute has [a row](telemetry/attributes.md) with its type and its values.\n")
	writeSides(&b)
	return b.String()
}

// firstSentence returns the first sentence of a brief. The row's own part contains the rest.
func firstSentence(brief string) string {
	first, rest, more := strings.Cut(brief, ". ")
	if more && rest != "" {
		return first + "."
	}
	return brief
}
