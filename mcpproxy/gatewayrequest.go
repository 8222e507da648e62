package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/groupname"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// request is a request of a host that members answer.
type request struct {
	h    *hostGroup
	info *mcpserver.RequestInfo
	ask  asking
	ctx  context.Context // of the handler; set before a member is asked
	from mcp.Version     // that the member speaks which has answered; set before the answer is given
}

// asking asks members for the answer to a request with these params. The result is as the member has written it.
type asking func(ctx context.Context, r *request, params json.RawMessage) (json.RawMessage, error)

// passedOn are the methods that members answer.
var passedOn = map[string]asking{
	mcp.MethodListTools: listing(tools), mcp.MethodCallTool: callTool,
	mcp.MethodListPrompts: listing(prompts), mcp.MethodGetPrompt: getPrompt,
	mcp.MethodListResources: listing(resources), mcp.MethodListResourceTemplates: listing(templates),
	mcp.MethodReadResource: readResource, mcp.MethodComplete: complete,
}

// answered is what becomes of a request.
type answered struct {
	result json.RawMessage
	err    error
}

// answer answers the request, as the policy has it.
func (r *request) answer(ctx context.Context, params json.RawMessage) (any, error) {
	g := r.h.g.guard
	if g == nil {
		r.ctx = ctx
		result, err := r.ask(ctx, r, params)
		return r.shown(result, err)
	}
	done := make(chan answered, 1)
	g.request(ctx, r, relay.Message{Method: r.info.Method, Params: params}, func(result json.RawMessage, err error) {
		done <- answered{result, err}
	})
	a := <-done
	if e, ok := errors.AsType[*relay.Error](a.err); ok {
		a.err = e.Server
	}
	if _, late := errors.AsType[*timeoutError](a.err); late || errors.Is(a.err, errTooManyWait) {
		a.err = &mcp.Error{Code: mcp.CodeInternalError, Message: a.err.Error()} // of which the host gets the text
	}
	return r.shown(a.result, a.err)
}

// request passes on the request, which the policy lets pass.
func (r *request) request(ctx context.Context, m relay.Message, answer relay.Answer) {
	r.ctx = ctx
	result, err := r.ask(ctx, r, m.Params)
	if e, ok := errors.AsType[*mcp.Error](err); ok {
		object, _ := json.Marshal(struct {
			Code    int64           `json:"code"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data,omitempty"`
		}{e.Code, e.Message, e.Data}) // which came as JSON
		err = &relay.Error{Object: object, Server: e}
	}
	answer(result, err)
}

// begin makes a call that has waited for its turn.
func (r *request) begin(call func()) bool { return r.h.background(call) }

// shown returns what the host gets. Of its own revision or an older one, a result is as the member has written it; a
// newer one is decoded, and the server shows it as the host's revision has it.
func (r *request) shown(result json.RawMessage, err error) (any, error) {
	switch needs, ok := errors.AsType[*mcpclient.InputRequiredError](err); {
	case ok:
		return nil, r.needs(needs.Result)
	case err != nil:
		return nil, err
	case r.info.Version >= r.from && (r.info.Method != mcp.MethodReadResource || r.info.Version.Era() == r.from.Era()):
		return result, nil
	}
	var typed any
	switch r.info.Method {
	case mcp.MethodCallTool:
		typed = new(mcp.CallToolResult)
	case mcp.MethodGetPrompt:
		typed = new(mcp.GetPromptResult)
	case mcp.MethodReadResource:
		typed = new(mcp.ReadResourceResult) // or else it lacks how long it may be kept
	case mcp.MethodComplete:
		typed = new(mcp.CompleteResult)
	default:
		return result, nil
	}
	if _, err := mcp.Decode(result, typed); err != nil {
		return nil, &mcp.Error{Code: mcp.CodeInternalError, Message: "the server's result: " + err.Error()}
	}
	return typed, nil
}

// needs asks the host for what a member needs before it answers. The member's state comes back with the answers.
func (r *request) needs(in *mcp.InputRequiredResult) error {
	state := ""
	if in.RequestState != nil {
		state = *in.RequestState
	}
	requests := make(mcp.InputRequests, len(in.InputRequests))
	for key, one := range in.InputRequests {
		one.Params = r.h.g.seen(r.ctx, one.Method, one.Params)
		requests[key] = one
	}
	return mcpserver.RequireInput(requests, state)
}

// round returns what the host has answered in the rounds before.
func (r *request) round() (in mcp.InputRound) {
	in.InputResponses = r.info.InputResponses()
	if state := r.info.RequestState(); state != "" {
		in.RequestState = &state
	}
	return in
}

// seen returns the params of a message of a member as hosts may see them.
func (g *Gateway) seen(ctx context.Context, method string, params json.RawMessage) json.RawMessage {
	if g.guard == nil {
		return params
	}
	return g.guard.forHost(ctx, relay.Message{Method: method, Params: params}).Params
}

// at has f ask a member, once that is ready, with the options for its call.
func (r *request) at(ctx context.Context, m *member, f func(...mcpclient.CallOption) error) error {
	if err := m.ready(ctx); err != nil {
		return err
	}
	m.enter(r)
	defer m.leave(r)
	r.from = m.client.ProtocolVersion()
	return m.failure(f(r.options(ctx)...))
}

// options are those of the call of a member: what the host has asked for.
func (r *request) options(ctx context.Context) []mcpclient.CallOption {
	options := []mcpclient.CallOption{
		mcpclient.ReturnInputRequired(), mcpclient.WithLogLevel(r.level()), mcpclient.AfterNotifications(),
	}
	if meta := passedMeta(r.info.Meta); meta != nil {
		options = append(options, mcpclient.WithMeta(meta))
	}
	if _, wants := mcp.Object(r.info.Meta).Lookup("progressToken"); wants {
		options = append(options, mcpclient.WithProgress(func(p *mcp.ProgressParams) { r.progress(ctx, p) }))
	}
	return options
}

// level returns the least severe level of the log messages that the host wants, empty for none that it has told.
func (r *request) level() (level mcp.LoggingLevel) {
	if s := r.info.Session(); s != nil {
		return s.LogLevel()
	}
	_, _ = mcp.Object(r.info.Meta).Decode(mcp.MetaLogLevel, &level) // the server has checked it
	return level
}

// progress tells the host how far a member has come.
func (r *request) progress(ctx context.Context, p *mcp.ProgressParams) {
	total := 0.0
	if p.Total != nil {
		total = *p.Total
	}
	if g := r.h.g.guard; g != nil && g.secrets != nil {
		p.Message, _ = g.secrets.redactText(p.Message)
	}
	_ = r.info.Progress(ctx, p.Progress, total, p.Message) // a host that does not read ends with its connection
}

// passedMeta returns what of a _meta is for the member: all but what the protocol and the trace have there, which
// belong to this connection.
func passedMeta(meta mcp.Meta) mcp.Meta {
	kept := map[string]json.RawMessage{}
	for name, value := range meta.All() {
		switch name {
		case "progressToken", "traceparent", "tracestate", "baggage":
			continue
		}
		if !strings.HasPrefix(name, "io.modelcontextprotocol/") && mcp.CheckMetaName(name) == nil {
			kept[name] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return nil // it came as JSON
	}
	return text
}

// ready waits for a member that is connecting, as long as the gateway's patience with its hosts lasts, and says why it
// is not connected.
func (m *member) ready(ctx context.Context) error {
	if m.client.State() == connstate.Ready {
		return nil
	}
	m.h.mu.Lock()
	until := m.h.begun.Add(m.h.g.o.Patience)
	m.h.mu.Unlock()
	if m.h.g.o.NoPrefix { // the host has nothing else to go on with
		until = time.Now().Add(m.h.g.o.Patience)
	}
	waiting, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if m.client.Await(waiting) == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return m.away()
}

// away says that a member is not connected, without what its errors may say of hosts and paths.
func (m *member) away() error {
	s := m.client.Status()
	data, _ := json.Marshal(map[string]any{"server": m.name, "state": s.State, "reason": s.Reason})
	return &mcp.Error{Code: mcp.CodeInternalError, Data: data, Message: fmt.Sprintf("the server %q is not connected: "+
		"its state is %v (%v) for %v; try again later", m.name, s.State, s.Reason, time.Since(s.Since).Round(time.Second))}
}

// failure returns the error of a call of a member as the host gets it: what the member has said, or which one has not.
func (m *member) failure(err error) error {
	e, ok := errors.AsType[*mcpclient.Error](err)
	switch {
	case !ok || errors.Is(err, context.Canceled):
		return err
	case e.Server != nil:
		return e.Server
	case errors.Is(err, mcpclient.ErrNotReady):
		return m.away()
	}
	if _, ok := errors.AsType[*mcpclient.InputRequiredError](err); ok {
		return err
	}
	return &mcp.Error{Code: mcp.CodeInternalError, Message: fmt.Sprintf("the server %q: %v", m.name, err)}
}

// named returns the member that a tool or a prompt belongs to by its name in the gateway, and what it is called there.
func (r *request) named(ctx context.Context, k *kind, name string) (*member, string, error) {
	if r.h.g.o.NoPrefix {
		return r.h.present()[0], name, nil
	}
	prefix, rest, ok := r.h.g.naming.Split(name)
	for _, m := range r.h.present() {
		if !ok || m.prefix != prefix {
			continue
		}
		if groupname.LooksLikeAlias(rest) {
			rest = m.original(ctx, k, name, rest)
		}
		return m, rest, nil
	}
	return nil, "", &mcp.Error{Code: mcp.CodeInvalidParams, Message: fmt.Sprintf(
		"unknown %s %q: the names of %ss begin with %s", k.one, shown(name), k.one, strings.Join(r.h.g.prefixes, ", "))}
}

func callTool(ctx context.Context, r *request, params json.RawMessage) (result json.RawMessage, err error) {
	var p mcp.CallToolParams
	if err := decodeParams(params, &p); err != nil {
		return nil, err
	}
	m, name, err := r.named(ctx, tools, p.Name)
	if err != nil {
		return nil, err
	}
	err = r.at(ctx, m, func(o ...mcpclient.CallOption) (err error) {
		own := &mcp.CallToolParams{Name: name, Arguments: p.Arguments, InputRound: r.round()}
		result, err = m.client.CallToolRaw(ctx, own, o...)
		return err
	})
	return result, err
}

func getPrompt(ctx context.Context, r *request, params json.RawMessage) (result json.RawMessage, err error) {
	var p mcp.GetPromptParams
	if err := decodeParams(params, &p); err != nil {
		return nil, err
	}
	m, name, err := r.named(ctx, prompts, p.Name)
	if err != nil {
		return nil, err
	}
	err = r.at(ctx, m, func(o ...mcpclient.CallOption) error {
		own := &mcp.GetPromptParams{Name: name, Arguments: p.Arguments, InputRound: r.round()}
		return m.client.Call(ctx, mcp.MethodGetPrompt, own, &result, o...)
	})
	return result, err
}

// complete asks the member to which the prompt or the template belongs.
func complete(ctx context.Context, r *request, params json.RawMessage) (result json.RawMessage, err error) {
	var p mcp.CompleteParams
	if err := decodeParams(params, &p); err != nil {
		return nil, err
	}
	var m *member
	if p.Ref.Type == mcp.RefPrompt {
		m, p.Ref.Name, err = r.named(ctx, prompts, p.Ref.Name)
	} else if candidates, _ := r.h.owners.of(p.Ref.URI, r.h.present()); len(candidates) > 0 {
		m = candidates[0]
	}
	if err != nil {
		return nil, err
	}
	err = r.at(ctx, m, func(o ...mcpclient.CallOption) error {
		if m.client.ServerCapabilities().Completions == nil && m.client.ProtocolVersion() > mcp.Version20241105 {
			result = json.RawMessage(`{"completion":{"values":[]}}`)
			return nil
		}
		own := &mcp.CompleteParams{Ref: p.Ref, Argument: p.Argument, Context: p.Context}
		return m.client.Call(ctx, mcp.MethodComplete, own, &result, o...)
	})
	return result, err
}

// decodeParams decodes the params of a request, or says what is wrong with them.
func decodeParams(params json.RawMessage, into any) error {
	if params == nil {
		params = json.RawMessage("{}")
	}
	if _, err := mcp.Decode(params, into); err != nil {
		return &mcp.Error{Code: mcp.CodeInvalidParams, Message: "params: " + err.Error()}
	}
	return nil
}
