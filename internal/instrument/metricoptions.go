package instrument

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// metricOptions are the options that measurements are recorded with, built once for each set of attributes. A side has
// them from its first measurement on: in a program without a provider of metrics there is none.
type metricOptions struct {
	plain       []metric.RecordOption // the name alone
	plainAdding []metric.AddOption

	notification cache[notificationKey, []metric.AddOption]
	violation    cache[violationKey, []metric.AddOption]
	drop         cache[string, []metric.AddOption]
	panic        cache[string, []metric.AddOption]
	retry        cache[string, []metric.AddOption]
	size         cache[sizeKey, []metric.RecordOption]
	decode       cache[decodeKey, []metric.RecordOption]
	lost         cache[lostKey, []metric.AddOption]
	stream       cache[string, []metric.AddOption]
	streamEnd    cache[streamEnd, []metric.RecordOption]
	rest         cache[restKey, []metric.RecordOption]
	labels       nameSet // values of the label that the user has chosen

	// Of clients.
	transition cache[transitionKey, []metric.AddOption]
	attempt    cache[attemptKey, []metric.RecordOption]
	lookup     cache[lookupKey, []metric.AddOption]
	execution  cache[executionKey, []metric.RecordOption]
	result     cache[string, []metric.RecordOption]
	loop       cache[loopKey, []metric.AddOption]
	toolChange cache[string, []metric.AddOption]
	gap        cache[string, []metric.AddOption]

	// Of servers.
	task    cache[string, []metric.AddOption]
	taskEnd cache[taskEnd, []metric.RecordOption]
	policy  cache[policyKey, []metric.AddOption]
	refusal cache[refusalKey, []metric.AddOption]
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
	policyKey    struct{ tool, decision string } // no tool is empty
	decodeKey    struct {
		kind      MessageKind
		errorType string
	}
)

// options returns the side's options.
func (s *side) options() *metricOptions {
	if o := s.metric.Load(); o != nil {
		return o
	}
	s.metric.CompareAndSwap(nil, newMetricOptions(s))
	return s.metric.Load()
}

func newMetricOptions(s *side) *metricOptions {
	o, p := &metricOptions{}, s.places
	plain := s.place(&p.plain, measured{})
	o.plain, o.plainAdding = plain.recording, plain.adding
	o.rest.build = func(k restKey) []metric.RecordOption {
		least := []attribute.KeyValue{attribute.String(names.KeyMCPMethodName, names.Other),
			optional(names.KeyErrorType, k.errorType()), optional(names.KeyRPCResponseStatusCode, k.statusCode())}
		return s.place(&s.tel.ins.durations[k.direction], measured{own: s.onNetwork(least), group: least}).recording
	}
	o.notification.build = func(k notificationKey) []metric.AddOption {
		direction := attribute.String(s.keys.direction, k.direction.String())
		return s.place(&p.notification, ofMethod(k.method, direction)).adding
	}
	o.violation.build = func(k violationKey) []metric.AddOption {
		group := []attribute.KeyValue{attribute.String(s.keys.violationReason, k.reason),
			attribute.String(s.keys.direction, k.direction.String())}
		return s.place(&p.violation, measured{own: s.onNetwork(group), group: group}).adding
	}
	o.drop.build = func(reason string) []metric.AddOption {
		return s.place(&p.drop, same(attribute.String(s.keys.dropReason, reason))).adding
	}
	o.panic.build = func(method string) []metric.AddOption { return s.place(&p.panic, ofMethod(method)).adding }
	o.size.build = func(k sizeKey) []metric.RecordOption {
		group := []attribute.KeyValue{attribute.String(s.keys.direction, k.direction.String()),
			attribute.String(s.keys.messageKind, k.kind.String())}
		return s.place(&p.size, measured{own: s.onNetwork(group), group: group}).recording
	}
	o.decode.build = func(k decodeKey) []metric.RecordOption {
		return s.place(&p.decode, failing(k.errorType, attribute.String(s.keys.messageKind, k.kind.String()))).recording
	}
	o.retry.build = func(reason string) []metric.AddOption {
		group := []attribute.KeyValue{attribute.String(names.KeyMCPClientRetryReason, reason)}
		return s.place(&p.retry, measured{own: s.onNetwork(group), group: group}).adding
	}
	o.lost.build = func(k lostKey) []metric.AddOption {
		return s.place(&p.lost, ofMethod(k.method, attribute.String(s.keys.dropReason, k.reason))).adding
	}
	o.stream.build = func(kind string) []metric.AddOption {
		return s.place(&p.stream, same(attribute.String(s.keys.streamKind, kind))).adding
	}
	o.streamEnd.build = func(k streamEnd) []metric.RecordOption {
		return s.place(&p.streamEnd, failing(k.errorType, attribute.String(s.keys.streamKind, k.kind))).recording
	}
	o.transition.build = func(k transitionKey) []metric.AddOption {
		from, to, reason := names.KeyMCPClientConnectionFrom, names.KeyMCPClientConnectionTo,
			names.KeyMCPClientConnectionReason
		group := []attribute.KeyValue{attribute.String(from, k.from.String()), attribute.String(to, k.to.String()),
			attribute.String(reason, k.reason.String())}
		least := []attribute.KeyValue{attribute.String(from, names.Other), attribute.String(to, k.to.String()),
			attribute.String(reason, names.Other)}
		return s.place(&p.transition, measured{own: s.onNetwork(group), group: group, least: least}).adding
	}
	o.attempt.build = func(k attemptKey) []metric.RecordOption {
		m := failing(k.errorType, attribute.String(names.KeyMCPClientConnectionAttemptKind, k.kind))
		m.own = s.onNetwork(m.own)
		return s.place(&p.attempt, m).recording
	}
	o.lookup.build = func(k lookupKey) []metric.AddOption {
		return s.place(&p.lookup, ofMethod(k.method, attribute.String(names.KeyMCPClientCacheOutcome, k.outcome))).adding
	}
	o.execution.build = func(k executionKey) []metric.RecordOption {
		m := failing(k.errorType, execution(names.Other)...)
		m.precise = failing(k.errorType, execution(k.tool)...).own
		return s.place(&p.execution, m).recording
	}
	o.result.build = func(tool string) []metric.RecordOption { return s.place(&p.result, ofTool(tool)).recording }
	o.loop.build = func(k loopKey) []metric.AddOption {
		kind := attribute.String(names.KeyMCPClientLoopKind, k.kind)
		m := same(attribute.String(names.KeyGenAIToolName, names.Other), kind)
		m.precise = []attribute.KeyValue{attribute.String(names.KeyGenAIToolName, k.tool), kind}
		return s.place(&p.loop, m).adding
	}
	o.gap.build = func(cause string) []metric.AddOption {
		return s.place(&p.gap, same(attribute.String(names.KeyMCPClientGapCause, cause))).adding
	}
	o.toolChange.build = func(kind string) []metric.AddOption {
		return s.place(&p.toolChange, same(attribute.String(names.KeyMCPClientToolChangeKind, kind))).adding
	}
	o.task.build = func(tool string) []metric.AddOption { return s.place(&p.task, ofTool(tool)).adding }
	o.taskEnd.build = func(k taskEnd) []metric.RecordOption {
		status := attribute.String(names.KeyMCPServerTaskStatus, k.status)
		m := failing(k.errorType, attribute.String(names.KeyGenAIToolName, names.Other), status)
		m.precise = failing(k.errorType, attribute.String(names.KeyGenAIToolName, k.tool), status).own
		return s.place(&p.taskEnd, m).recording
	}
	o.refusal.build = func(k refusalKey) []metric.AddOption {
		group := k.attributes()
		least := []attribute.KeyValue{attribute.String(names.KeyMCPServerRefusalReason, k.reason)}
		return s.place(&p.refusal, measured{own: s.onNetwork(group), group: group, least: least}).adding
	}
	o.policy.build = func(k policyKey) []metric.AddOption {
		decision := attribute.String(names.KeyMCPServerPolicyDecision, k.decision)
		m := same(decision)
		if k.tool != "" {
			m = same(attribute.String(names.KeyGenAIToolName, names.Other), decision)
			m.precise = []attribute.KeyValue{attribute.String(names.KeyGenAIToolName, k.tool), decision}
		}
		return s.place(&p.policy, m).adding
	}
	return o
}

// execution is what the GenAI conventions say of a tool call.
func execution(tool string) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String(names.KeyGenAIOperationName, words.OperationExecuteTool),
		attribute.String(names.KeyGenAIToolType, words.ToolTypeExtension),
		attribute.String(names.KeyGenAIToolName, tool),
	}
}

// onNetwork returns the attributes with the transport beside them.
func (s *side) onNetwork(attrs []attribute.KeyValue) []attribute.KeyValue {
	return append(slices.Clip(attrs), s.transport())
}

// same is what has one form.
func same(attrs ...attribute.KeyValue) measured { return measured{own: attrs, group: attrs} }

// ofTool is what has the name of a tool alone.
func ofTool(tool string) measured {
	m := same(attribute.String(names.KeyGenAIToolName, names.Other))
	m.precise = []attribute.KeyValue{attribute.String(names.KeyGenAIToolName, tool)}
	return m
}

// ofMethod is what has a method, which a peer may have chosen, and other attributes of closed sets.
func ofMethod(method string, others ...attribute.KeyValue) measured {
	with := func(method string) []attribute.KeyValue {
		return append(slices.Clip(others), attribute.String(names.KeyMCPMethodName, method))
	}
	return measured{own: with(method), group: with(ofProtocol(method)), least: with(names.Other)}
}

// ofProtocol returns the method as the sets of groups have it: those that peers have thought of would add up.
func ofProtocol(method string) string {
	if _, ok := words.KnownMethods[method]; ok {
		return method
	}
	return names.Other
}

// failing is what may have failed, with an error.type of many, and other attributes of closed sets.
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
