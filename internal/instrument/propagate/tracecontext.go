// Package propagate writes trace contexts into messages and reads them: the keys of _meta and the headers that an
// OpenTelemetry propagator knows, within bounds. Who may be told, and who is trusted, is for package instrument.
package propagate

import (
	"iter"
	"maps"
	"slices"
)

// TraceContext holds the keys of _meta, unprefixed, and the values that the configured propagator writes into a message
// or reads from one. A message that belongs to no trace has the zero TraceContext.
//
// The three keys of the W3C's formats, which the specification reserves, have fields of their own: nearly all programs
// write only those, and they cost no map.
type TraceContext struct {
	Traceparent, Tracestate, Baggage string // empty for none

	// Others are the keys of other propagators, such as b3, with their values; nil for none. What is written is bounded,
	// and has no key of the protocol's: see [telemetry.WithPropagators].
	Others map[string]string

	declared []string // keys beyond the W3C's that the propagator says it writes; shared
}

// IsZero reports whether there is nothing to write.
func (t *TraceContext) IsZero() bool {
	return t.Traceparent == "" && t.Tracestate == "" && t.Baggage == "" && len(t.Others) == 0
}

// All returns the keys that have a value, in the order in which they are written.
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

// Keys returns the keys that are the propagator's in a message, whether they have a value or not.
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

// Declared are the keys beyond the W3C's that the propagator says it writes ([propagation.TextMapPropagator.Fields]),
// whether it has written them or not. Like the W3C's, they are the propagator's alone: what a message has under them
// from elsewhere names another trace, and is not sent. The slice is read only.
func (t *TraceContext) Declared() []string { return t.declared }

// Headers are those of Others that are declared. What a message repeats of its trace context elsewhere, in headers of
// HTTP and variables of the environment, has these alone: the names of keys that are made of baggage, as some
// propagators make them, would come from the program that wrote the baggage.
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

// AddTo returns a copy of meta, nil for none, with the trace context in place of any that it has. Without a trace
// context it returns meta itself.
func (t *TraceContext) AddTo(meta map[string]any) map[string]any {
	if t.IsZero() {
		return meta
	}
	twin := make(map[string]any, len(meta)+3+len(t.Others))
	maps.Copy(twin, meta)
	for key := range t.Keys() {
		delete(twin, key) // of another trace
	}
	for key, value := range t.All() {
		twin[key] = value
	}
	return twin
}

// In returns the trace context in a decoded _meta. Others has all texts that a propagator may have written, for only
// the propagator knows its keys.
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
