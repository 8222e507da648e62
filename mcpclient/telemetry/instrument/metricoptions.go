package instrument

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

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

	// Of clients.
	transition cache[transitionKey, []metric.AddOption]
	attempt    cache[attemptKey, []metric.RecordOption]
	lookup     cache[lookupKey, []metric.AddOption]

	// Of servers.
	task    cache[string, []metric.AddOption]
	taskEnd cache[taskEnd, []metric.RecordOption]
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
	decodeKey struct {
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
	o := &metricOptions{plain: s.recording(), plainAdding: s.adding()}
	o.rest.build = func(k restKey) []metric.RecordOption {
		return s.recording(attribute.String(names.KeyMCPMethodName, names.Other), s.transport(),
			optional(names.KeyErrorType, k.errorType()), optional(names.KeyRPCResponseStatusCode, k.statusCode()))
	}
	o.notification.build = func(k notificationKey) []metric.AddOption {
		return s.adding(attribute.String(names.KeyMCPMethodName, k.method), attribute.String(s.keys.direction,
			k.direction.String()))
	}
	o.violation.build = func(k violationKey) []metric.AddOption {
		return s.adding(attribute.String(s.keys.violationReason, k.reason),
			attribute.String(s.keys.direction, k.direction.String()), s.transport())
	}
	o.drop.build = func(reason string) []metric.AddOption { return s.adding(attribute.String(s.keys.dropReason, reason)) }
	o.panic.build = func(method string) []metric.AddOption {
		return s.adding(attribute.String(names.KeyMCPMethodName, method))
	}
	o.size.build = func(k sizeKey) []metric.RecordOption {
		return s.recording(attribute.String(s.keys.direction, k.direction.String()),
			attribute.String(s.keys.messageKind, k.kind.String()), s.transport())
	}
	o.decode.build = func(k decodeKey) []metric.RecordOption {
		return s.recording(attribute.String(s.keys.messageKind, k.kind.String()), optional(names.KeyErrorType, k.errorType))
	}
	o.retry.build = func(reason string) []metric.AddOption {
		return s.adding(attribute.String(names.KeyMCPClientRetryReason, reason), s.transport())
	}
	o.lost.build = func(k lostKey) []metric.AddOption {
		return s.adding(attribute.String(names.KeyMCPMethodName, k.method), attribute.String(s.keys.dropReason, k.reason))
	}
	o.stream.build = func(kind string) []metric.AddOption {
		return s.adding(attribute.String(s.keys.streamKind, kind))
	}
	o.streamEnd.build = func(k streamEnd) []metric.RecordOption {
		return s.recording(attribute.String(s.keys.streamKind, k.kind), optional(names.KeyErrorType, k.errorType))
	}
	o.transition.build = func(k transitionKey) []metric.AddOption {
		return s.adding(
			attribute.String(names.KeyMCPClientConnectionFrom, k.from.String()),
			attribute.String(names.KeyMCPClientConnectionTo, k.to.String()),
			attribute.String(names.KeyMCPClientConnectionReason, k.reason.String()),
			s.transport())
	}
	o.attempt.build = func(k attemptKey) []metric.RecordOption {
		return s.recording(attribute.String(names.KeyMCPClientConnectionAttemptKind, k.kind), optional(names.KeyErrorType,
			k.errorType), s.transport())
	}
	o.lookup.build = func(k lookupKey) []metric.AddOption {
		return s.adding(attribute.String(names.KeyMCPMethodName, k.method), attribute.String(names.KeyMCPClientCacheOutcome,
			k.outcome))
	}
	o.task.build = func(tool string) []metric.AddOption { return s.adding(attribute.String(names.KeyGenAIToolName, tool)) }
	o.taskEnd.build = func(k taskEnd) []metric.RecordOption {
		return s.recording(attribute.String(names.KeyGenAIToolName, k.tool), attribute.String(names.KeyMCPServerTaskStatus,
			k.status),
			optional(names.KeyErrorType, k.errorType))
	}
	return o
}

// adding and recording return options to record a measurement with the attributes and the side's name. A measurement
// takes one option: several would be merged each time. Attributes that are not valid are left out.
func (s *side) adding(attrs ...attribute.KeyValue) []metric.AddOption {
	return []metric.AddOption{s.with(attrs)}
}

func (s *side) recording(attrs ...attribute.KeyValue) []metric.RecordOption {
	return []metric.RecordOption{s.with(attrs)}
}

func (s *side) with(attrs []attribute.KeyValue) metric.MeasurementOption {
	all := append(present(attrs...), attribute.String(s.keys.name, s.name))
	return metric.WithAttributeSet(attribute.NewSet(all...))
}
