package instrument

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpotel/mcpotel/internal/instrument/series"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// metricOptions holds the options of measurements, built once for each set of attributes. A side creates its
// metricOptions at its first measurement. Without a provider of metrics, it never creates them.
type metricOptions struct {
	plain       []metric.RecordOption // for instruments whose only attributes are name and group
	plainAdding []metric.AddOption

	notification series.Cache[notificationKey, []metric.AddOption]
	violation    series.Cache[violationKey, []metric.AddOption]
	drop         series.Cache[string, []metric.AddOption]
	panic        series.Cache[string, []metric.AddOption]
	retry        series.Cache[string, []metric.AddOption]
	size         series.Cache[sizeKey, []metric.RecordOption]
	decode       series.Cache[decodeKey, []metric.RecordOption]
	lost         series.Cache[lostKey, []metric.AddOption]
	stream       series.Cache[string, []metric.AddOption]
	streamEnd    series.Cache[streamEnd, []metric.RecordOption]
	rest         series.Cache[restKey, []metric.RecordOption]
	labels       series.NameSet // values of the label that the user has configured

	// For clients.
	transition series.Cache[transitionKey, []metric.AddOption]
	attempt    series.Cache[attemptKey, []metric.RecordOption]
	lookup     series.Cache[lookupKey, []metric.AddOption]
	execution  series.Cache[executionKey, []metric.RecordOption]
	result     series.Cache[string, []metric.RecordOption]
	loop       series.Cache[loopKey, []metric.AddOption]
	toolChange series.Cache[string, []metric.AddOption]
	gap        series.Cache[string, []metric.AddOption]

	// For servers.
	task    series.Cache[string, []metric.AddOption]
	taskEnd series.Cache[taskEnd, []metric.RecordOption]
	policy  series.Cache[policyKey, []metric.AddOption]
	refusal series.Cache[refusalKey, []metric.AddOption]
}

type (
	notificationKey struct {
		direction telemetry.Direction
		method    string
	}
	violationKey struct {
		reason    string
		direction telemetry.Direction
	}
	sizeKey struct {
		direction telemetry.Direction
		kind      MessageKind
	}
	executionKey struct{ tool, errorType string }
	loopKey      struct{ tool, kind string }
	policyKey    struct{ tool, decision string } // tool may be empty
	decodeKey    struct {
		kind      MessageKind
		errorType string
	}
)

func newMetricOptions(s *side) *metricOptions {
	o, p, place := &metricOptions{}, s.places, s.metrics.place
	plain := place(&p.plain, measured{})
	o.plain, o.plainAdding = plain.Recording, plain.Adding
	o.rest.Build = func(k restKey) []metric.RecordOption {
		least := []attribute.KeyValue{attribute.String(names.KeyMCPMethodName, names.Other),
			optional(names.KeyErrorType, k.errorType()), optional(names.KeyRPCResponseStatusCode, k.statusCode())}
		return place(&s.tel.ins.durations[k.direction], measured{own: s.metrics.onNetwork(least), group: least}).Recording
	}
	o.notification.Build = func(k notificationKey) []metric.AddOption {
		direction := attribute.String(s.keys.direction, k.direction.String())
		return place(&p.notification, ofMethod(k.method, direction)).Adding
	}
	o.violation.Build = func(k violationKey) []metric.AddOption {
		group := []attribute.KeyValue{attribute.String(s.keys.violationReason, k.reason),
			attribute.String(s.keys.direction, k.direction.String())}
		return place(&p.violation, measured{own: s.metrics.onNetwork(group), group: group}).Adding
	}
	o.drop.Build = func(reason string) []metric.AddOption {
		return place(&p.drop, same(attribute.String(s.keys.dropReason, reason))).Adding
	}
	o.panic.Build = func(method string) []metric.AddOption { return place(&p.panic, ofMethod(method)).Adding }
	o.size.Build = func(k sizeKey) []metric.RecordOption {
		group := []attribute.KeyValue{attribute.String(s.keys.direction, k.direction.String()),
			attribute.String(s.keys.messageKind, k.kind.String())}
		return place(&p.size, measured{own: s.metrics.onNetwork(group), group: group}).Recording
	}
	o.decode.Build = func(k decodeKey) []metric.RecordOption {
		return place(&p.decode, failing(k.errorType, attribute.String(s.keys.messageKind, k.kind.String()))).Recording
	}
	o.retry.Build = func(reason string) []metric.AddOption {
		group := []attribute.KeyValue{attribute.String(names.KeyMCPClientRetryReason, reason)}
		return place(&p.retry, measured{own: s.metrics.onNetwork(group), group: group}).Adding
	}
	o.lost.Build = func(k lostKey) []metric.AddOption {
		return place(&p.lost, ofMethod(k.method, attribute.String(s.keys.dropReason, k.reason))).Adding
	}
	o.stream.Build = func(kind string) []metric.AddOption {
		return place(&p.stream, same(attribute.String(s.keys.streamKind, kind))).Adding
	}
	o.streamEnd.Build = func(k streamEnd) []metric.RecordOption {
		return place(&p.streamEnd, failing(k.errorType, attribute.String(s.keys.streamKind, k.kind))).Recording
	}
	o.transition.Build = func(k transitionKey) []metric.AddOption {
		from, to, reason := names.KeyMCPClientConnectionFrom, names.KeyMCPClientConnectionTo,
			names.KeyMCPClientConnectionReason
		group := []attribute.KeyValue{attribute.String(from, k.from.String()), attribute.String(to, k.to.String()),
			attribute.String(reason, k.reason.String())}
		least := []attribute.KeyValue{attribute.String(from, names.Other), attribute.String(to, k.to.String()),
			attribute.String(reason, names.Other)}
		return place(&p.transition, measured{own: s.metrics.onNetwork(group), group: group, least: least}).Adding
	}
	o.attempt.Build = func(k attemptKey) []metric.RecordOption {
		m := failing(k.errorType, attribute.String(names.KeyMCPClientConnectionAttemptKind, k.kind))
		m.own = s.metrics.onNetwork(m.own)
		return place(&p.attempt, m).Recording
	}
	o.lookup.Build = func(k lookupKey) []metric.AddOption {
		return place(&p.lookup, ofMethod(k.method, attribute.String(names.KeyMCPClientCacheOutcome, k.outcome))).Adding
	}
	o.execution.Build = func(k executionKey) []metric.RecordOption {
		m := failing(k.errorType, execution(names.Other)...)
		m.precise = failing(k.errorType, execution(k.tool)...).own
		return place(&p.execution, m).Recording
	}
	o.result.Build = func(tool string) []metric.RecordOption { return place(&p.result, ofTool(tool)).Recording }
	o.loop.Build = func(k loopKey) []metric.AddOption {
		kind := attribute.String(names.KeyMCPClientLoopKind, k.kind)
		m := same(attribute.String(names.KeyGenAIToolName, names.Other), kind)
		m.precise = []attribute.KeyValue{attribute.String(names.KeyGenAIToolName, k.tool), kind}
		return place(&p.loop, m).Adding
	}
	o.gap.Build = func(cause string) []metric.AddOption {
		return place(&p.gap, same(attribute.String(names.KeyMCPClientGapCause, cause))).Adding
	}
	o.toolChange.Build = func(kind string) []metric.AddOption {
		return place(&p.toolChange, same(attribute.String(names.KeyMCPClientToolChangeKind, kind))).Adding
	}
	o.task.Build = func(tool string) []metric.AddOption { return place(&p.task, ofTool(tool)).Adding }
	o.taskEnd.Build = func(k taskEnd) []metric.RecordOption {
		status := attribute.String(names.KeyMCPServerTaskStatus, k.status)
		m := failing(k.errorType, attribute.String(names.KeyGenAIToolName, names.Other), status)
		m.precise = failing(k.errorType, attribute.String(names.KeyGenAIToolName, k.tool), status).own
		return place(&p.taskEnd, m).Recording
	}
	o.refusal.Build = func(k refusalKey) []metric.AddOption {
		group := k.attributes()
		least := []attribute.KeyValue{attribute.String(names.KeyMCPServerRefusalReason, k.reason)}
		return place(&p.refusal, measured{own: s.metrics.onNetwork(group), group: group, least: least}).Adding
	}
	o.policy.Build = func(k policyKey) []metric.AddOption {
		decision := attribute.String(names.KeyMCPServerPolicyDecision, k.decision)
		m := same(decision)
		if k.tool != "" {
			m = same(attribute.String(names.KeyGenAIToolName, names.Other), decision)
			m.precise = []attribute.KeyValue{attribute.String(names.KeyGenAIToolName, k.tool), decision}
		}
		return place(&p.policy, m).Adding
	}
	return o
}

// execution returns the attributes of a tool call according to the GenAI conventions.
func execution(tool string) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String(names.KeyGenAIOperationName, words.OperationExecuteTool),
		attribute.String(names.KeyGenAIToolType, words.ToolTypeExtension),
		attribute.String(names.KeyGenAIToolName, tool),
	}
}

// same returns a measurement whose forms own and group have the same attributes. It has no other form.
func same(attrs ...attribute.KeyValue) measured { return measured{own: attrs, group: attrs} }

// ofTool returns a measurement with a tool name as its only attribute.
func ofTool(tool string) measured {
	m := same(attribute.String(names.KeyGenAIToolName, names.Other))
	m.precise = []attribute.KeyValue{attribute.String(names.KeyGenAIToolName, tool)}
	return m
}

// ofMethod returns a measurement with a method and other attributes. The method may come from a peer; the other
// attributes have closed sets of values.
func ofMethod(method string, others ...attribute.KeyValue) measured {
	with := func(method string) []attribute.KeyValue {
		return append(slices.Clip(others), attribute.String(names.KeyMCPMethodName, method))
	}
	return measured{own: with(method), group: with(ofProtocol(method)), least: with(names.Other)}
}

// ofProtocol returns the method for the group's form. Methods outside of the protocol become _OTHER, because peers can
// invent any number of them.
func ofProtocol(method string) string {
	if _, ok := words.KnownMethods[method]; ok {
		return method
	}
	return names.Other
}

// failing returns a measurement with an error.type and other attributes. The error.type may be empty and has an open
// set of values; the other attributes have closed sets.
func failing(errorType string, others ...attribute.KeyValue) measured {
	with := func(errorType string) []attribute.KeyValue {
		return append(slices.Clip(others), optional(names.KeyErrorType, errorType))
	}
	least := with("")
	if errorType != "" {
		least = with(names.Other)
	}
	return measured{own: with(errorType), group: with(errorType), least: least}
}
