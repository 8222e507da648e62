package instrument

import (
	"net/netip"
	"reflect"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/settings"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// startSpan starts the operation's span. If the caller has marked its own span of the tool call with
// [settings.WithOuterSpan], startSpan uses that span instead. ofCall holds the program's attributes for this call.
func (op *Op) startSpan(kind TargetKind, ofCall []attribute.KeyValue, links ...Ref) {
	users := op.userAttributes(ofCall)
	if op.direction == telemetry.DirectionSent && kind == Tool {
		if outer := settings.OuterSpan(op.ctx); outer != nil {
			op.trace.span, op.trace.recording, op.trace.borrowed = outer, true, true
			outer.SetAttributes(users...)
			return
		}
	}
	late := &op.side.tel.late
	if !late.starts() {
		return
	}
	name, opts := op.spanStart(kind)
	if len(users) > 0 { // first, so that the schema's attributes prevail
		opts = append([]trace.SpanStartOption{trace.WithAttributes(users...)}, opts...)
	}
	for _, link := range links {
		if link != (Ref{}) {
			opts = append(opts[:len(opts):len(opts)], trace.WithLinks(trace.Link{SpanContext: link.spanContext()}))
		}
	}
	op.ctx, op.trace.span = op.side.tel.tracer.Start(op.ctx, name, opts...)
	op.trace.recording = op.trace.span.IsRecording()
	late.started(op.trace.recording)
}

// spanStart returns the name and the start options of the operation's span. The span of a sent message has the full
// names. The span of a received message has only known names until it ends.
func (op *Op) spanStart(kind TargetKind) (string, []trace.SpanStartOption) {
	name, opts := op.info.spanName, op.info.start
	if op.direction == telemetry.DirectionSent && !op.exact {
		key := opKey{telemetry.DirectionSent, kind, op.shownMethod(), op.shownTarget()}
		name, opts = spanName(key.method, key.target), startOptions(opNamesKey{key, op.side.base.Transport})
	}
	if op.side.tel.URIInName && op.uri != "" {
		name += " " + truncate(op.uri, words.MaxURI)
	}
	return name, opts
}

func spanName(method, target string) string {
	if target == "" {
		return method
	}
	return method + " " + target
}

// startOptions returns a span's kind and the attributes that samplers see.
func startOptions(k opNamesKey) []trace.SpanStartOption {
	kind := trace.SpanKindClient
	if k.direction == telemetry.DirectionReceived {
		kind = trace.SpanKindServer
	}
	attrs := slices.Clone(k.onSpan(optional(names.KeyNetworkTransport, k.transport))) // without spare capacity
	return []trace.SpanStartOption{trace.WithSpanKind(kind), trace.WithAttributes(attrs...)}
}

// onSpan returns the names of the operation as span attributes, and the transport.
func (k opKey) onSpan(transport attribute.KeyValue) []attribute.KeyValue {
	attrs := append(k.attributes(), transport)
	if k.direction == telemetry.DirectionSent && k.targetKind == Tool {
		attrs = append(attrs, attribute.String(names.KeyGenAIToolType, words.ToolTypeExtension))
	}
	return present(attrs...)
}

// endSpan sets, with one call, all attributes that were unknown at the start, and ends the span. If the span belongs to
// the caller, endSpan only sets the attributes.
func (op *Op) endSpan(o outcome, r *Result) {
	defer op.closeSpan() // deferred, because the user's redactor may panic or end the goroutine
	op.setEndAttributes(o, r)
	if op.trace.borrowed {
		return
	}
	if o.failed {
		op.trace.span.SetStatus(codes.Error, op.errorMessage(statusText(r)))
	}
}

// statusText returns the description of an error for the span's status: the message of the JSON-RPC error, or the
// error's text. A tool's error is a part of the result, which is content, so its description is empty.
func statusText(r *Result) string {
	switch {
	case r.ToolError:
		return ""
	case r.HasCode:
		return r.Message
	}
	return errorText(r)
}

// closeSpan ends the span, unless the span belongs to the caller. The end time is the time of the answer, with one
// exception. If the caller still had to check the answer, and no other request follows, the end time is now.
func (op *Op) closeSpan() {
	switch {
	case op.trace.borrowed:
	case op.progress.answered.IsZero(), op.trace.kept && !op.trace.superseded:
		op.trace.span.End()
	default:
		op.trace.span.End(trace.WithTimestamp(op.progress.answered))
	}
}

// endAttributes appends the attributes that were unknown at the start.
func (op *Op) endAttributes(attrs []attribute.KeyValue, o outcome, r *Result) []attribute.KeyValue {
	s := op.side
	add := func(key, value string) {
		if value != "" {
			attrs = append(attrs, attribute.String(key, value))
		}
	}
	count := func(key string, n int) {
		if n > 0 {
			attrs = append(attrs, attribute.Int(key, n))
		}
	}
	if op.trace.borrowed {
		shown := opKey{op.direction, op.info.targetKind, op.shownMethod(), op.shownTarget()}
		attrs = append(attrs, shown.onSpan(s.transport())...)
	}
	attrs = append(attrs, op.facts().attrs[op.direction]...)
	attrs = s.identify(attrs)
	add(s.keys.corrID, op.corrID())
	add(names.KeyJSONRPCRequestID, op.requestID())
	add(names.KeyErrorType, o.errorType())
	add(names.KeyRPCResponseStatusCode, o.statusCode())
	if o.failed && s.keys.safeToRetry != "" && op.direction == telemetry.DirectionSent && !op.notification {
		attrs = append(attrs, attribute.Bool(s.keys.safeToRetry, r.Unsent))
	}
	add(names.KeyMCPResourceURI, truncate(op.uri, words.MaxURI))
	if r.ResultType != "complete" {
		add(s.keys.resultType, truncate(r.ResultType, words.MaxName))
	}
	request, response := op.bytesOut, op.bytesIn
	if op.direction == telemetry.DirectionReceived {
		request, response = op.bytesIn, op.bytesOut
	}
	count(s.keys.requestSize, request)
	count(s.keys.responseSize, response)
	count(names.KeyMCPClientSendRetries, int(op.retries))
	count(names.KeyMCPClientMRTRRound, int(op.round))
	if op.direction == telemetry.DirectionReceived && !op.exact {
		add(names.KeyMCPMethodName, op.shownMethod())
		switch op.info.targetKind {
		case Tool:
			add(names.KeyGenAIToolName, op.shownTarget())
		case Prompt:
			add(names.KeyGenAIPromptName, op.shownTarget())
		}
	}
	if op.peer != nil {
		add(names.KeyMCPSessionID, op.peer.sessionID)
	}
	if op.trace.caller != nil {
		add(names.KeyMCPServerClientName, op.trace.caller.name)
		add(names.KeyMCPServerClientVersion, op.trace.caller.version)
	}
	if op.trace.remote == "" || s.tel.NoClientAddress {
		return attrs
	}
	if from, err := netip.ParseAddrPort(op.trace.remote); err == nil {
		add(names.KeyClientAddress, from.Addr().Unmap().String())
		count(names.KeyClientPort, int(from.Port()))
	}
	return attrs
}

// usualAttributes is the initial capacity for the attributes at the end of a span.
const usualAttributes = 16

// endBuffers holds buffers for the attributes at the end of a span. Without the buffers, each sampled call would
// allocate half a KiB, although the SDK copies the attributes.
var endBuffers = sync.Pool{New: func() any {
	attrs := make([]attribute.KeyValue, 0, usualAttributes)
	return &attrs
}}

// setEndAttributes sets, with one call, all attributes that were unknown at the start.
func (op *Op) setEndAttributes(o outcome, r *Result) {
	if !copiesAttributes(op.trace.span) {
		attrs := make([]attribute.KeyValue, 0, usualAttributes)
		op.trace.span.SetAttributes(op.endAttributes(attrs, o, r)...)
		return
	}
	buf := endBuffers.Get().(*[]attribute.KeyValue)
	attrs := op.endAttributes(*buf, o, r)
	op.trace.span.SetAttributes(attrs...)
	clear(attrs) // releases the strings
	*buf = attrs[:0]
	endBuffers.Put(buf)
}

// sdkSpans is the package of the SDK's spans.
const sdkSpans = "go.opentelemetry.io/otel/sdk/trace"

// copiesAttributes reports whether span copies the arguments of SetAttributes, so that the slice can be reused. The API
// does not specify this. The SDK copies, and a test checks that. Other implementations may retain the slice.
func copiesAttributes(span trace.Span) bool {
	t := reflect.TypeOf(span)
	return t.Kind() == reflect.Pointer && t.Elem().PkgPath() == sdkSpans
}
