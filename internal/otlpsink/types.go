package otlpsink

import "time"

// Origin is the source of an element.
type Origin struct {
	Resource     map[string]any
	Scope        string
	ScopeVersion string
}

// Service returns the service.name of the resource; empty without one.
func (o Origin) Service() string {
	name, _ := o.Resource["service.name"].(string)
	return name
}

// Attribute values are nil, bool, int64, float64, string, []byte, []any or map[string]any.

// A Span is one span as it was exported. Ids are hexadecimal; ParentID of a root is empty.
type Span struct {
	Origin
	TraceID, SpanID, ParentID string
	TraceState                string
	Name                      string
	Kind                      string // INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER or UNSPECIFIED
	Start, End                time.Time
	Status                    string // UNSET, OK or ERROR
	StatusMessage             string
	Attributes                map[string]any
	Events                    []Event
	Links                     []Link
}

// An Event is a moment in a span.
type Event struct {
	Name       string
	Time       time.Time
	Attributes map[string]any
}

// A Link points from a span to another.
type Link struct {
	TraceID, SpanID string
	Attributes      map[string]any
}

// A Kind is a kind of metric.
type Kind string

// The kinds of metrics.
const (
	Gauge                Kind = "gauge"
	Sum                  Kind = "sum"
	Histogram            Kind = "histogram"
	ExponentialHistogram Kind = "exponential histogram"
	Summary              Kind = "summary"
)

// A Point is one data point of a metric.
type Point struct {
	Origin
	Metric, Unit string
	Description  string
	Kind         Kind
	Monotonic    bool // for a Sum
	Integers     bool // for a Gauge and a Sum: the values were int64
	Delta        bool // for sums and histograms: the value is the change since Start, not the total
	Attributes   map[string]any
	Start, Time  time.Time
	Exemplars    []Exemplar

	Value float64 // for a Gauge and a Sum

	// For histograms. A Summary has only Count and Sum; its quantiles are dropped.
	Count    uint64
	Sum      float64
	Min, Max *float64

	Bounds []float64 // for a Histogram: upper bounds, inclusive
	Counts []uint64  // for a Histogram: one more than Bounds

	Scale              int32 // for an ExponentialHistogram
	Zero               uint64
	Positive, Negative Buckets
}

// Buckets are the positive or negative side of an exponential histogram: Counts[i] is the number of values in
// (base^(Offset+i), base^(Offset+i+1)].
type Buckets struct {
	Offset int32
	Counts []uint64
}

// An Exemplar is one measurement in a point, with its span.
type Exemplar struct {
	TraceID, SpanID string
	Time            time.Time
	Value           float64
	Attributes      map[string]any // attributes of the measurement that the point does not have
}

// A Record is one log record.
type Record struct {
	Origin
	EventName       string
	Severity        int // 1 to 24; 5 is debug, 9 info, 13 warn, 17 error
	SeverityText    string
	Body            any
	Attributes      map[string]any
	Time, Observed  time.Time
	TraceID, SpanID string
}

// At returns the time of the record, or the time when it was observed.
func (r Record) At() time.Time {
	if r.Time.IsZero() {
		return r.Observed
	}
	return r.Time
}
