package otlpsink

import (
	"encoding/hex"
	"strings"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
)

func spansOf(resources []*trace.ResourceSpans) []Span {
	var all []Span
	for _, r := range resources {
		attrs := resourceOf(r.GetResource())
		for _, sc := range r.GetScopeSpans() {
			o := originOf(attrs, sc.GetScope())
			for _, s := range sc.GetSpans() {
				all = append(all, spanOf(o, s))
			}
		}
	}
	return all
}

func spanOf(o Origin, s *trace.Span) Span {
	span := Span{
		Origin:        o,
		TraceID:       traceID(s.GetTraceId()),
		SpanID:        spanID(s.GetSpanId()),
		ParentID:      spanID(s.GetParentSpanId()),
		TraceState:    s.GetTraceState(),
		Name:          s.GetName(),
		Kind:          strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_"),
		Start:         timeOf(s.GetStartTimeUnixNano()),
		End:           timeOf(s.GetEndTimeUnixNano()),
		Status:        strings.TrimPrefix(s.GetStatus().GetCode().String(), "STATUS_CODE_"),
		StatusMessage: s.GetStatus().GetMessage(),
		Attributes:    mapOf(s.GetAttributes()),
	}
	for _, e := range s.GetEvents() {
		span.Events = append(span.Events, Event{e.GetName(), timeOf(e.GetTimeUnixNano()), mapOf(e.GetAttributes())})
	}
	for _, l := range s.GetLinks() {
		span.Links = append(span.Links, Link{
			traceID(l.GetTraceId()), spanID(l.GetSpanId()), mapOf(l.GetAttributes()),
		})
	}
	return span
}

func recordsOf(resources []*logs.ResourceLogs) []Record {
	var all []Record
	for _, r := range resources {
		attrs := resourceOf(r.GetResource())
		for _, sc := range r.GetScopeLogs() {
			o := originOf(attrs, sc.GetScope())
			for _, l := range sc.GetLogRecords() {
				all = append(all, recordOf(o, l))
			}
		}
	}
	return all
}

func recordOf(o Origin, l *logs.LogRecord) Record {
	return Record{
		Origin:       o,
		EventName:    l.GetEventName(),
		Severity:     int(l.GetSeverityNumber()),
		SeverityText: l.GetSeverityText(),
		Body:         valueOf(l.GetBody()),
		Attributes:   mapOf(l.GetAttributes()),
		Time:         timeOf(l.GetTimeUnixNano()),
		Observed:     timeOf(l.GetObservedTimeUnixNano()),
		TraceID:      traceID(l.GetTraceId()),
		SpanID:       spanID(l.GetSpanId()),
	}
}

func resourceOf(r *resource.Resource) map[string]any { return mapOf(r.GetAttributes()) }

func originOf(attrs map[string]any, s *common.InstrumentationScope) Origin {
	return Origin{Resource: attrs, Scope: s.GetName(), ScopeVersion: s.GetVersion()}
}

// traceID and spanID encode ids in hexadecimal. They truncate ids that are too long.
func traceID(raw []byte) string { return hex.EncodeToString(raw[:min(len(raw), 16)]) }
func spanID(raw []byte) string  { return hex.EncodeToString(raw[:min(len(raw), 8)]) }

// timeOf converts a time. OTLP sends zero for an unknown time, which becomes the zero time.
func timeOf(nanos uint64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(nanos)).UTC()
}

func mapOf(kvs []*common.KeyValue) map[string]any {
	m := make(map[string]any, len(kvs))
	for _, kv := range kvs {
		m[kv.GetKey()] = valueOf(kv.GetValue())
	}
	return m
}

func valueOf(v *common.AnyValue) any {
	switch v := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue
	case *common.AnyValue_BoolValue:
		return v.BoolValue
	case *common.AnyValue_IntValue:
		return v.IntValue
	case *common.AnyValue_DoubleValue:
		return v.DoubleValue
	case *common.AnyValue_BytesValue:
		return v.BytesValue
	case *common.AnyValue_ArrayValue:
		list := make([]any, len(v.ArrayValue.GetValues()))
		for i, e := range v.ArrayValue.GetValues() {
			list[i] = valueOf(e)
		}
		return list
	case *common.AnyValue_KvlistValue:
		return mapOf(v.KvlistValue.GetValues())
	}
	return nil
}
