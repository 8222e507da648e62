package instrument

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/flight"
	"github.com/mcpotel/mcpotel/internal/instrument/series"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// opKey identifies a kind of operation, with method and target as metric labels.
type opKey struct {
	direction  telemetry.Direction
	targetKind TargetKind
	method     string
	target     string
}

// opInfo holds the state that all operations of one side with the same key share. It is built once for each key.
type opInfo struct {
	*opNames
	active  atomic.Pointer[[]metric.AddOption] // nil before the first measurement
	records atomic.Pointer[[]record]           // copy on write; side.endings guards writes
	stats   stats
}

// opNames holds the part of opInfo that all sides over the same kind of network share.
type opNames struct {
	opKey
	about    flight.Subject
	spanName string
	start    []trace.SpanStartOption
}

type opNamesKey struct {
	opKey
	transport string
}

// commonNames shares equal opNames among all clients and servers of the process.
var commonNames series.Commons[opNamesKey, opNames]

func newOpNames(k opNamesKey) *opNames {
	return &opNames{k.opKey, flight.SubjectOf(k.method, k.target), spanName(k.method, k.target), startOptions(k)}
}

// operation returns the shared state of the operations with these names. If a name is unknown or exceeds a limit, the
// state has other names, and exact is false.
func (s *side) operation(d telemetry.Direction, kind TargetKind, method, target string, known,
	targetKnown bool) (info *opInfo, exact bool) {
	if kind == NoTarget {
		target = ""
	}
	key := opKey{d, kind, method, target}
	if info, ok := s.ops.Lookup(key); ok {
		return info, true
	}
	key = s.bounded(key, known, targetKnown)
	info, _ = s.ops.Within(math.MaxInt, key, s.newOpInfo) // the limits of the names bound the number of keys
	return info, key.method == method && key.target == target
}

// bounded returns k with its names as metric labels.
func (s *side) bounded(k opKey, known, targetKnown bool) opKey {
	k.method = s.methodLabel(k.method, known)
	if k.target != "" {
		label, ok := "", false
		if targetKnown && k.method != names.Other {
			label, ok = s.targets.Intern(k.target, s.tel.ToolLimit)
		}
		if k.target = label; !ok {
			k.target = names.Other
		}
	}
	return k
}

func (s *side) newOpInfo(k opKey) *opInfo {
	return &opInfo{opNames: commonNames.Get(opNamesKey{k, s.base.Transport}, newOpNames)}
}

// activeOptions returns the options of the counter of active operations.
func (m *metrics) activeOptions(info *opInfo) []metric.AddOption {
	if opts := info.active.Load(); opts != nil {
		return *opts
	}
	places := &m.side.places.active
	if info.direction == telemetry.DirectionReceived {
		places = &m.side.places.handlers
	}
	of := ofMethod(info.method)
	of.own = m.onNetwork(of.own)
	info.active.CompareAndSwap(nil, &m.place(places, of).Adding)
	return *info.active.Load()
}

// attributes returns the names of the operation as attributes.
func (k opKey) attributes() []attribute.KeyValue {
	attrs := append(make([]attribute.KeyValue, 0, 5), attribute.String(names.KeyMCPMethodName, k.method))
	switch {
	case k.targetKind == Tool && k.target != "":
		attrs = append(attrs, attribute.String(names.KeyGenAIToolName, k.target))
	case k.targetKind == Prompt && k.target != "":
		attrs = append(attrs, attribute.String(names.KeyGenAIPromptName, k.target))
	}
	if k.method == words.MethodCallTool {
		attrs = append(attrs, attribute.String(names.KeyGenAIOperationName, words.OperationExecuteTool))
	}
	return attrs
}

// record holds the options for the durations of operations with one ending.
type record struct {
	ending
	opts []metric.RecordOption
}

// ending is the outcome of an operation, with the facts of its connection and its label.
type ending struct {
	facts *knownFacts
	outcome
	label string // label from the baggage if the user has configured one; may be empty
}

// label returns, as a metric label, the value of the user's label in the baggage of ctx.
func (m *metrics) label(ctx context.Context) string {
	if m.side.tel.Label == "" {
		return ""
	}
	value := baggage.FromContext(ctx).Member(m.side.tel.Label).Value()
	if value == "" {
		return ""
	}
	if own, ok := m.options().labels.Intern(value, words.MaxLabels); ok {
		return own
	}
	return names.Other
}

// recordOptions returns the options for the duration of an operation with this ending.
func (m *metrics) recordOptions(info *opInfo, e ending) []metric.RecordOption {
	if opts := info.find(e); opts != nil {
		return opts
	}
	m.side.endings.Lock()
	defer m.side.endings.Unlock()
	if !m.recordsOutcome(e.outcome) {
		e.outcome = e.anonymous()
	}
	if e.label != "" && m.series[info.direction] >= words.MaxPrecisely/2 {
		e.label = names.Other
	}
	if opts := info.find(e); opts != nil {
		return opts
	}
	if m.series[info.direction] >= words.MaxPrecisely {
		return m.options().rest.At(restKey{info.direction, e.anonymous()})
	}
	m.series[info.direction]++
	opts := m.durationOptions(info, e)
	next := append(slices.Clip(info.all()), record{e, opts})
	info.records.Store(&next)
	return opts
}

// restKey identifies durations that are recorded without names, because their names would result in too many series.
type restKey struct {
	direction telemetry.Direction
	outcome
}

func (i *opInfo) all() []record {
	if records := i.records.Load(); records != nil {
		return *records
	}
	return nil
}

func (i *opInfo) find(e ending) []metric.RecordOption {
	records := i.all()
	for i := range records {
		if r := &records[i]; r.ending == e {
			return r.opts
		}
	}
	return nil
}

func (m *metrics) durationOptions(info *opInfo, e ending) []metric.RecordOption {
	o := e.outcome
	ended := func(method []attribute.KeyValue, o outcome) []attribute.KeyValue {
		return append(method, optional(names.KeyErrorType, o.errorType()),
			optional(names.KeyRPCResponseStatusCode, o.statusCode()))
	}
	connected := func(k opKey, label string) []attribute.KeyValue {
		attrs := []attribute.KeyValue{optional(m.side.tel.Label, label)} // first, so that our attributes override it
		return m.onNetwork(ended(slices.Concat(attrs, k.attributes(), e.facts.attrs[k.direction]), o))
	}
	of, folded, label := measured{}, info.opKey, e.label
	if label != "" {
		of.labelled, label = connected(info.opKey, label), names.Other
	}
	if folded.target != "" {
		of.precise, folded.target = connected(info.opKey, label), names.Other
	}
	of.own = connected(folded, label)
	if folded.method = ofProtocol(folded.method); !o.known() {
		o = o.anonymous()
	}
	of.group = ended(folded.attributes(), o)
	of.least = ended([]attribute.KeyValue{attribute.String(names.KeyMCPMethodName, names.Other)}, o.anonymous())
	return m.place(&m.side.tel.ins.durations[info.direction], of).Recording
}
