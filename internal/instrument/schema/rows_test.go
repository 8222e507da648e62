package schema_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
)

const eventsHead = `# Events of a %s
` + generated + `
Each event is a log record with the name of the event as its message and as 'event.name'. The record has the context of its span.
[The reference](../telemetry.md) lists the changes to expect.

- Fields in *italics* are present only when they apply. All other fields are always present.
- The samples are records of 'slog.JSONHandler', with the ids of the span after the fields. Over OTLP, the trace id and the span id are
  separate fields. The samples come from [a test](../../internal/instrument/samples_test.go) with a fixed clock and fixed ids. Long texts
  are cut at '…'.
- Each name links to its description.
`

// eventsPage returns the page with a part for each event of a side.
func eventsPage(side string, events []schema.Event, samples map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, quote(eventsHead), side)
	for _, e := range events {
		if !strings.HasPrefix(e.Name, "mcp_"+side+".") {
			continue
		}
		heading(&b, e.Name, e.Brief)
		item(&b, "Level", levels(e))
		item(&b, "Fields", fields(e.Fields))
		item(&b, "Measures", codeName(e.Measurement))
		item(&b, "Span", rowLink("spans.md", e.Span))
		item(&b, "Metrics", rowLinks("metrics.md", e.Metrics))
		item(&b, "Stability", stability(e))
		fmt.Fprintf(&b, "\n```json\n%s\n```\n", samples[e.Name])
	}
	return b.String()
}

func stability(e schema.Event) string {
	if e.Core {
		return string(e.Stability) + ", part of the contract"
	}
	return string(e.Stability)
}

func levels(e schema.Event) string {
	var all []string
	for _, l := range e.Levels {
		all = append(all, strings.ToLower(l.String()))
	}
	return strings.Join(all, ", ")
}

const spansHead = `# Spans
` + generated + `
A successful span leaves its status unset. A failed span has the status Error and 'error.type'. The description of the status is the
message of the JSON-RPC error or, for an attempt to connect, the text of the error. It has up to 256 bytes, and the redactor can change
it. Spans have no events. Samplers see the attributes at the start. Inputs and outputs of tools and prompts are recorded only with
'WithContentCapture', and only on spans. Attributes in *italics* are present only when they apply. All other attributes are always
present.

In addition, spans and log records may have attributes from the baggage, but not at the start of a span: the attributes of
'telemetry.ContextWithConversation' (%s), and others that the program names in 'otlp.WithBaggageAttributes'.
[The guide to conversations](../guides/conversations.md) has the details.
`

// spansPage returns the page with a part for each span.
func spansPage(spans []schema.Span) string {
	var b strings.Builder
	fmt.Fprintf(&b, quote(spansHead), fields(schema.Current.Baggage))
	for _, s := range spans {
		heading(&b, s.ID, s.Brief)
		item(&b, "Name", code(s.NameForm))
		item(&b, "Kind", string(s.Kind))
		item(&b, "At start", fields(s.AtStart))
		item(&b, "At end", fields(s.AtEnd))
		item(&b, "Links", strings.Join(s.Links, "; "))
		item(&b, "Stability", string(s.Stability))
	}
	return b.String()
}

const metricsHead = `# Metrics
` + generated + `
Metrics in seconds have float64 values, all others int64. A measurement within a span is recorded in the context of the span, so that
exemplars lead from a bucket to a trace. Attributes in *italics* are present only when they apply. All other attributes are always present.

*Series* is the maximum number of series of one client or one server, no matter what its peers do. It follows from the limits of the
attributes. The durations of operations and tasks have a separate limit, beyond which names are '_OTHER'. A server counts once for each
kind of network. A higher limit in 'WithToolNameLimit' means more series.

All clients and servers of a process together have at most 1,999 series of each metric, which is the limit of the SDK. At this limit, first
the names of tools become '_OTHER', then the names of clients. 'mcp_client.group' then identifies the clients, and attributes of a single
connection are absent. 'mcp_client.connection.state' first keeps the names of clients that are not ready.
([decision 0021](../decisions/0021-one-budget-of-sets.md))

'gen_ai.agent.name' is present only with 'telemetry.WithBaggageLabel', which also accepts other keys.
`

// metricsPage returns the page with a part for each metric.
func metricsPage(metrics []schema.Metric) string {
	var b strings.Builder
	b.WriteString(quote(metricsHead))
	for _, m := range metrics {
		heading(&b, m.Name, m.Brief)
		var bounds []string
		for _, bound := range m.Buckets {
			bounds = append(bounds, strconv.FormatFloat(bound, 'g', -1, 64))
		}
		item(&b, "Instrument", string(m.Instrument)+", "+code(m.Unit))
		item(&b, "Attributes", fields(m.Attrs))
		item(&b, "Buckets", strings.Join(bounds, ", "))
		item(&b, "Series", strconv.Itoa(m.MaxSeries))
		item(&b, "Stability", string(m.Stability))
	}
	return b.String()
}

const attributesHead = `# Attributes
` + generated + `
A *closed* attribute has one of the listed values. The user chooses the values of a *configured* attribute. A *limited* attribute has any
value, but the metrics of one client or server have only a limited number of values. *Unbounded* attributes are only on spans and log
records.

`

// attributesPage returns the page with a row for each attribute.
func attributesPage(attributes []schema.Attribute) string {
	var b strings.Builder
	b.WriteString(quote(attributesHead))
	table(&b, "Attribute", "Type", "Meaning", "Values", "Stability")
	for _, a := range attributes {
		kind := string(a.Type)
		if a.Unit != "" {
			kind += ", " + code(a.Unit)
		}
		values := string(a.Bound)
		if a.Bound == schema.Limited && a.Limit > 0 {
			values += " to " + strconv.Itoa(a.Limit)
		}
		if len(a.Enum) > 0 {
			values += ": " + codeList(a.Enum)
		}
		row(&b, code(a.Key), kind, a.Brief, values, string(a.Stability))
	}
	return b.String()
}

// heading writes the heading of a row's part. Links may use the exact name, or the anchor that Markdown derives from
// the heading.
func heading(b *strings.Builder, name, brief string) {
	fmt.Fprintf(b, "\n<a id=\"%s\"></a>\n\n## %s\n\n%s\n\n", name, code(name), brief)
}

// item writes a line of a list, unless text is empty.
func item(b *strings.Builder, title, text string) {
	if text != "" {
		fmt.Fprintf(b, "- **%s**: %s\n", title, text)
	}
}

// rowLink returns a row's name as a link to its part of a page.
func rowLink(page, name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("[%s](%s#%s)", code(name), page, name)
}

func rowLinks(page string, names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, rowLink(page, name))
	}
	return strings.Join(all, ", ")
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

// codeName returns a name of the schema as code, and any other text unchanged.
func codeName(text string) string {
	if strings.HasPrefix(text, "mcp_") {
		return code(text)
	}
	return text
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// quote replaces apostrophes with backquotes.
func quote(text string) string { return strings.ReplaceAll(text, "'", "`") }
