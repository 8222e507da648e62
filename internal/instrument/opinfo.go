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

// opKey tells operations apart, by names as metrics have them.
type opKey struct {
	direction  telemetry.Direction
	targetKind TargetKind
	method     string
	target     string
}

// opInfo is what all operations of a key share in one side: everything about them that need not be built twice.
type opInfo struct {
	*opNames
	active  atomic.Pointer[[]metric.AddOption] // nil before the first measurement
	records atomic.Pointer[[]record]           // copy on write, guarded by side.endings for writing
	stats   stats
}

// opNames is what they share in all sides over the same kind of network.
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

// commonNames are those of all clients and servers of the process.
var commonNames series.Commons[opNamesKey, opNames]

func newOpNames(k opNamesKey) *opNames {
	return &opNames{k.opKey, flight.SubjectOf(k.method, k.target), spanName(k.method, k.target), startOptions(k)}
}

// operation returns what is shared by the operations with these names. exact is false if the names are not those given:
// they are unknown, or beyond the limits.
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
	info, _ = s.ops.Within(math.MaxInt, key, s.newOpInfo) // bounded by its names
	return info, key.method == method && key.target == target
}

// bounded returns k with its names as metrics have them.
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

// activeOptions returns the options to count an operation while it lasts.
func (m *metrics) activeOptions(info *opInfo) []metric.AddOption {
	if opts := info.active.Load(); opts != nil {
		return *opts
	}
	places := &m.side.places.active
	if info.direction == telemetry.Received {
		places = &m.side.places.handlers
	}
	of := ofMethod(info.method)
	of.own = m.onNetwork(of.own)
	info.active.CompareAndSwap(nil, &m.place(places, of).Adding)
	return *info.active.Load()
}

// attributes are the names of the operation as attributes.
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

// record is the options to record the duration of an operation that ended in one way.
type record struct {
	ending
	opts []metric.RecordOption
}

// ending is how an operation ended, with whom, and for whom it was made.
type ending struct {
	facts *knownFacts
	outcome
	label string // what the baggage has for the label that the user has chosen; empty for none
}

// label returns what the baggage of ctx has for the label of metrics, as these have it.
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

// recordOptions returns the options for an operation that ended this way.
func (m *metrics) recordOptions(info *opInfo, e ending) []metric.RecordOption {
	if opts := info.find(e); opts != nil {
		return opts
	}
	m.side.endings.Lock()
	defer m.side.endings.Unlock()
	if !m.tells(e.outcome) {
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

// restKey is the operations whose durations would make too many series, and are recorded without their names.
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
		attrs := []attribute.KeyValue{optional(m.side.tel.Label, label)} // first, for ours win over it
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
