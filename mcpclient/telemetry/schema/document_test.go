package schema_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/schema"
)

var update = flag.Bool("update", false, "write docs/telemetry.md and schema.json anew")

const regenerate = "go generate ./mcpclient/telemetry/..."

func TestReferencePageIsThatOfTheSchema(t *testing.T) {
	checkFile(t, filepath.Join("..", "..", "..", "docs", "telemetry.md"), page(schema.Current))
}

func TestSchemaFileIsThatOfTheSchema(t *testing.T) {
	data, err := json.MarshalIndent(schema.Current, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	checkFile(t, "schema.json", string(data)+"\n")
}

// checkFile compares a file with what is generated, or writes it with -update.
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

// head is the beginning of the reference page; apostrophes stand for backquotes.
const head = `# Telemetry reference

<!-- Generated from mcpclient/telemetry/schema by 'go generate ./mcpclient/telemetry/...'. Do not edit. -->

Everything that a client or a server emits: version %s of the schema. The same as data: [schema.json](../mcpclient/telemetry/schema/schema.json),
'schema.Current' in Go, and a constant for every name in
[package names](../mcpclient/telemetry/names). Package telemetrytest holds whatever a test emits against it.

- The first number of the version rises when a stable row is taken away, or its name, type, unit, values or meaning change. The
  second rises with any other change: rows, optional attributes and values are added, experimental rows and those of the
  conventions change.
- *Stable* rows keep their name, type and meaning within a major version. *Experimental* rows may change in a minor one,
  with a line in the changelog. *Convention* rows follow the [OpenTelemetry semantic conventions for MCP](%s),
  which are in development, and change with them.
- 'mcp.client.*' and 'mcp.server.*', and the kinds of spans, are about the sender and the receiver of a message.
  'mcp_client.*' is emitted by the process of a client, 'mcp_server.*' by that of a server.
- Attributes in *italics* are there only when they apply; the others always.
- '_OTHER' stands for every value that a closed or limited set does not hold.

`

// page is the reference page.
func page(d schema.Definition) string {
	var b strings.Builder
	fmt.Fprintf(&b, strings.ReplaceAll(head, "'", "`"), d.Version, d.Conventions)
	writeEvents(&b, d.Events)
	writeSpans(&b, d.Spans)
	writeMetrics(&b, d.Metrics)
	writeAttributes(&b, d.Attributes)
	writeSides(&b)
	return b.String()
}

func writeEvents(b *strings.Builder, events []schema.Event) {
	b.WriteString(`## Events

Each is a log record whose message and ` + "`event.name`" + ` are the event's name, logged with the context of its span. **Bold**
events are the contract: their names, fields and meaning never change within a major version.

`)
	table(b, "Event", "Level", "Fields", "Measurement", "Span", "Metrics", "Stability", "What happened")
	for _, e := range events {
		name := code(e.Name)
		if e.Core {
			name = "**" + name + "**"
		}
		measurement := e.Measurement
		if strings.HasPrefix(measurement, "mcp_") {
			measurement = code(measurement)
		}
		row(b, name, levels(e), fields(e.Fields), measurement, code(e.Span), codeList(e.Metrics), string(e.Stability),
			e.Brief)
	}
}

func levels(e schema.Event) string {
	var all []string
	for _, l := range e.Levels {
		all = append(all, strings.ToLower(l.String()))
	}
	return strings.Join(all, ", ")
}

func writeSpans(b *strings.Builder, spans []schema.Span) {
	b.WriteString(`
## Spans

A span that succeeds leaves its status unset; one that fails has status Error and ` + "`error.type`" + `. The description of the
status is the message of the JSON-RPC error, or for an attempt to connect the error's text: up to 256 bytes, and as far as the
redactor lets it through. Spans have no events. Samplers see the attributes at the start. What tools and prompts are given and
return is on spans only with ` + "`WithContentCapture`" + `, and in no other place.

`)
	table(b, "Row", "Kind", "Name", "At start", "At end", "Links", "Stability", "What it covers")
	for _, s := range spans {
		row(b, code(s.ID), string(s.Kind), code(s.NameForm), fields(s.AtStart), fields(s.AtEnd), strings.Join(s.Links, "; "),
			string(s.Stability), s.Brief)
	}
}

func writeMetrics(b *strings.Builder, metrics []schema.Metric) {
	b.WriteString(`
## Metrics

Metrics in seconds are float64, the others int64. What is measured within a span is recorded in its context, so that exemplars
lead from a bucket to a trace. *Series* is how many one client or one server makes at most, whatever its peers do: it follows
from the limits of the attributes, and for the durations of operations and tasks from a limit of their own, beyond which
names are ` + "`_OTHER`" + `. A server is one for each kind of network; more than ` + "`WithToolNameLimit`" + ` has by default means more series.

All clients and servers of a process together have at most 1,999 of each metric, which is what the SDK has room for. Where they would
have more, the names of tools become ` + "`_OTHER`" + ` first, and then those of clients: ` + "`mcp_client.group`" + ` stands for them, and nothing of the
single connection. ` + "`mcp_client.connection.state`" + ` has names for those first that are not ready.
([decision 0021](decisions/0021-one-budget-of-sets.md))

`)
	table(b, "Metric", "Instrument", "Unit", "Attributes", "Buckets", "Series", "Stability", "What it measures")
	for _, m := range metrics {
		var bounds []string
		for _, bound := range m.Buckets {
			bounds = append(bounds, strconv.FormatFloat(bound, 'g', -1, 64))
		}
		row(b, code(m.Name), string(m.Instrument), code(m.Unit), fields(m.Attrs), strings.Join(bounds, ", "),
			strconv.Itoa(m.MaxSeries), string(m.Stability), m.Brief)
	}
}

func writeAttributes(b *strings.Builder, attributes []schema.Attribute) {
	b.WriteString(`
## Attributes

A *closed* attribute has one of the values listed, a *configured* one what the user chose, a *limited* one any value, but
only so many on the metrics of one client or server. *Unbounded* ones are on spans and log records only.

`)
	table(b, "Attribute", "Type", "Unit", "Values", "Stability", "What it says")
	for _, a := range attributes {
		values := string(a.Bound)
		if a.Bound == schema.Limited && a.Limit > 0 {
			values += " to " + strconv.Itoa(a.Limit)
		}
		if len(a.Enum) > 0 {
			values += ": " + codeList(a.Enum)
		}
		row(b, code(a.Key), string(a.Type), code(a.Unit), values, string(a.Stability), a.Brief)
	}
}

func table(b *strings.Builder, heads ...string) {
	row(b, heads...)
	row(b, slices.Repeat([]string{"---"}, len(heads))...)
}

func row(b *strings.Builder, cells ...string) {
	for _, c := range cells {
		b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
	}
	b.WriteString("|\n")
}

func fields(uses []schema.Use) string {
	var all []string
	for _, u := range uses {
		text := code(u.Key)
		if u.Only != nil {
			text += " (" + codeList(u.Only) + ")"
		}
		if u.Need == schema.Conditional {
			text = "*" + text + "*"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func codeList(words []string) string {
	var all []string
	for _, w := range words {
		all = append(all, code(w))
	}
	return strings.Join(all, ", ")
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}
