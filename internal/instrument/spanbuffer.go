package instrument

import (
	"reflect"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// usualAttributes is for how many attributes a span's end has room at first.
const usualAttributes = 16

// endBuffers are where the attributes of a span's end are gathered, one after the other. Without them, each sampled
// call would allocate half a KiB for what the SDK copies.
var endBuffers = sync.Pool{New: func() any {
	attrs := make([]attribute.KeyValue, 0, usualAttributes)
	return &attrs
}}

// setEndAttributes gives the span what was not known at the start, all at once.
func (op *Op) setEndAttributes(o outcome, r *Result) {
	if !copiesAttributes(op.trace.span) {
		attrs := make([]attribute.KeyValue, 0, usualAttributes)
		op.trace.span.SetAttributes(op.endAttributes(attrs, o, r)...)
		return
	}
	buf := endBuffers.Get().(*[]attribute.KeyValue)
	attrs := op.endAttributes(*buf, o, r)
	op.trace.span.SetAttributes(attrs...)
	clear(attrs) // holds on to nothing
	*buf = attrs[:0]
	endBuffers.Put(buf)
}

// sdkSpans is the package of the SDK's spans.
const sdkSpans = "go.opentelemetry.io/otel/sdk/trace"

// copiesAttributes reports whether span copies what SetAttributes is given, so that the slice can be used again. The
// API does not say; the SDK does, and a test holds it. Of other implementations nothing is known.
func copiesAttributes(span trace.Span) bool {
	t := reflect.TypeOf(span)
	return t.Kind() == reflect.Pointer && t.Elem().PkgPath() == sdkSpans
}
