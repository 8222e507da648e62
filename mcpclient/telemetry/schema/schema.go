// Package schema is all that the client and the server of this module emit, as data: [Current] has a row for every
// attribute, metric, span and event, with its type, unit, values, limits and stability. The instruments are built from
// it; the page docs/telemetry.md and the file schema.json are written from it, and package telemetrytest holds against
// it whatever a test emits. What the names are called in Go is in package names.
//
// What may surprise:
//
//   - Rows that begin with mcp. or gen_ai. are those of the OpenTelemetry semantic conventions, which change; those
//     that begin with mcp_client. or mcp_server. are ours. Each row says in Stability what may happen to it.
//   - A metric's MaxSeries is the most that one client or one server makes, whatever its peers send.
package schema

//go:generate go test . -run (IsThatOfTheSchema|KeepWhatTheyPromise)$ -update

import (
	"log/slog"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Stability says what may happen to a row of the schema.
type Stability string

const (
	// Stable rows keep their name, type and meaning within a major version of this module.
	Stable Stability = "stable"
	// Convention rows are from the OpenTelemetry semantic conventions for MCP, which are in development. They change with
	// the conventions, in a minor version and with a line in the changelog.
	Convention Stability = "convention"
	// Experimental rows may change in a minor version, with a line in the changelog.
	Experimental Stability = "experimental"
)

// Type is the type of an attribute's value.
type Type string

const (
	String Type = "string"
	Int    Type = "int"
	Double Type = "double"
	Bool   Type = "boolean"
	Any    Type = "any" // a map, a list, or a value of the others
)

// Bound says how many values an attribute has. Metrics carry no unbounded one.
type Bound string

const (
	// Closed: those of Enum and _OTHER.
	Closed Bound = "closed"
	// Configured: those the user chose.
	Configured Bound = "configured"
	// Limited: any, and on metrics up to a limit, then _OTHER.
	Limited Bound = "limited"
	// Unbounded: any. On spans and log records only.
	Unbounded Bound = "unbounded"
)

// Attribute is a row of the schema: one key with one meaning on spans, metrics and log records.
type Attribute struct {
	Key       string    `json:"key"`
	Type      Type      `json:"type"`
	Unit      string    `json:"unit,omitempty"`
	Enum      []string  `json:"enum,omitempty"`
	Bound     Bound     `json:"bound"`
	Stability Stability `json:"stability"`
	Brief     string    `json:"brief"`

	// Limit is how many values, _OTHER included, one client or server puts on metrics. Zero means that this is not the
	// peer's choice, or that no metric has the attribute.
	Limit int `json:"limit,omitempty"`
}

// Need says when an attribute is there.
type Need string

const (
	Required    Need = "required"    // always
	Conditional Need = "conditional" // whenever it applies
)

// Use is the use of an attribute by a row. Only, if not nil, are those of the attribute's values that the row has,
// beside _OTHER.
type Use struct {
	Key  string   `json:"key"`
	Need Need     `json:"need"`
	Only []string `json:"only,omitempty"`
}

// Instrument is the kind of a metric.
type Instrument string

const (
	Counter                 Instrument = "counter"
	UpDownCounter           Instrument = "updowncounter"
	Histogram               Instrument = "histogram"
	ObservableCounter       Instrument = "observablecounter"
	ObservableGauge         Instrument = "observablegauge"
	ObservableUpDownCounter Instrument = "observableupdowncounter"
)

// Metric is a row of the schema. A metric in seconds has float64 values, any other int64.
type Metric struct {
	Name       string     `json:"name"`
	Instrument Instrument `json:"instrument"`
	Unit       string     `json:"unit"`
	Buckets    []float64  `json:"buckets,omitempty"`
	Attrs      []Use      `json:"attributes"`
	Stability  Stability  `json:"stability"`
	Brief      string     `json:"brief"`

	// MaxSeries is how many series one client or server makes at most, whatever its peers do: it follows from the limits
	// of the attributes. It is for the default of [telemetry.WithToolNameLimit].
	MaxSeries int `json:"max_series"`
}

// SpanKind is the kind of a span.
type SpanKind string

const (
	ClientSpan   SpanKind = "CLIENT"
	ServerSpan   SpanKind = "SERVER"
	InternalSpan SpanKind = "INTERNAL"
)

// Span is a row of the schema. AtStart are the attributes that samplers see.
type Span struct {
	ID        string    `json:"id"`
	NameForm  string    `json:"name"`
	Kind      SpanKind  `json:"kind"`
	AtStart   []Use     `json:"at_start"`
	AtEnd     []Use     `json:"at_end"`
	Links     []string  `json:"links,omitempty"`
	Statuses  []string  `json:"statuses"`
	Stability Stability `json:"stability"`
	Brief     string    `json:"brief"`
}

// Event is a row of the schema: a log record whose message and event.name are Name. Core events are the contract that
// never changes within a major version.
type Event struct {
	Name        string       `json:"name"`
	Levels      []slog.Level `json:"levels"`
	Fields      []Use        `json:"fields"`
	Core        bool         `json:"core,omitempty"`
	Measurement string       `json:"measurement,omitempty"`
	Span        string       `json:"span,omitempty"`
	Metrics     []string     `json:"metrics,omitempty"`
	Stability   Stability    `json:"stability"`
	Brief       string       `json:"brief"`
}

// Definition is a whole schema.
//
// Version is two numbers. The first rises when a stable row is taken away, or its name, type, unit, values or meaning
// change; a user of the telemetry has to read the changelog then. The second rises with any other change: rows,
// optional attributes and values are added, experimental rows and those of the conventions change, briefs become
// clearer.
type Definition struct {
	Version     string      `json:"version"`
	Conventions string      `json:"conventions"`
	Attributes  []Attribute `json:"attributes"`
	Metrics     []Metric    `json:"metrics"`
	Spans       []Span      `json:"spans"`
	Events      []Event     `json:"events"`

	// Baggage are the attributes that every span and event may have besides, those of metrics apart: members of the
	// baggage, which the SDK's processors copy after the start of the span. See otlp.WithBaggageAttributes.
	Baggage []Use `json:"baggage"`
}

// Current is everything that a client or a server emits. It is read-only.
var Current = Definition{
	Version:     names.SchemaVersion,
	Conventions: "https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md",
	Attributes:  attributes,
	Metrics:     metrics,
	Spans:       spans,
	Events:      allEvents,
	Baggage: when(names.KeyGenAIConversationID, names.KeyGenAIAgentName, names.KeySessionID,
		names.KeyUserHash),
}

// grouped returns uses that have the group wherever they have the name of a client.
func grouped(uses []Use) []Use {
	var all []Use
	for _, u := range uses {
		if all = append(all, u); u.Key == names.KeyMCPClientName {
			all = append(all, Use{Key: names.KeyMCPClientGroup, Need: Conditional})
		}
	}
	return all
}

// identified returns uses that have the group, and besides the instance, wherever they have the name. Those of metrics
// have no instance.
func identified(uses []Use) []Use {
	var all []Use
	for _, u := range grouped(uses) {
		all = append(all, u)
		switch u.Key {
		case names.KeyMCPClientName:
			all = append(all, Use{Key: names.KeyMCPClientInstanceID, Need: u.Need})
		case names.KeyMCPServerName:
			all = append(all, Use{Key: names.KeyMCPServerInstanceID, Need: u.Need})
		}
	}
	return all
}

// required and when make the uses of a row: one call for the attributes that are always there, one for the others.
func required(keys ...string) []Use { return uses(Required, keys) }
func when(keys ...string) []Use     { return uses(Conditional, keys) }

func uses(n Need, keys []string) []Use {
	u := make([]Use, len(keys))
	for i, k := range keys {
		u[i] = Use{Key: k, Need: n}
	}
	return u
}

// only and whenOnly make the use of a key of which a row has only some values.
func only(key string, values ...string) []Use     { return []Use{{key, Required, values}} }
func whenOnly(key string, values ...string) []Use { return []Use{{key, Conditional, values}} }
