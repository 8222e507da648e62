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
	ifSent    bool             // create the span only when a request or an error needs it
	cacheable bool             // the result may be cached
	retries   int              // maximum of retries of the call
	refresh   bool             // ask the server even if the result is cached

	inputReturned      bool // return requests for input to the caller
	afterNotifications bool // return after earlier notifications were handled

	whole          *call                // the operation that includes the call; nil for none
	spanAttributes []attribute.KeyValue // for the CLIENT spans

	handle   *Task             // filled with the call's task; the call then does not wait for it; may be nil
	onTask   func(mcp.Task)    // called with the call's task; may be nil
	asTask   *mcp.TaskMetadata // makes a task of the call in 2025-11-25; may be nil
	received *atomic.Int64     // counts the bytes of answers; may be nil
	found    *bool             // set if the cache has answered; may be nil
	mismatch bool              // the call is repeated because of mismatched headers
	lead     *lead             // filled for calls that continue this one; may be nil
}

// asked evaluates the options of a call.
func (cfg *config) asked(options []CallOption) *asked {
	a := new(asked)
	cfg.apply(a, options)
	return a
}

// apply applies the options of all calls, and then those of one call.
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

// WithTimeout bounds the call, including the wait for readiness, retries of sending, handlers of progress, and
// listing the tools before the call. For a list of many pages, such as [Client.Tools], it bounds the waiting for
// all pages together. Zero means [Options.RequestTimeout], negative means no limit.
//
// If the server requests input first, the timeout applies to each request separately: after a request for input, the
// next request has the full time, and a person may take any time; each poll of a task has the full time, and Call waits
// for the task as long as the context allows. The deadline of the context bounds all of these together.
//
// A longer timeout does not extend other limits: the deadline of the context, the time to connect
// ([Timeouts.Init], [Timeouts.Start]), and limits of the server, or of a proxy.
func WithTimeout(d time.Duration) CallOption { return func(a *asked) { a.Timeout = d } }

// WithMeta adds members to the request's _meta. Members that the protocol or tracing sets replace members of m.
func WithMeta(m mcp.Meta) CallOption { return func(a *asked) { a.meta = m } }

// WithSpanAttributes adds attributes to the CLIENT span of the call, and of each retry or round. Repeated options
// add up. For all calls of a program, and for servers, see telemetry.WithSpanAttributesFn, which has the same
// bounds and order. The attributes are on no metric and are not sent to the server.
func WithSpanAttributes(attrs ...attribute.KeyValue) CallOption {
	return func(a *asked) { a.spanAttributes = slices.Concat(a.spanAttributes, attrs) }
}

// WaitForReady makes the call wait until the client is ready, within its timeout. Without it a call fails at once
// with [ErrNotReady] if the client is not ready.
func WaitForReady() CallOption { return func(a *asked) { a.Wait = true } }

// WaitForRoom makes the call wait in line for room in a busy transport, within its timeout, first in first out.
// Without it a call is tried three times in about 20 ms and then fails with [ErrBackpressure]; while other calls
// wait in line, the transport counts as busy. The first in line tries again every 10 ms, which works with any
// transport. The option concerns only the transport: a server that reports that it is busy is asked three times in
// any case.
func WaitForRoom() CallOption { return func(a *asked) { a.WaitForRoom = true } }

// WithoutCache asks the server even if the client has a fresh cached result, see [Options.CacheSize]. The new result
// replaces it.
func WithoutCache() CallOption { return func(a *asked) { a.refresh = true } }

// AfterNotifications makes a call return only after the handlers have handled all notifications before its answer,
// such as its log messages. Do not use it for a call in such a handler: the call would wait for itself, until its
// context ends.
func AfterNotifications() CallOption { return func(a *asked) { a.afterNotifications = true } }
