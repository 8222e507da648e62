package otlpsink

import (
	"encoding/base64"
	"encoding/hex"

	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"

	jsonweigh "github.com/mcpotel/mcpotel/internal/weigh"
)

// OTLP's JSON encodes ids in hexadecimal, but protojson decodes bytes from base64. Hexadecimal digits are valid base64,
// and an id of 16 or 32 digits needs no padding: so the wrong decoding loses nothing and can be undone.

// unread undoes the wrong decoding of an id from base64. It returns raw unchanged if raw was not decoded from a
// hexadecimal id.
func unread(raw []byte) []byte {
	id, err := hex.DecodeString(base64.StdEncoding.EncodeToString(raw))
	if err != nil {
		return raw
	}
	return id
}

func fixSpanIDs(req *coltrace.ExportTraceServiceRequest) {
	for _, r := range req.GetResourceSpans() {
		for _, sc := range r.GetScopeSpans() {
			for _, s := range sc.GetSpans() {
				s.TraceId, s.SpanId, s.ParentSpanId = unread(s.TraceId), unread(s.SpanId), unread(s.ParentSpanId)
				for _, l := range s.GetLinks() {
					l.TraceId, l.SpanId = unread(l.TraceId), unread(l.SpanId)
				}
			}
		}
	}
}

func fixRecordIDs(req *collogs.ExportLogsServiceRequest) {
	for _, r := range req.GetResourceLogs() {
		for _, sc := range r.GetScopeLogs() {
			for _, l := range sc.GetLogRecords() {
				l.TraceId, l.SpanId = unread(l.TraceId), unread(l.SpanId)
			}
		}
	}
}

func fixPointIDs(req *colmetrics.ExportMetricsServiceRequest) {
	for _, r := range req.GetResourceMetrics() {
		for _, sc := range r.GetScopeMetrics() {
			for _, m := range sc.GetMetrics() {
				for _, list := range exemplarsIn(m) {
					for _, e := range list {
						e.TraceId, e.SpanId = unread(e.TraceId), unread(e.SpanId)
					}
				}
			}
		}
	}
}

// exemplarsIn returns the exemplars of each point of m.
func exemplarsIn(m *metrics.Metric) (all [][]*metrics.Exemplar) {
	for _, d := range m.GetGauge().GetDataPoints() {
		all = append(all, d.GetExemplars())
	}
	for _, d := range m.GetSum().GetDataPoints() {
		all = append(all, d.GetExemplars())
	}
	for _, d := range m.GetHistogram().GetDataPoints() {
		all = append(all, d.GetExemplars())
	}
	for _, d := range m.GetExponentialHistogram().GetDataPoints() {
		all = append(all, d.GetExemplars())
	}
	return all
}

// ParseSpans decodes spans from OTLP's JSON, an object with resourceSpans, and charges the budget for them.
func ParseSpans(raw []byte, b *jsonweigh.Budget) ([]Span, error) {
	var req coltrace.ExportTraceServiceRequest
	weight, err := weighJSON(raw, req.ProtoReflect().Descriptor())
	if err == nil {
		err = b.Charge(len(raw), weight)
	}
	if err != nil {
		return nil, err
	}
	if err := codecs["application/json"].unmarshal(raw, &req); err != nil {
		return nil, err
	}
	fixSpanIDs(&req)
	return spansOf(req.GetResourceSpans()), nil
}
