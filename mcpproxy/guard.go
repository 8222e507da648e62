package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// guard sees to it that what passes keeps to a policy, and has each decision seen. It is safe for concurrent use.
type guard struct {
	*rules
	limiter *limiter // nil if any number of calls may be made
	tel     *instrument.Server
}

// newGuard returns what sees to a policy, of the proxy with this name and instance.
func newGuard(p *Policy, t *telemetry.Telemetry, name, instance string) (*guard, error) {
	r, err := p.compile()
	if err != nil {
		return nil, err
	}
	tel := instrument.NewServer(t, name, instrument.Network{}, instrument.WithInstanceID(instance))
	return &guard{r, newLimiter(p), tel}, nil
}

// passer passes on requests of a host, which the policy lets pass.
type passer interface {
	request(ctx context.Context, m relay.Message, answer relay.Answer)
	// begin makes a call that has waited for its turn, behind those before it, and reports false if the host has left.
	begin(call func()) bool
}

// request passes on a request of the host of p, if it may pass.
func (g *guard) request(ctx context.Context, p passer, m relay.Message, answer relay.Answer) {
	about := instrument.Decision{Method: m.Method, Request: true}
	single := false
	if m.Method == mcp.MethodCallTool {
		about.Tool, single = called(m.Params)
	}
	if g.secrets != nil {
		answer = g.redacted(ctx, about, answer)
	}
	switch {
	case m.Method == mcp.MethodListTools && g.restrict():
		answer = g.filtered(ctx, about, answer)
	case m.Method == mcp.MethodCallTool && g.restrict() && (!single || !g.permit(about.Tool)):
		g.decided(ctx, about, names.PolicyDenied, 0)
		answer(nil, errDenied(about.Tool))
		return
	}
	if params, n := g.withoutSecrets(about.Method, m.Params); n > 0 {
		m.Params, m.Header = params, nil // which may repeat them; the client finds out what is to be repeated
		g.decided(ctx, about, names.PolicyRedacted, n)
	}
	if m.Method == mcp.MethodCallTool {
		if d := g.timeoutOf(about.Tool); d > 0 || g.limiter != nil {
			g.call(ctx, p, &toolCall{g: g, p: p, m: m, about: about, answer: answer}, d)
			return
		}
	}
	p.request(ctx, m, answer)
}

// decided has a decision seen.
func (g *guard) decided(ctx context.Context, d instrument.Decision, kind string, redactions int) {
	d.Kind, d.Redactions = kind, redactions
	g.tel.Decided(ctx, d)
}

// errDenied answers a call of a tool that the host may not call, as one of a tool that is unknown.
// (specification, server/tools, "Error Handling")
func errDenied(tool string) error {
	text := "the policy of the proxy allows only calls with the name of one tool"
	if tool != "" {
		text = fmt.Sprintf("unknown tool %q: the policy of the proxy does not allow it", shown(tool))
	}
	return &mcp.Error{Code: mcp.CodeInvalidParams, Message: text}
}

// filtered returns an answer to tools/list that leaves out what the host may not call.
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

// definitions are the methods whose results define what a server has. Names of members are those of properties there.
var definitions = map[string]bool{
	mcp.MethodInitialize: true, mcp.MethodDiscover: true, mcp.MethodListTools: true, mcp.MethodListPrompts: true,
	mcp.MethodListResources: true, mcp.MethodListResourceTemplates: true,
}

var (
	asksForInput = []string{"inputRequests", "*", "params", "requestedSchema"} // in a result
	asksAtOnce   = []string{"requestedSchema"}                                 // in the params of an elicitation
)

// redacted returns an answer that has nothing the host is not to see.
func (g *guard) redacted(ctx context.Context, about instrument.Decision, answer relay.Answer) relay.Answer {
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

// redactError returns what the host may see of an error that the server has answered with, and how much was replaced.
func (r *secrets) redactError(err error) (replaced int, redacted error) {
	if none, ok := errors.AsType[*relay.Cancelled](err); ok {
		reason, n := r.redactText(none.Reason)
		return n, &relay.Cancelled{Reason: reason}
	}
	passed, ok := errors.AsType[*relay.Error](err)
	if !ok {
		return 0, err
	}
	object, n := r.redact(passed.Object, part{below: 1})
	if n == 0 {
		return 0, err
	}
	e := &mcp.Error{Code: passed.Server.Code}
	_, _ = mcp.Object(object).Decode("message", &e.Message) // as far as it can be read
	e.Data, _ = mcp.Object(object).Lookup("data")
	return n, &relay.Error{Object: object, Server: e}
}

// redactText is redact for a text that is not in JSON.
func (r *secrets) redactText(text string) (redacted string, replaced int) {
	raw, n := r.redact(jsonscan.AppendString(nil, text), part{})
	if n == 0 {
		return text, 0
	}
	_, _ = mcp.Decode(raw, &redacted) // it is one
	return redacted, n
}

// withoutSecrets returns the params of a request of the host as the server may see them, and how much was replaced.
func (g *guard) withoutSecrets(method string, params json.RawMessage) (redacted json.RawMessage, replaced int) {
	if !g.arguments || g.secrets == nil || method != mcp.MethodCallTool && method != mcp.MethodGetPrompt {
		return params, 0
	}
	w := rewriter{from: params}
	o := jsonscan.ObjectAt(params, 0)
	for o.Next() {
		if string(o.Key()) != "arguments" {
			continue
		}
		at := o.At()
		raw := o.Raw()
		if redacted, n := g.secrets.redact(raw, part{}); n > 0 {
			w.replace(at, at+len(raw), redacted)
			replaced += n
		}
	}
	return w.result(), replaced
}

// forHost returns a message of the server as the host may see it. No span has the decision: it belongs to no request of
// the host.
func (g *guard) forHost(ctx context.Context, m relay.Message) relay.Message {
	if g.secrets == nil || m.Params == nil {
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

// asks returns a request of the server as the host may see it, with the reason for which the server cancels it.
func (g *guard) asks(ctx context.Context, m relay.Message, answer relay.Answer) (
	context.Context, relay.Message, relay.Answer,
) {
	if g.secrets == nil {
		return ctx, m, answer
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		why := context.Cause(ctx)
		if text, n := g.secrets.redactText(why.Error()); n > 0 {
			why = errors.New(text)
		}
		cancel(why)
	})
	return own, g.forHost(ctx, m), func(result json.RawMessage, err error) {
		stop()
		answer(result, err)
		cancel(nil)
	}
}

// toolCall is a call of a tool that may wait, and that may take only so long.
type toolCall struct {
	g      *guard
	p      passer
	m      relay.Message
	about  instrument.Decision
	answer relay.Answer
	ctx    context.Context
	cancel func()
	stop   func() bool // ends the watch over ctx
	over   atomic.Bool // it is answered
}

// timeoutError is why a call ends that takes too long. The server is told so, too.
type timeoutError struct {
	tool string
	d    time.Duration
}

func (e *timeoutError) Error() string {
	return fmt.Sprintf("the call of %q has taken longer than the %v that the policy of the proxy allows", shown(e.tool),
		e.d)
}

// call makes a call, now or when it is its turn, which may take so long, zero for without end.
func (g *guard) call(ctx context.Context, p passer, c *toolCall, d time.Duration) {
	if g.limiter != nil {
		if wait := g.limiter.admit(time.Now()); wait > 0 {
			g.decided(ctx, c.about, names.PolicyLimited, 0)
			c.answer(nil, g.limiter.tooMany(wait))
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

// tooMany says when to try again.
func (g *limiter) tooMany(wait time.Duration) error {
	seconds := strconv.FormatFloat(wait.Seconds(), 'f', 3, 64)
	return &mcp.Error{
		Code: mcp.CodeInternalError,
		Message: fmt.Sprintf("too many calls of tools: the policy of the proxy allows %d in %v; try again in %s s",
			g.rate.Calls, g.rate.Per, seconds),
		Data: json.RawMessage(`{"retryAfter":` + seconds + `}`),
	}
}

// pass hands the call on.
func (c *toolCall) pass() { c.p.request(c.ctx, c.m, c.answered) }

// left hears that the call has taken too long, or that the host does not want it any more.
func (c *toolCall) left() {
	waited := c.g.limiter != nil && c.g.limiter.forget(c)
	c.conclude(nil, context.Cause(c.ctx))
	if waited {
		c.cancel()
	}
}

// answered is the answer to a call that was handed on.
func (c *toolCall) answered(result json.RawMessage, err error) {
	if g := c.g.limiter; g != nil {
		g.leave()
	}
	c.end(result, err)
}

// end ends a call that does not wait any more.
func (c *toolCall) end(result json.RawMessage, err error) {
	c.stop()
	c.conclude(result, err)
	c.cancel()
}

// conclude answers the call, once.
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
