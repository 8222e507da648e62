package telemetry

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// role is what differs between a client and a server: what their metrics, events and attributes are called.
type role struct {
	which  Side
	ins    *sideInstruments
	keys   *keys
	events *events
}

func clientRole(ins *instruments) role {
	return role{ClientSide, &ins.client, &clientKeys, &clientEvents}
}

func serverRole(ins *instruments) role {
	return role{ServerSide, &ins.server, &serverKeys, &serverEvents}
}

// side is what a client and a server have in common: everything but the connection's own life. It is safe for concurrent
// use.
type side struct {
	role
	tel  *Telemetry
	name string
	log  *slog.Logger // has the name
	base *knownFacts  // what is known without a peer

	facts   interned
	methods names // beyond those of the protocol
	targets names // tools and prompts
	ops     cache[opKey, *opInfo]
	limits  limiter
	flight  flight

	strangers   names  // outcomes beyond those of the protocol; guarded by ops.mu for writing
	series      [2]int // of the durations, by direction; guarded by ops.mu
	restOptions cache[restKey, []metric.RecordOption]

	notificationOptions cache[notificationKey, []metric.AddOption]
	violationOptions    cache[violationKey, []metric.AddOption]
	dropOptions         cache[string, []metric.AddOption]
	panicOptions        cache[string, []metric.AddOption]
	retryOptions        cache[string, []metric.AddOption]
	sizeOptions         cache[sizeKey, []metric.RecordOption]
	decodeOptions       cache[decodeKey, []metric.RecordOption]
	lostOptions         cache[lostKey, []metric.AddOption]
	streamOptions       cache[string, []metric.AddOption]
	streamEndOptions    cache[streamEnd, []metric.RecordOption]
	plain               []metric.RecordOption // the name alone
}

type (
	notificationKey struct {
		direction Direction
		method    string
	}
	violationKey struct {
		reason    string
		direction Direction
	}
	sizeKey struct {
		direction Direction
		kind      MessageKind
	}
	decodeKey struct {
		kind      MessageKind
		errorType string
	}
)

func (s *side) init(t *Telemetry, name string, n Network, r role) {
	s.role, s.tel, s.name = r, t, name
	s.log = t.log.With(slog.String(r.keys.name, name))
	s.base = s.facts.intern(Facts{Network: n})
	s.flight.base = time.Now()
	s.methods.init(maxMethods)
	s.targets.init(t.toolLimit)
	s.strangers.init(maxStrangers)
	s.restOptions.build = func(k restKey) []metric.RecordOption {
		return s.recording(attribute.String(keyMethod, other), s.transport(),
			optional(keyErrorType, k.errorType()), optional(keyStatusCode, k.statusCode()))
	}
	s.ops.build = s.newOpInfo
	s.notificationOptions.build = func(k notificationKey) []metric.AddOption {
		return s.adding(attribute.String(keyMethod, k.method), attribute.String(r.keys.direction, k.direction.String()))
	}
	s.violationOptions.build = func(k violationKey) []metric.AddOption {
		return s.adding(attribute.String(r.keys.violationReason, k.reason),
			attribute.String(r.keys.direction, k.direction.String()), s.transport())
	}
	s.dropOptions.build = func(reason string) []metric.AddOption { return s.adding(attribute.String(r.keys.dropReason, reason)) }
	s.panicOptions.build = func(method string) []metric.AddOption { return s.adding(attribute.String(keyMethod, method)) }
	s.sizeOptions.build = func(k sizeKey) []metric.RecordOption {
		return s.recording(attribute.String(r.keys.direction, k.direction.String()),
			attribute.String(r.keys.messageKind, k.kind.String()), s.transport())
	}
	s.decodeOptions.build = func(k decodeKey) []metric.RecordOption {
		return s.recording(attribute.String(r.keys.messageKind, k.kind.String()), optional(keyErrorType, k.errorType))
	}
	s.retryOptions.build = func(reason string) []metric.AddOption {
		return s.adding(attribute.String(keyClientRetryReason, reason), s.transport())
	}
	s.lostOptions.build = func(k lostKey) []metric.AddOption {
		return s.adding(attribute.String(keyMethod, k.method), attribute.String(r.keys.dropReason, k.reason))
	}
	s.initStreams()
	s.plain = s.recording()
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

func (s *side) transport() attribute.KeyValue { return optional(keyTransport, s.base.Transport) }

// methodLabel returns the method as metrics have it.
func (s *side) methodLabel(method string, known bool) string {
	if own, ok := knownMethods[method]; ok {
		return own
	}
	if known {
		if own, ok := s.methods.intern(method); ok {
			return own
		}
	}
	return other
}

func (s *side) messageSize(ctx context.Context, d Direction, k MessageKind, bytes int) {
	if s.ins.size.Enabled(ctx) {
		s.ins.size.Record(ctx, int64(bytes), s.sizeOptions.at(sizeKey{d, k})...)
	}
}
