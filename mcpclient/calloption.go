package mcpclient

import (
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
)

// asked holds the evaluated options of a call. The zero value means no options.
type asked struct {
	conn.Sending
	meta      mcp.Meta
	logLevel  mcp.LoggingLevel // empty for none
	ifSent    bool             // create the span only if a request is sent or an error occurs
	cacheable bool             // the result may be cached
	retries   int              // maximum number of retries of the call
	refresh   bool             // ask the server even if the result is cached

	inputReturned      bool // return the server's requests for input to the caller
	afterNotifications bool // return only after the handlers have handled all earlier notifications

	whole          *call                // the operation that this call belongs to; nil for none
	spanAttributes []attribute.KeyValue // attributes for the CLIENT spans

	handle   *Task             // receives the call's task; if set, the call does not wait for the task; may be nil
	onTask   func(mcp.Task)    // called with the call's task; may be nil
	asTask   *mcp.TaskMetadata // makes the call a task in 2025-11-25; may be nil
	received *atomic.Int64     // adds up the bytes of the answers; may be nil
	found    *bool             // set if the cache has answered; may be nil
	mismatch bool              // the call is repeated because the HTTP headers did not match
	lead     *lead             // receives the telemetry context of this call, for calls that continue it; may be nil
}

// asked evaluates the options of a call.
func (cfg *config) asked(options []CallOption) *asked {
	a := new(asked)
	cfg.apply(a, options)
	return a
}

// apply applies the client's options for all calls, and then the options of one call.
func (cfg *config) apply(a *asked, options []CallOption) {
	for _, o := range cfg.CallOptions {
		o(a)
	}
	for _, o := range options {
		o(a)
	}
}

// CallOption configures one call, or all calls of a client: see [Options.CallOptions].
type CallOption func(*asked)

// WithTimeout bounds the call. The time includes the wait for readiness, retries of sending, progress handlers, and
// listing the tools before the call. For a list of many pages, such as [Client.Tools], it bounds the total wait for all
// pages. Zero means [Options.RequestTimeout], and a negative value means no limit.
//
// If the server requests input first, the timeout applies to each request separately. After a request for input, the
// next request has the full time, and a person may take any time to answer. Each poll of a task has the full time too,
// and Call waits for the task until the context ends. The deadline of the context bounds all of these together.
//
// A longer timeout does not extend other limits: the deadline of the context, the time to connect ([Timeouts.Init],
// [Timeouts.Start]), and the limits of the server or of a proxy.
func WithTimeout(d time.Duration) CallOption { return func(a *asked) { a.Timeout = d } }

// WithMeta adds members to the request's _meta. Members that the protocol or tracing sets replace members of m with the
// same name.
func WithMeta(m mcp.Meta) CallOption { return func(a *asked) { a.meta = m } }

// WithSpanAttributes adds attributes to the CLIENT span of the call, and to the span of each retry or round. Attributes
// of repeated options add up. For all calls of a program, and for servers, see telemetry.WithSpanAttributesFn, which
// has the same bounds and order. The attributes appear on no metric, and the client does not send them to the server.
func WithSpanAttributes(attrs ...attribute.KeyValue) CallOption {
	return func(a *asked) { a.spanAttributes = slices.Concat(a.spanAttributes, attrs) }
}

// WaitForReady makes the call wait, within its timeout, until the client is ready. Without this option, a call fails at
// once with [ErrNotReady] if the client is not ready.
func WaitForReady() CallOption { return func(a *asked) { a.Wait = true } }

// WaitForRoom makes the call wait, within its timeout, until a busy transport has room. Waiting calls form a queue,
// first in, first out. The first call in the queue tries again every 10 ms, which works with any transport.
//
// Without this option, the client tries a call three times in about 20 ms, and then the call fails with
// [ErrBackpressure]. While calls wait in the queue, the transport counts as busy for all other calls. The option does
// not concern a busy server: the client always asks a busy server three times.
func WaitForRoom() CallOption { return func(a *asked) { a.WaitForRoom = true } }

// WithoutCache makes the client ask the server even if it has a fresh cached result (see [Options.CacheSize]). The new
// result replaces the cached one.
func WithoutCache() CallOption { return func(a *asked) { a.refresh = true } }

// AfterNotifications makes a call return only after the handlers have handled all notifications that arrived before its
// answer, such as its log messages. Do not use it for a call inside such a handler: the call would wait for itself
// until its context ends.
func AfterNotifications() CallOption { return func(a *asked) { a.afterNotifications = true } }
