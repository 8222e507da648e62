package mcpclient

import (
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
)

// asked is what the options of a call ask for. The zero value is a call without options.
type asked struct {
	conn.Sending
	meta      mcp.Meta
	logLevel  mcp.LoggingLevel // empty for none
	ifSent    bool             // the operation has no span before a request or an error needs it
	cacheable bool             // the result may be one that is kept, and may be kept
	retries   int              // how often the call may be made again
	refresh   bool             // but not this time: the server is to be asked

	inputReturned      bool // to the caller: what the server needs first
	afterNotifications bool // that came before

	whole          *call                // the operation that the call is a part of; nil for none
	spanAttributes []attribute.KeyValue // of the CLIENT spans

	handle   *Task             // gets the task that the call becomes, instead of waiting for it; may be nil
	onTask   func(mcp.Task)    // hears of that; may be nil
	asTask   *mcp.TaskMetadata // makes a task of the call in 2025-11-25; may be nil
	received *atomic.Int64     // counts the bytes of answers; may be nil
	mismatch bool              // the headers did not match what the server wants, which is why the call is made again
	lead     *lead             // learns what another call may go on with; may be nil
}

// askedBy returns what options ask for.
func askedBy(options []CallOption) *asked {
	a := new(asked)
	a.apply(options)
	return a
}

func (a *asked) apply(options []CallOption) {
	for _, o := range options {
		o(a)
	}
}

// CallOption changes one call.
type CallOption func(*asked)

// WithTimeout bounds the call: waiting for readiness, send retries, handlers of progress, and a list of the tools that
// comes before the call included. For a list of many pages, such as [Client.Tools], it bounds the waiting for all of
// them together. Zero means [Options.RequestTimeout], negative means none.
//
// It bounds each request by itself where the server asks for something first: a call that is answered by a wish for
// input has the time anew for its next request, and a person any time; a task has it for each poll, and is waited for
// as long as the context allows. The deadline of the context bounds all of these together.
//
// A longer timeout extends no other time: the deadline of the context, the time that a server has to connect in
// ([Options.InitTimeout], [Options.StartTimeout]), and what the server, or a proxy before it, allows for a request.
func WithTimeout(d time.Duration) CallOption { return func(a *asked) { a.Timeout = d } }

// WithMeta adds members to the request's _meta. A member that the protocol or the tracing sets takes the place of one
// of m with its name.
func WithMeta(m mcp.Meta) CallOption { return func(a *asked) { a.meta = m } }

// WithSpanAttributes adds attributes to the CLIENT span of the call: of each request that it sends, if there are tries
// or rounds. Given more than once, it adds to those before. For all calls of a program, and for servers, see
// telemetry.WithSpanAttributesFn, whose bounds and order apply. They are on no metric and are not sent to the server.
func WithSpanAttributes(attrs ...attribute.KeyValue) CallOption {
	return func(a *asked) { a.spanAttributes = slices.Concat(a.spanAttributes, attrs) }
}

// WaitForReady lets the call wait until the client is ready, within its timeout. Without it a call on a client that is
// not ready fails at once with [ErrNotReady].
func WaitForReady() CallOption { return func(a *asked) { a.Wait = true } }

// WaitForRoom lets the call wait in line for room in a transport that is busy, within its timeout, first come, first
// served. Without it a call is tried three times in 20 ms or so and then fails with [ErrBackpressure]; and while others
// stand in line, it finds the transport busy. The first in line tries again every 10 ms, so that it works with any
// transport. It is about the transport: a server that says itself that it is busy is asked three times either way. See
// [Options.WaitForRoom].
func WaitForRoom() CallOption { return func(a *asked) { a.WaitForRoom = true } }

// WithoutCache asks the server even if the client keeps a result that is fresh, see [Options.NoCache]. The new result
// takes the place of the old one.
func WithoutCache() CallOption { return func(a *asked) { a.refresh = true } }

// AfterNotifications has a call return only when the handlers of notifications have heard all that came before its
// answer, such as the log messages that belong to it. It is not for a call that such a handler makes: that would wait
// for itself, until its context ends.
func AfterNotifications() CallOption { return func(a *asked) { a.afterNotifications = true } }
