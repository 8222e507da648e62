package schemacheck

import (
	"log/slog"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
)

// Signals is telemetry in a neutral form, restricted to [telemetry.ScopeName].
type Signals struct {
	Spans   []Span
	Metrics []Metric
	Records []Record

	// Users means that the program may have added attributes, events, links and a status to spans, and attributes to
	// records. Then only names in the schema and in the namespaces of this module are checked.
	Users bool

	// ToolNameLimit is the ToolNameLimit of the Telemetry that emitted the signals; zero means the default.
	ToolNameLimit int
}

// Value is the value of an attribute. Type is a type of the schema, or another name for a type that the schema does not
// have.
type Value struct {
	Type schema.Type
	Text string
}

// Attrs are the attributes of a span, a point or a record.
type Attrs map[string]Value

// The statuses of spans.
const (
	Unset = "Unset"
	OK    = "Ok"
	Error = "Error"
)

// Span is an ended span.
type Span struct {
	Name    string
	Kind    schema.SpanKind
	AtStart Attrs // initial attributes; nil if unknown
	Attrs   Attrs
	Status  string
	Events  int
	Links   int
	Dangling,
	Endless bool // Dangling: a link names no span; Endless: the end is before the start
}

// Metric is a metric with all its points.
type Metric struct {
	Name, Unit, Description string
	Instrument              Instrument
	Points                  []Point
}

// Instrument is the kind of instrument that the data of a metric indicate.
type Instrument string

const (
	RisingSum Instrument = "rising sum"
	Sum       Instrument = "sum"
	Gauge     Instrument = "gauge"
	Histogram Instrument = "histogram"
)

// Point is one series of a metric.
type Point struct {
	Attrs  Attrs
	Bounds []float64   // bucket bounds of a histogram
	Number schema.Type // type of the values, Int or Double; empty if unknown
}

// Record is a log record.
type Record struct {
	Event, Message string
	Level          slog.Level
	Attrs          Attrs // without event.name
	Problems       []string
}
