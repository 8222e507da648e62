// Package schema describes, as data, everything that the client and the server of this module emit. [Current] has a row
// for every attribute, metric, span and event, with its type, unit, values, limits and stability. Current is the source
// of the instruments, of docs/telemetry.md and of schema.json. Package telemetrytest checks the emissions of tests
// against it. Package names has the Go constants for the names.
//
// Surprises:
//
//   - Rows that start with mcp. or gen_ai. come from the OpenTelemetry semantic conventions, which change; rows that
//     start with mcp_client. or mcp_server. are ours. The Stability of a row declares which changes to expect.
//   - A metric's MaxSeries is the maximum for one client or one server, no matter what its peers send.
package schema

//go:generate go test . -run (MatchesSchema|StableRowsDoNotChangeWithinMajorVersion)$ -update

import (
	"log/slog"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Stability declares which changes of a row to expect.
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
	Any    Type = "any" // a map, a list, or a value of another type
)

// Bound declares how many values an attribute has. Metrics have no unbounded attributes.
type Bound string

const (
	// Closed attributes have the values of Enum, and _OTHER.
	Closed Bound = "closed"
	// Configured attributes have values that the user chose.
	Configured Bound = "configured"
	// Limited attributes have any value. On metrics, the number of values is limited; _OTHER replaces further values.
	Limited Bound = "limited"
	// Unbounded attributes have any value. They are only on spans and log records.
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

	// Limit is the maximum number of values, including _OTHER, on the metrics of one client or server. Zero means that a
	// peer cannot choose the value, or that no metric has the attribute.
	Limit int `json:"limit,omitempty"`
}

// Need declares when an attribute is present.
type Need string

const (
	Required    Need = "required"    // always
	Conditional Need = "conditional" // whenever it applies
)

// Use is the use of an attribute by a row. The field Only has the values of the attribute in this row, besides _OTHER;
// nil means all values.
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

// Metric is a row of the schema. A metric in seconds has float64 values. All other metrics have int64 values.
type Metric struct {
	Name       string     `json:"name"`
	Instrument Instrument `json:"instrument"`
	Unit       string     `json:"unit"`
	Buckets    []float64  `json:"buckets,omitempty"`
	Attrs      []Use      `json:"attributes"`
	Stability  Stability  `json:"stability"`
	Brief      string     `json:"brief"`

	// MaxSeries is the maximum number of series of one client or server, no matter what its peers send. It follows from
	// the limits of the attributes, with the default of [telemetry.WithToolNameLimit].
	MaxSeries int `json:"max_series"`
}

// SpanKind is the kind of a span.
type SpanKind string

const (
	ClientSpan   SpanKind = "CLIENT"
	ServerSpan   SpanKind = "SERVER"
	InternalSpan SpanKind = "INTERNAL"
)

// Span is a row of the schema. AtStart lists the attributes that samplers see.
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

// Event is a row of the schema: a log record with Name as its message and event.name. Core events never change within
// a major version.
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
// Version consists of two numbers. The first one increases when a stable row is removed, or when its name, type, unit,
// values or meaning change; users of the telemetry then need the changelog. The second one increases with any other
// change: new rows, optional attributes and values, changes of experimental rows and of rows from the conventions, and
// clearer briefs.
type Definition struct {
	Version     string      `json:"version"`
	Conventions string      `json:"conventions"`
	Attributes  []Attribute `json:"attributes"`
	Metrics     []Metric    `json:"metrics"`
	Spans       []Span      `json:"spans"`
	Events      []Event     `json:"events"`

	// Baggage lists additional attributes that every span and event may have, but no metric. They are baggage members,
	// which the SDK's processors copy after the start of the span. See otlp.WithBaggageAttributes.
	Baggage []Use `json:"baggage"`
}

// Current describes everything that a client or a server emits. It is read-only.
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

// grouped returns uses with the attribute mcp_client.group, which is conditional, after each attribute mcp_client.name.
func grouped(uses []Use) []Use {
	var all []Use
	for _, u := range uses {
		if all = append(all, u); u.Key == names.KeyMCPClientName {
			all = append(all, Use{Key: names.KeyMCPClientGroup, Need: Conditional})
		}
	}
	return all
}

// identified is like grouped. In addition, it inserts the attribute mcp_client.instance.id after each attribute
// mcp_client.name, and mcp_server.instance.id after each mcp_server.name. Metrics have no instance.
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

// required returns the uses of attributes that are always present in a row. when returns the uses of attributes that
// are present whenever they apply.
func required(keys ...string) []Use { return uses(Required, keys) }
func when(keys ...string) []Use     { return uses(Conditional, keys) }

func uses(n Need, keys []string) []Use {
	u := make([]Use, len(keys))
	for i, k := range keys {
		u[i] = Use{Key: k, Need: n}
	}
	return u
}

// only and whenOnly return the use of an attribute with only some of its values.
func only(key string, values ...string) []Use     { return []Use{{key, Required, values}} }
func whenOnly(key string, values ...string) []Use { return []Use{{key, Conditional, values}} }
