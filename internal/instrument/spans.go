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

// startSpan opens the operation's span, or takes the caller's own span of the tool call if it is marked. ofCall are the
// attributes that the program gives this call.
func (op *Op) startSpan(kind TargetKind, ofCall []attribute.KeyValue, links ...Ref) {
	users := op.userAttributes(ofCall)
	if op.direction == telemetry.Sent && kind == Tool {
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
	if len(users) > 0 { // before those of the schema, which prevail
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

// spanStart returns the name and the options that the operation's span starts with. Of what this side sends, the span
// has the names as they are; of what it receives, only those it knows until the span ends.
func (op *Op) spanStart(kind TargetKind) (string, []trace.SpanStartOption) {
	name, opts := op.info.spanName, op.info.start
	if op.direction == telemetry.Sent && !op.exact {
		key := opKey{telemetry.Sent, kind, op.shownMethod(), op.shownTarget()}
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

// startOptions are a span's kind and the attributes that samplers see.
func startOptions(k opNamesKey) []trace.SpanStartOption {
	kind := trace.SpanKindClient
	if k.direction == telemetry.Received {
		kind = trace.SpanKindServer
	}
	attrs := slices.Clone(k.onSpan(optional(names.KeyNetworkTransport, k.transport))) // of just their size
	return []trace.SpanStartOption{trace.WithSpanKind(kind), trace.WithAttributes(attrs...)}
}

// onSpan are the names of the operation as a span has them, and the transport.
func (k opKey) onSpan(transport attribute.KeyValue) []attribute.KeyValue {
	attrs := append(k.attributes(), transport)
	if k.direction == telemetry.Sent && k.targetKind == Tool {
		attrs = append(attrs, attribute.String(names.KeyGenAIToolType, words.ToolTypeExtension))
	}
	return present(attrs...)
}

// endSpan sets what was not known at the start, all at once, and ends the span. A span that is the caller's gets the
// attributes and nothing else.
func (op *Op) endSpan(o outcome, r *Result) {
	defer op.closeSpan() // whatever becomes of the user's redactor
	op.setEndAttributes(o, r)
	if op.trace.borrowed {
		return
	}
	if o.failed {
		op.trace.span.SetStatus(codes.Error, op.errorMessage(statusText(r)))
	}
}

// statusText is what the status of a span says of an error: the message of the JSON-RPC error, or what went wrong. A
// tool says it in its result, which is content.
func statusText(r *Result) string {
	switch {
	case r.ToolError:
		return ""
	case r.HasCode:
		return r.Message
	}
	return errorText(r)
}

// closeSpan ends the span, unless it is the caller's. A span that was kept beyond its answer ends now, with what its
// caller has checked in the answer, unless another request has followed.
func (op *Op) closeSpan() {
	switch {
	case op.trace.borrowed:
	case op.progress.answered.IsZero(), op.trace.kept && !op.trace.superseded:
		op.trace.span.End()
	default:
		op.trace.span.End(trace.WithTimestamp(op.progress.answered))
	}
}

// endAttributes appends what was not known at the start.
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
	if o.failed && s.keys.safeToRetry != "" && op.direction == telemetry.Sent && !op.notification {
		attrs = append(attrs, attribute.Bool(s.keys.safeToRetry, r.Unsent))
	}
	add(names.KeyMCPResourceURI, truncate(op.uri, words.MaxURI))
	if r.ResultType != "complete" {
		add(s.keys.resultType, truncate(r.ResultType, words.MaxName))
	}
	request, response := op.bytesOut, op.bytesIn
	if op.direction == telemetry.Received {
		request, response = op.bytesIn, op.bytesOut
	}
	count(s.keys.requestSize, request)
	count(s.keys.responseSize, response)
	count(names.KeyMCPClientSendRetries, int(op.retries))
	count(names.KeyMCPClientMRTRRound, int(op.round))
	if op.direction == telemetry.Received && !op.exact {
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
