// Package propagate writes trace contexts into messages and reads them: the keys of _meta and the headers of an
// OpenTelemetry propagator, within limits. Package instrument decides which peers receive a trace context and which
// peers are trusted.
package propagate

import (
	"iter"
	"maps"
	"slices"
)

// TraceContext holds the keys of _meta, without a prefix, and the values that the configured propagator writes into a
// message or reads from it. A message outside of traces has the zero TraceContext.
//
// The three keys of the W3C's formats, which the specification reserves, have their own fields. Most programs write
// only these, and then need no map.
type TraceContext struct {
	Traceparent, Tracestate, Baggage string // empty for none

	// Others has the keys of other propagators, such as b3, with their values. It may be nil. The number of written keys
	// is limited, and none of them belongs to the protocol: see [telemetry.WithPropagators].
	Others map[string]string

	declared []string // keys that the propagator declares, without the W3C's; shared
}

// IsZero reports whether the trace context is empty.
func (t *TraceContext) IsZero() bool {
	return t.Traceparent == "" && t.Tracestate == "" && t.Baggage == "" && len(t.Others) == 0
}

// All returns the keys that have a value, in the order of writing.
func (t *TraceContext) All() iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for _, f := range [...]struct{ key, value string }{
			{keyTraceparent, t.Traceparent}, {keyTracestate, t.Tracestate}, {keyBaggage, t.Baggage},
		} {
			if f.value != "" && !yield(f.key, f.value) {
				return
			}
		}
		for _, key := range slices.Sorted(maps.Keys(t.Others)) {
			if !yield(key, t.Others[key]) {
				return
			}
		}
	}
}

// Keys returns all keys of the propagator, with or without a value.
func (t *TraceContext) Keys() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, keys := range [...][]string{w3cKeys, t.declared} {
			for _, key := range keys {
				if !yield(key) {
					return
				}
			}
		}
		for key := range t.Others {
			if !slices.Contains(t.declared, key) && !yield(key) {
				return
			}
		}
	}
}

// Declared returns the keys that the propagator declares ([propagation.TextMapPropagator.Fields]), except the W3C's,
// even if the propagator has not written them. Only the propagator may write these keys and the W3C's: any other value
// under such a key names another trace and is not sent. Callers must not change the slice.
func (t *TraceContext) Declared() []string { return t.declared }

// Headers returns the declared keys of Others with their values. Only declared keys are repeated outside of the
// message, in HTTP headers and environment variables. Some propagators derive further keys from baggage; repeating
// those would let the author of the baggage choose header names.
func (t *TraceContext) Headers() map[string]string {
	undeclared := func(key, _ string) bool { return !slices.Contains(t.declared, key) }
	for key, value := range t.Others {
		if undeclared(key, value) {
			some := maps.Clone(t.Others)
			maps.DeleteFunc(some, undeclared)
			return some
		}
	}
	return t.Others
}

// AddTo returns a copy of meta in which t replaces the trace context. meta may be nil. If t is zero, AddTo returns meta
// itself.
func (t *TraceContext) AddTo(meta map[string]any) map[string]any {
	if t.IsZero() {
		return meta
	}
	twin := make(map[string]any, len(meta)+3+len(t.Others))
	maps.Copy(twin, meta)
	for key := range t.Keys() {
		delete(twin, key) // the value names another trace
	}
	for key, value := range t.All() {
		twin[key] = value
	}
	return twin
}

// In returns the trace context in a decoded _meta. Others holds all texts that a propagator may have written, because
// only the propagator knows its keys.
func In(meta map[string]any) (t TraceContext) {
	for key, member := range meta {
		value, isText := member.(string)
		switch {
		case !isText:
		case key == keyTraceparent:
			t.Traceparent = value
		case key == keyTracestate:
			t.Tracestate = value
		case key == keyBaggage:
			t.Baggage = value
		case propagated(key):
			if t.Others == nil {
				t.Others = make(map[string]string)
			}
			t.Others[key] = value
		}
	}
	return t
}
