package jaeger

import (
	"encoding/base64"
	"strconv"
	"time"
)

// answer is a response of the API: OTLP as JSON, in which ids are hexadecimal and 64-bit numbers are strings.
type answer struct {
	Result struct {
		ResourceSpans []struct {
			Resource   struct{ Attributes []attribute }
			ScopeSpans []struct {
				Scope struct{ Name string }
				Spans []span
			}
		}
	}
	Error *struct {
		HTTPCode int `json:"httpCode"`
		Message  string
	}
}

type span struct {
	TraceID, SpanID, ParentSpanID      string
	Name                               string
	Kind                               int
	StartTimeUnixNano, EndTimeUnixNano nanoseconds
	Attributes                         []attribute
	Status                             struct {
		Code    int
		Message string
	}
	Links  []struct{ TraceID, SpanID string }
	Events []struct {
		Name         string
		TimeUnixNano nanoseconds
		Attributes   []attribute
	}
}

type nanoseconds string

func (n nanoseconds) time() time.Time {
	v, _ := strconv.ParseInt(string(n), 10, 64) // zero for an invalid number, which no real span has
	return time.Unix(0, v)
}

type attribute struct {
	Key   string
	Value value
}

type value struct {
	StringValue *string
	BoolValue   *bool
	IntValue    *string
	DoubleValue *float64
	BytesValue  *string
	ArrayValue  *struct{ Values []value }
	KvlistValue *struct{ Values []attribute }
}

func (v value) plain() any {
	switch {
	case v.StringValue != nil:
		return *v.StringValue
	case v.BoolValue != nil:
		return *v.BoolValue
	case v.IntValue != nil:
		n, _ := strconv.ParseInt(*v.IntValue, 10, 64)
		return n
	case v.DoubleValue != nil:
		return *v.DoubleValue
	case v.BytesValue != nil:
		b, _ := base64.StdEncoding.DecodeString(*v.BytesValue)
		return b
	case v.ArrayValue != nil:
		all := []any{}
		for _, e := range v.ArrayValue.Values {
			all = append(all, e.plain())
		}
		return all
	case v.KvlistValue != nil:
		return plain(v.KvlistValue.Values)
	}
	return nil
}

func plain(attributes []attribute) map[string]any {
	m := make(map[string]any, len(attributes))
	for _, a := range attributes {
		m[a.Key] = a.Value.plain()
	}
	return m
}

// Names of numeric values in OTLP.
var (
	kinds    = []string{"UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"}
	statuses = []string{"UNSET", "OK", "ERROR"}
)

func word(words []string, n int) string {
	if n < 0 || n >= len(words) {
		return strconv.Itoa(n)
	}
	return words[n]
}

// spans flattens a response.
func (a *answer) spans() (all []*Span) {
	for _, r := range a.Result.ResourceSpans {
		resource := plain(r.Resource.Attributes)
		service, _ := resource["service.name"].(string)
		for _, scope := range r.ScopeSpans {
			for _, s := range scope.Spans {
				flat := s.flat()
				flat.Service, flat.Resource, flat.Scope = service, resource, scope.Scope.Name
				all = append(all, flat)
			}
		}
	}
	return all
}

func (s *span) flat() *Span {
	start := s.StartTimeUnixNano.time()
	flat := &Span{
		TraceID: s.TraceID, ID: s.SpanID, ParentID: s.ParentSpanID, Name: s.Name, Kind: word(kinds, s.Kind),
		Start: start, Duration: s.EndTimeUnixNano.time().Sub(start),
		Status: word(statuses, s.Status.Code), StatusMessage: s.Status.Message, Attributes: plain(s.Attributes),
	}
	for _, l := range s.Links {
		flat.Links = append(flat.Links, Link{l.TraceID, l.SpanID})
	}
	for _, e := range s.Events {
		flat.Events = append(flat.Events, Event{e.Name, e.TimeUnixNano.time(), plain(e.Attributes)})
	}
	return flat
}
