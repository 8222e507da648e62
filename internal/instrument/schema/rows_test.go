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
Each event is a log record whose message and 'event.name' are its name, logged with the context of its span.
[The reference](../telemetry.md) says what may change and what may not.

- Fields in *italics* are there only when they apply; the others always.
- The samples are records of 'slog.JSONHandler', with the ids of the span behind the fields. Over OTLP the same is a log record with
  a trace id and a span id. They come from [a test](../../internal/instrument/samples_test.go), whose clock and ids are fixed;
  long texts are cut at '…'.
- Names link to where they are described.
`

// eventsPage has a part for each event of a side.
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
A span that succeeds leaves its status unset; one that fails has status Error and 'error.type'. The description of the
status is the message of the JSON-RPC error, or for an attempt to connect the text of the error: up to 256 bytes, and as far as the
redactor lets it through. Spans have no events. Samplers see the attributes at the start. What tools and prompts are given and
return is on spans only with 'WithContentCapture', and in no other place. Attributes in *italics* are there only when they apply; the
others always.

Any span and any log record may have attributes from the baggage besides, not at the start: those of
'telemetry.ContextWithConversation' (%s), and others that the program names in 'otlp.WithBaggageAttributes'.
[Whose call it was](../guides/conversations.md) shows how.
`

// spansPage has a part for each span.
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
Metrics in seconds are float64, the others int64. What is measured within a span is recorded in its context, so that exemplars
lead from a bucket to a trace. Attributes in *italics* are there only when they apply; the others always.

*Series* is how many one client or one server makes at most, whatever its peers do: it follows
from the limits of the attributes, and for the durations of operations and tasks from a limit of their own, beyond which
names are '_OTHER'. A server is one for each kind of network; more than 'WithToolNameLimit' has by default means more series.

All clients and servers of a process together have at most 1,999 of each metric, which is what the SDK has room for. Where they
would have more, the names of tools become '_OTHER' first, and then those of clients: 'mcp_client.group' stands for them, and
nothing of the single connection. 'mcp_client.connection.state' has names for those first that are not ready.
([decision 0021](../decisions/0021-one-budget-of-sets.md))

'gen_ai.agent.name' is there with 'telemetry.WithBaggageLabel' only, which takes another key as well.
`

// metricsPage has a part for each metric.
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
A *closed* attribute has one of the values listed, a *configured* one what the user chose, a *limited* one any value, but
only so many on the metrics of one client or server. *Unbounded* ones are on spans and log records only.

`

// attributesPage has a row for each attribute.
func attributesPage(attributes []schema.Attribute) string {
	var b strings.Builder
	b.WriteString(quote(attributesHead))
	table(&b, "Attribute", "Type", "What it says", "Values", "Stability")
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

// heading starts the part of a row. Links may use the exact name, or the form of a heading's link.
func heading(b *strings.Builder, name, brief string) {
	fmt.Fprintf(b, "\n<a id=\"%s\"></a>\n\n## %s\n\n%s\n\n", name, code(name), brief)
}

// item is a line of a list, if there is something to say.
func item(b *strings.Builder, title, text string) {
	if text != "" {
		fmt.Fprintf(b, "- **%s**: %s\n", title, text)
	}
}

// rowLink is a row's name as a link to its part of a page.
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

// codeName is a text as code if it is a name of the schema.
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

// quote puts backquotes where apostrophes are.
func quote(text string) string { return strings.ReplaceAll(text, "'", "`") }
