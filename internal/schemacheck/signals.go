package schemacheck

import (
	"log/slog"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/schema"
)

// Signals is telemetry in a neutral form. It has only what is of [telemetry.ScopeName].
type Signals struct {
	Spans   []Span
	Metrics []Metric
	Records []Record

	// Users says that the program may have added attributes, events, links and a status to spans, and attributes to
	// records. Only the names of the schema, and those of the namespaces of this module, are checked then.
	Users bool

	// ToolNameLimit is that of the Telemetry that emitted it, zero for the default.
	ToolNameLimit int
}

// Value is an attribute's value: its type in the words of the schema, or in other words one that the schema does not
// know.
type Value struct {
	Type schema.Type
	Text string
}

// Attrs are the attributes of one thing.
type Attrs map[string]Value

// Statuses of spans.
const (
	Unset = "Unset"
	OK    = "Ok"
	Error = "Error"
)

// Span is a span that has ended.
type Span struct {
	Name    string
	Kind    schema.SpanKind
	AtStart Attrs // with which it began; nil if that is not known
	Attrs   Attrs
	Status  string
	Events  int
	Links   int
	Dangling,
	Endless bool // a link names no span; the end is before the start
}

// Metric is a metric with all its points.
type Metric struct {
	Name, Unit, Description string
	Instrument              Instrument
	Points                  []Point
}

// Instrument is what the data of a metric say about the instrument.
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
	Bounds []float64   // of a histogram
	Number schema.Type // of the values, Int or Double; empty if that is not known
}

// Record is a log record.
type Record struct {
	Event, Message string
	Level          slog.Level
	Attrs          Attrs // without event.name
	Problems       []string
}
