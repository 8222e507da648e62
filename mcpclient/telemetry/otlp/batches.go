package otlp

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// maxBatch is the default limit of gRPC servers for the size of a message, in bytes. The SDK's batch processors count
// spans and records and not their bytes: 512 spans with content exceed the limit, and a receiver rejects the whole
// message.
const maxBatch = 4 << 20

// inParts exports a batch in parts of at most limit bytes, one after the other. size returns the bytes of one item. An
// item above the limit is a part by itself, since the receiver may accept more.
//
// If a part fails, the others are still exported, unless ctx has ended. The error then reports how many items were
// not delivered and why; for a batch of one part, the error is the exporter's. An exporter retries only the failed
// part, so delivered items are not sent again.
func inParts[T any](ctx context.Context, batch []T, limit int, size func(*T) int,
	export func(context.Context, []T) error) error {
	lost, errs := 0, []error(nil)
	for part := range parts(batch, limit, size) {
		err := ctx.Err()
		if err == nil || len(part) == len(batch) {
			err = export(ctx, part)
		}
		switch {
		case err == nil:
		case len(part) == len(batch):
			return err
		default:
			lost += len(part)
			if !errorsHave(errs, err) {
				errs = append(errs, err)
			}
		}
	}
	if lost == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d items were not delivered: %w", lost, len(batch), errors.Join(errs...))
}

// errorsHave reports whether one of the errors has the same text as err.
func errorsHave(errs []error, err error) bool {
	for _, e := range errs {
		if e.Error() == err.Error() {
			return true
		}
	}
	return false
}

// parts yields the batch in parts of at most limit bytes, or of a single item.
func parts[T any](batch []T, limit int, size func(*T) int) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		begin, bytes := 0, 0
		for i := range batch {
			n := size(&batch[i])
			if i > begin && bytes+n > limit {
				if !yield(batch[begin:i:i]) {
					return
				}
				begin, bytes = i, 0
			}
			bytes += n
		}
		yield(batch[begin:])
	}
}

// Upper bounds for OTLP in protobuf: the overhead of a field with a length, and the fixed-size fields of a span, a
// record, an event and a link. The length of a field below 2 MiB takes 3 bytes.
const (
	fieldSize  = 6
	recordSize = 128
	eventSize  = 32
	linkSize   = 48
)

// spanSize returns an upper bound for the size of a span in OTLP.
func spanSize(s *sdktrace.ReadOnlySpan) int {
	span := *s
	n := recordSize + len(span.Name()) + len(span.Status().Description) + scopeSize(span.InstrumentationScope()) +
		attributesSize(span.Attributes())
	n += traceStateSize(span.SpanContext().TraceState())
	for _, e := range span.Events() {
		n += eventSize + len(e.Name) + attributesSize(e.Attributes)
	}
	for _, l := range span.Links() {
		n += linkSize + traceStateSize(l.SpanContext.TraceState()) + attributesSize(l.Attributes)
	}
	return n
}

// traceStateSize returns the length of a trace state as text, with a separator for each member.
func traceStateSize(t trace.TraceState) (n int) {
	t.Walk(func(key, value string) bool {
		n += len(key) + len(value) + 2
		return true
	})
	return n
}

// logSize returns an upper bound for the size of a log record in OTLP.
func logSize(r *sdklog.Record) int {
	n := recordSize + len(r.EventName()) + len(r.SeverityText()) + valueSize(r.Body()) +
		scopeSize(r.InstrumentationScope())
	r.WalkAttributes(func(kv attribute.KeyValue) bool {
		n += attributeSize(kv)
		return true
	})
	return n
}

// resourceSize returns an upper bound for the size of a batch's resource in OTLP.
func resourceSize(r *resource.Resource) int {
	n := recordSize + len(r.SchemaURL())
	for it := r.Iter(); it.Next(); {
		n += attributeSize(it.Attribute())
	}
	return n
}

// scopeSize returns an upper bound for the size of a scope in OTLP. Each span and record counts its own scope, though
// OTLP sends a scope once for all its items.
func scopeSize(s instrumentation.Scope) int {
	n := 4*fieldSize + len(s.Name) + len(s.Version) + len(s.SchemaURL)
	for it := s.Attributes.Iter(); it.Next(); {
		n += attributeSize(it.Attribute())
	}
	return n
}

func attributesSize(attrs []attribute.KeyValue) (n int) {
	for _, kv := range attrs {
		n += attributeSize(kv)
	}
	return n
}

func attributeSize(kv attribute.KeyValue) int { return 2*fieldSize + len(kv.Key) + valueSize(kv.Value) }

func valueSize(v attribute.Value) int {
	const number = fieldSize + 2 + 10 // a field with a value that holds a varint
	n := 2 * fieldSize
	switch v.Type() {
	case attribute.STRING:
		return n + len(v.AsString())
	case attribute.BYTESLICE:
		return n + len(v.AsByteSlice())
	case attribute.BOOLSLICE:
		return n + number*len(v.AsBoolSlice())
	case attribute.INT64SLICE:
		return n + number*len(v.AsInt64Slice())
	case attribute.FLOAT64SLICE:
		return n + number*len(v.AsFloat64Slice())
	case attribute.STRINGSLICE:
		for _, s := range v.AsStringSlice() {
			n += 2*fieldSize + len(s)
		}
	case attribute.SLICE:
		for _, e := range v.AsSlice() {
			n += fieldSize + valueSize(e)
		}
	case attribute.MAP:
		for _, kv := range v.AsMap() {
			n += attributeSize(kv)
		}
	}
	return n
}
