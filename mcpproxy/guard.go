package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// guard applies a policy to all messages between a host and its server, or between a host and the members of a gateway,
// and counts the decisions. It is safe for concurrent use.
//
// Each request of a host that a server or member answers passes through [guard.request], and each notification that a
// proxy forwards passes through [guard.notification]. All messages for a host pass through [guard.redacted],
// [guard.forHost], [guard.asks] or [guard.text]. A nil guard forwards every message unchanged.
type guard struct {
	*rules
	limiter *limiter // nil if there is no limit for calls
	tel     *instrument.Server
}

// newGuard returns a guard that applies a policy. tel records the decisions of the guard.
func newGuard(p *Policy, tel *instrument.Server) (*guard, error) {
	r, err := p.compile()
	if err != nil {
		return nil, err
	}
	return &guard{r, newLimiter(p), tel}, nil
}

// forwarder passes on requests of a host after the policy has permitted them.
type forwarder interface {
	request(ctx context.Context, m relay.Message, answer relay.Answer)
	// begin starts a call whose turn has come. Calls start in the order of their turns. begin returns false if the host
	// has left.
	begin(call func()) bool
	// namesOf returns all names of the tool that the host calls by the name tool. After namesOf, the request goes to that
	// tool.
	namesOf(ctx context.Context, tool string) ([]string, error)
	// hides reports whether answers to tools/list already omit tools that the host may not call.
	hides() bool
}

// request passes on a request of the host of p if the policy permits it. Otherwise it answers with an error.
func (g *guard) request(ctx context.Context, p forwarder, m relay.Message, answer relay.Answer) {
	if g == nil {
		p.request(ctx, m, answer)
		return
	}
	about := instrument.Decision{Method: m.Method, Request: true}
	read, err := readHostMessage(m)
	about.Tool = read.tool
	answer = g.redacted(ctx, about, answer)
	if err != nil {
		g.decided(ctx, about, names.PolicyDenied, 0)
		answer(nil, err)
		return
	}
	var called []string
	switch m.Method {
	case mcp.MethodListTools:
		if g.restrict() && !p.hides() {
			answer = g.filtered(ctx, about, answer)
		}
	case mcp.MethodCallTool:
		if called, err = p.namesOf(ctx, read.tool); err != nil {
			answer(nil, err)
			return
		}
		if !g.permit(called...) {
			g.decided(ctx, about, names.PolicyDenied, 0)
			answer(nil, errDenied(read.tool))
			return
		}
	}
	if params, n := g.withoutSecrets(m, read); n > 0 {
		m.Params, m.Header = params, nil // headers may repeat the params, so the client derives new headers
		g.decided(ctx, about, names.PolicyRedacted, n)
	}
	if called != nil {
		if d := g.timeoutOf(called...); d > 0 || g.limiter != nil {
			g.call(ctx, p, &toolCall{g: g, p: p, m: m, about: about, answer: answer}, d)
			return
		}
	}
	p.request(ctx, m, answer)
}

// notification reports whether a notification of the host may pass. A request without an id is invalid, and must not
// reach the server, because the guard could not answer the host. (specification, basic/index, "Requests": "Requests
// MUST include a string or integer ID")
func (g *guard) notification(ctx context.Context, m relay.Message) bool {
	if g == nil || !isRequest(m.Method) {
		return true
	}
	read, _ := readHostMessage(m) // best effort
	g.decided(ctx, instrument.Decision{Method: m.Method, Tool: read.tool}, names.PolicyDenied, 0)
	return false
}

// decided records a decision of the policy in telemetry.
func (g *guard) decided(ctx context.Context, d instrument.Decision, kind string, redactions int) {
	d.Kind, d.Redactions = kind, redactions
	g.tel.Decided(ctx, d)
}

// errDenied returns the error for a forbidden tool. It is the same error as for an unknown tool. (specification,
// server/tools, "Error Handling")
func errDenied(tool string) error {
	return &mcp.Error{
		Code:    mcp.CodeInvalidParams,
		Message: fmt.Sprintf("unknown tool %q: the policy of the proxy does not allow it", shown(tool)),
	}
}

// filtered returns an answer function that removes forbidden tools from a result of tools/list.
func (g *guard) filtered(ctx context.Context, about instrument.Decision, answer relay.Answer) relay.Answer {
	return func(result json.RawMessage, err error) {
		if err == nil {
			var hidden int
			if result, hidden = g.withoutDenied(result); hidden > 0 {
				g.decided(ctx, about, names.PolicyHidden, 0)
			}
		}
		answer(result, err)
	}
}

// definitions lists the methods whose results define features of a server. In these results, a member named like a key
// of [Redaction.Keys] defines a property with this name.
var definitions = map[string]bool{
	mcp.MethodInitialize: true, mcp.MethodDiscover: true, mcp.MethodListTools: true, mcp.MethodListPrompts: true,
	mcp.MethodListResources: true, mcp.MethodListResourceTemplates: true,
}

var (
	asksForInput = []string{"inputRequests", "*", "params", "requestedSchema"} // path in a result
	asksAtOnce   = []string{"requestedSchema"}                                 // path in the params of an elicitation
)

// redacted returns an answer function that removes data which the host may not see. The data may come from the server,
// its process, the transport or the proxy.
func (g *guard) redacted(ctx context.Context, about instrument.Decision, answer relay.Answer) relay.Answer {
	if g == nil || g.secrets == nil {
		return answer
	}
	in := part{noKeys: definitions[about.Method], schema: asksForInput}
	return func(result json.RawMessage, err error) {
		n := 0
		if err == nil {
			result, n = g.secrets.redact(result, in)
		} else {
			n, err = g.secrets.redactError(err)
		}
		if n > 0 {
			g.decided(ctx, about, names.PolicyRedacted, n)
		}
		answer(result, err)
	}
}

// failure returns the redacted error of a request with this method. The request did not pass through [guard.request].
func (g *guard) failure(ctx context.Context, method string, err error) error {
	if g == nil || g.secrets == nil || err == nil {
		return err
	}
	n, err := g.secrets.redactError(err)
	if n > 0 {
		g.decided(ctx, instrument.Decision{Method: method, Request: true}, names.PolicyRedacted, n)
	}
	if e, ok := errors.AsType[*relay.Error](err); ok {
		return e.Server
	}
	return err
}

// redactError returns the redacted error of a request, for the host, and the number of replacements.
func (r *secrets) redactError(err error) (replaced int, redacted error) {
	if refused, ok := errors.AsType[*refusal](err); ok {
		n, why := r.redactError(refused.error)
		return n, &refusal{why, refused.introduction}
	}
	if _, asks := errors.AsType[*mcpclient.InputRequiredError](err); asks {
		return 0, err // request.needs redacts it
	}
	if none, ok := errors.AsType[*relay.Cancelled](err); ok {
		reason, n := r.redactText(none.Reason)
		return n, &relay.Cancelled{Reason: reason}
	}
	object, code := errorObject(err)
	if _, said := errors.AsType[*mcp.Error](err); !said { // the error is not an answer of the server, but may quote one
		text, n := r.redactErrorText(err.Error())
		object, _ = errorObject(&mcp.Error{Code: code, Message: text})
		replaced = n
	} else {
		object, replaced = r.redact(object, part{below: 1})
	}
	if replaced == 0 {
		return 0, err
	}
	e := &mcp.Error{Code: code}
	_, _ = mcp.Object(object).Decode("message", &e.Message) // best effort
	e.Data, _ = mcp.Object(object).Lookup("data")
	return replaced, &relay.Error{Object: object, Server: e}
}

// redactText is like redact, for a text that is not JSON.
func (r *secrets) redactText(text string) (redacted string, replaced int) {
	raw, n := r.redact(jsonscan.AppendString(nil, text), part{})
	if n == 0 {
		return text, 0
	}
	_, _ = mcp.Decode(raw, &redacted) // no error: raw is a JSON string
	return redacted, n
}

// redactErrorText is like redactText, for the text of an error. The text may quote a part of JSON or of a log, such as
// the body of an HTTP answer or the last output of a process. So everything after a key with : or = is replaced.
func (r *secrets) redactErrorText(text string) (redacted string, replaced int) {
	redacted, replaced = r.redactText(text)
	if r.inError == nil {
		return redacted, replaced
	}
	if at := r.inError.FindStringIndex(redacted); at != nil && redacted[at[1]:] != " "+r.plain {
		replaced++
		redacted = redacted[:at[1]] + " " + r.plain
	}
	return redacted, replaced
}

// withoutSecrets returns the redacted params of a host's request to the server, and the number of replacements.
func (g *guard) withoutSecrets(m relay.Message, read hostMessage) (redacted json.RawMessage, replaced int) {
	if !g.arguments || g.secrets == nil {
		return m.Params, 0
	}
	return g.secrets.redactArguments(m.Params, read, m.Method)
}

// forHost returns a redacted message of the server for the host. No span records the decision, because the message
// belongs to no request of the host.
func (g *guard) forHost(ctx context.Context, m relay.Message) relay.Message {
	if g == nil || g.secrets == nil {
		return m
	}
	if !isProtocol(m.Method) {
		m.Method, _ = g.secrets.redactText(m.Method)
	}
	if m.Params == nil {
		return m
	}
	in := part{}
	if m.Method == mcp.MethodElicit {
		in.schema = asksAtOnce
	}
	var n int
	if m.Params, n = g.secrets.redact(m.Params, in); n > 0 {
		g.decided(ctx, instrument.Decision{Method: m.Method}, names.PolicyRedacted, n)
	}
	return m
}

// text returns a redacted text for the host, from a message of the server with this method.
func (g *guard) text(ctx context.Context, method, text string) string {
	if g == nil || g.secrets == nil {
		return text
	}
	redacted, n := g.secrets.redactText(text)
	if n > 0 {
		g.decided(ctx, instrument.Decision{Method: method}, names.PolicyRedacted, n)
	}
	return redacted
}

// asks returns a redacted request of the server for the host. If the server cancels the request, asks also redacts the
// reason.
func (g *guard) asks(ctx context.Context, m relay.Message, answer relay.Answer) (
	context.Context, relay.Message, relay.Answer,
) {
	if g == nil || g.secrets == nil { // a policy without redaction allocates nothing
		return ctx, m, answer
	}
	own, end := g.ending(ctx, m.Method)
	return own, g.forHost(ctx, m), func(result json.RawMessage, err error) {
		defer end()
		answer(result, err)
	}
}

// ending returns a context that ends with ctx and has a redacted cause. end releases the context.
func (g *guard) ending(ctx context.Context, method string) (_ context.Context, end func()) {
	if g == nil || g.secrets == nil {
		return ctx, func() {}
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		why := context.Cause(ctx)
		if text := g.text(own, method, why.Error()); text != why.Error() {
			why = errors.New(text)
		}
		cancel(why)
	})
	return own, func() {
		stop()
		cancel(nil)
	}
}

// scrub returns a redacted content for telemetry.
func (g *guard) scrub(c telemetry.Content) []byte {
	switch c.Kind {
	case telemetry.ContentToolArguments, telemetry.ContentToolResult:
		redacted, _ := g.secrets.redact(c.Data, part{})
		return redacted
	case telemetry.ContentPromptVariable:
		if g.secrets.hasKey([]byte(c.Name)) {
			return g.secrets.with
		}
	}
	text, _ := g.secrets.redactErrorText(string(c.Data))
	return []byte(text)
}

// toolCall is a tool call that may wait for its turn and may time out.
type toolCall struct {
	g      *guard
	p      forwarder
	m      relay.Message
	about  instrument.Decision
	answer relay.Answer
	ctx    context.Context
	cancel func()
	stop   func() bool // stops watching ctx
	over   atomic.Bool // the call has been answered
}

// timeoutError is the error of a call that exceeded the policy's timeout. The server gets its text as the reason for
// the cancellation.
type timeoutError struct {
	tool string
	d    time.Duration
}

func (e *timeoutError) Error() string {
	return fmt.Sprintf("the call of %q exceeded the timeout of %v in the proxy's policy", shown(e.tool),
		e.d)
}

// call makes a call, immediately or at its turn. d is its timeout; zero means none.
func (g *guard) call(ctx context.Context, p forwarder, c *toolCall, d time.Duration) {
	if g.limiter != nil {
		if wait := g.limiter.admit(time.Now()); wait > 0 {
			g.decided(ctx, c.about, names.PolicyLimited, 0)
			c.answer(nil, g.limiter.rateError(wait))
			return
		}
	}
	if d > 0 {
		c.ctx, c.cancel = context.WithTimeoutCause(ctx, d, &timeoutError{c.about.Tool, d})
	} else {
		c.ctx, c.cancel = context.WithCancel(ctx)
	}
	c.stop = context.AfterFunc(c.ctx, c.left)
	if g.limiter == nil {
		c.pass()
		return
	}
	switch now, err := g.limiter.enter(c); {
	case err != nil:
		g.decided(ctx, c.about, names.PolicyLimited, 0)
		c.end(nil, err)
	case now:
		c.pass()
	}
}

// rateError returns the error of a rate-limited call. The error contains the time until a retry may succeed.
func (g *limiter) rateError(wait time.Duration) error {
	seconds := strconv.FormatFloat(wait.Seconds(), 'f', 3, 64)
	return &mcp.Error{
		Code: mcp.CodeInternalError,
		Message: fmt.Sprintf("too many tool calls: the proxy's policy allows %d in %v; try again in %s s",
			g.rate.Calls, g.rate.Per, seconds),
		Data: json.RawMessage(`{"retryAfter":` + seconds + `}`),
	}
}

// pass passes the call to the server or member.
func (c *toolCall) pass() { c.p.request(c.ctx, c.m, c.answered) }

// left ends a call that has exceeded its timeout, or that the host has cancelled.
func (c *toolCall) left() {
	waited := c.g.limiter != nil && c.g.limiter.forget(c)
	c.conclude(nil, context.Cause(c.ctx))
	if waited {
		c.cancel()
	}
}

// answered receives the answer to a call that was passed on.
func (c *toolCall) answered(result json.RawMessage, err error) {
	if g := c.g.limiter; g != nil {
		g.leave()
	}
	c.end(result, err)
}

// end ends a call that no longer waits for its turn.
func (c *toolCall) end(result json.RawMessage, err error) {
	c.stop()
	c.conclude(result, err)
	c.cancel()
}

// conclude answers the call. Only the first call of conclude has an effect.
func (c *toolCall) conclude(result json.RawMessage, err error) {
	if c.over.Swap(true) {
		return
	}
	if late, ok := errors.AsType[*timeoutError](context.Cause(c.ctx)); ok && err != nil {
		c.g.decided(c.ctx, c.about, names.PolicyTimedOut, 0)
		err = late
	}
	c.answer(result, err)
}
