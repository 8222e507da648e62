package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/groupname"
	"github.com/mcpotel/mcpotel/internal/mailbox"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/within"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// request is a request of a host that one or more members answer.
type request struct {
	h    *hostGroup
	info *mcpserver.RequestInfo
	ask  asking
	life context.Context // context of the handler; ends after the notifications have been sent
	ctx  context.Context // context of the call; ends with the answer or the policy's timeout; set before a member is asked
	from mcp.Version     // revision of the answering member; set before the answer is given
	tool *destination    // the called tool, as the policy has found it by name; nil without a policy
	news news            // notifications for the host that belong to the request
}

// news holds the notifications of a request that its host has not read yet. Hosts share members, and a host that does
// not read must not delay other hosts. So a separate goroutine of the request sends the notifications. The zero value
// is ready for use, and costs nothing before the first notification.
type news struct {
	box     mailbox.Box
	mu      sync.Mutex
	over    chan struct{} // guarded by mu; closed by finish; nil before the first notification
	ended   bool          // guarded by mu
	sending sync.WaitGroup
}

// maxNews bounds the waiting notifications of one request, in bytes.
const maxNews = 1 << 20

// tell queues a notification of n bytes for the host of the request. It drops the notification and returns false if the
// host does not read, or if the request has ended. send gets a context that lasts until the answer is sent, because the
// context of the call ends earlier.
func (r *request) tell(n int, send func(context.Context)) bool {
	r.news.mu.Lock()
	defer r.news.mu.Unlock()
	if r.news.ended {
		return false
	}
	if r.news.over == nil {
		over := make(chan struct{})
		r.news.sending.Add(1)
		if !r.h.background(func() { defer r.news.sending.Done(); r.news.box.Run(over) }) {
			r.news.sending.Done()
			return false
		}
		r.news.over = over
	}
	return r.news.box.Put(n, maxNews, func() { send(within.Values(r.life, r.ctx)) })
}

// finish waits until the host has read the notifications, or until the host's connection has ended. The answer is sent
// after that.
func (n *news) finish() {
	n.mu.Lock()
	n.ended = true
	if n.over != nil {
		close(n.over)
	}
	n.mu.Unlock()
	n.sending.Wait()
}

// destination is the tool or prompt of a member that a host has named in a request.
type destination struct {
	asked string // name in the gateway
	m     *member
	own   string // name at the member
}

// asking is a function that sends a request with these params to members, and returns the unchanged result.
type asking func(ctx context.Context, r *request, params json.RawMessage) (json.RawMessage, error)

// passedOn maps each method that members answer to the function that asks the members.
var passedOn = map[string]asking{
	mcp.MethodListTools: listing(tools), mcp.MethodCallTool: callTool,
	mcp.MethodListPrompts: listing(prompts), mcp.MethodGetPrompt: getPrompt,
	mcp.MethodListResources: listing(resources), mcp.MethodListResourceTemplates: listing(templates),
	mcp.MethodReadResource: readResource, mcp.MethodComplete: complete,
}

// answered is the outcome of a request.
type answered struct {
	result json.RawMessage
	err    error
}

// answer applies the policy and answers the request.
func (r *request) answer(ctx context.Context, params json.RawMessage) (any, error) {
	r.life = ctx
	r.h.g.tel.Relays(ctx)
	done := make(chan answered, 1)
	m := relay.Message{Method: r.info.Method, Params: params}
	r.h.g.guard.request(ctx, r, m, func(result json.RawMessage, err error) {
		done <- answered{result, err}
	})
	a := <-done
	r.news.finish()
	if e, ok := errors.AsType[*relay.Error](a.err); ok {
		a.err = e.Server
	}
	if _, late := errors.AsType[*timeoutError](a.err); late || errors.Is(a.err, errTooManyWait) {
		a.err = &mcp.Error{Code: mcp.CodeInternalError, Message: a.err.Error()} // the host may see the text
	}
	return r.shown(a.result, a.err)
}

// request passes the request to members. The policy has permitted it.
func (r *request) request(ctx context.Context, m relay.Message, answer relay.Answer) {
	r.ctx = ctx
	result, err := r.ask(ctx, r, m.Params)
	if e, ok := errors.AsType[*mcp.Error](err); ok {
		object, _ := json.Marshal(struct {
			Code    int64           `json:"code"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data,omitempty"`
		}{e.Code, e.Message, e.Data}) // no error: the values were decoded from JSON
		err = &relay.Error{Object: object, Server: e}
	}
	answer(result, err)
}

// namesOf returns all names of a tool: the host's name, the listed name, and the member's prefix with its own name. It
// stores the tool in r.
func (r *request) namesOf(ctx context.Context, tool string) ([]string, error) {
	t, err := r.named(ctx, tools, tool)
	if err != nil {
		return nil, err
	}
	r.tool = t
	return append(t.m.names(t.own), tool), nil
}

// names returns the listed name of a member's tool, and the name without shortening.
func (m *member) names(own string) []string {
	if m.h.g.o.NoPrefix {
		return []string{own}
	}
	return []string{m.h.g.naming.Name(m.prefix, own), m.prefix + own}
}

// hides returns true, because lists contain no forbidden tools, see member.list.
func (r *request) hides() bool { return true }

// begin starts a call that has waited for its turn.
func (r *request) begin(call func()) bool { return r.h.background(call) }

// shown returns the result for the host. The result stays unchanged if the host's revision is the member's or a newer
// one, except for a resource between different eras. Otherwise shown decodes the result, and the server encodes it for
// the host's revision.
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
		typed = new(mcp.ReadResourceResult) // adds the lifetime, which the host's revision requires
	case mcp.MethodComplete:
		typed = new(mcp.CompleteResult)
	default:
		return result, nil
	}
	if _, err := mcp.Decode(result, typed); err != nil {
		return nil, &mcp.Error{Code: mcp.CodeInternalError, Message: "the server's result is invalid: " + err.Error()}
	}
	return typed, nil
}

// needs asks the host for the input that a member requests. The member's state is sent back with the input.
func (r *request) needs(in *mcp.InputRequiredResult) error {
	state := ""
	if in.RequestState != nil {
		state = *in.RequestState
	}
	requests := make(mcp.InputRequests, len(in.InputRequests))
	for key, one := range in.InputRequests {
		if r.h.g.guard.text(r.ctx, r.info.Method, key) != key {
			return &mcp.Error{Code: mcp.CodeInternalError, Message: "the policy of the gateway redacts the name of an input " +
				"that the server requests; the answer needs this name"}
		}
		one.Params = r.h.g.seen(r.ctx, one.Method, one.Params)
		requests[key] = one
	}
	return r.info.RequireInput(requests, state)
}

// round returns the host's answers from earlier rounds of the request.
func (r *request) round() (in mcp.InputRound) {
	in.InputResponses = r.info.InputResponses()
	if state := r.info.RequestState(); state != "" {
		in.RequestState = &state
	}
	return in
}

// seen returns the params of a member's message without data that the policy redacts.
func (g *Gateway) seen(ctx context.Context, method string, params json.RawMessage) json.RawMessage {
	return g.guard.forHost(ctx, relay.Message{Method: method, Params: params}).Params
}

// at waits until the member is ready. Then it calls f with the member's client and the options for the call.
func (r *request) at(ctx context.Context, m *member, f func(*mcpclient.Client, ...mcpclient.CallOption) error) error {
	c, release, err := m.ready(ctx, max(m.h.g.o.Patience, startPatience))
	if err != nil {
		return err
	}
	defer release()
	m.enter(r)
	answered := false
	defer func() { m.leave(r, answered) }()
	r.from = c.ProtocolVersion()
	err = f(c, r.options(ctx)...)
	answered = isAnswer(err)
	return m.failure(c, err)
}

// isAnswer reports whether the member knows that the call has ended.
func isAnswer(err error) bool {
	e, ok := errors.AsType[*mcpclient.Error](err)
	_, asks := errors.AsType[*mcpclient.InputRequiredError](err)
	return err == nil || asks || ok && e.Server != nil || errors.Is(err, mcpclient.ErrConnectionLost)
}

// options returns the options that the host's request implies for the call to a member.
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

// level returns the least severe level of the log messages that the host wants. It is empty if the host has set none.
func (r *request) level() (level mcp.LoggingLevel) {
	if s := r.info.Session(); s != nil {
		return s.LogLevel()
	}
	_, _ = mcp.Object(r.info.Meta).Decode(mcp.MetaLogLevel, &level) // the server has validated it
	return level
}

// progress passes progress of a member to the host.
func (r *request) progress(ctx context.Context, p *mcp.ProgressParams) {
	total := 0.0
	if p.Total != nil {
		total = *p.Total
	}
	message := r.h.g.guard.text(ctx, mcp.NotificationProgress, p.Message)
	told := r.tell(len(message), func(ctx context.Context) {
		_ = r.info.Progress(ctx, p.Progress, total, message) // on failure, the connection of the host ends
	})
	if !told {
		r.h.g.tel.NotificationDropped(mcp.NotificationProgress, names.DropQueueFull)
	}
}

// passedMeta returns the part of _meta that is passed to the server: all keys except the keys of the protocol and of
// the trace, which belong to this connection.
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
		return nil // impossible: the values were decoded from JSON
	}
	return text
}

// startPatience is how long a call waits at least for a server that starts on demand, because the server may be
// installed first. It is the default of [mcpclient.Timeouts.Start].
const startPatience = time.Minute

// ready returns the client of the member for one use, until release. It waits until a connecting member is ready, or
// until the gateway's patience has passed. For a member on demand, ready starts the client if necessary, and waits until
// the given time after the start has passed. If the member is not connected, ready returns the reason.
func (m *member) ready(ctx context.Context, demanded time.Duration) (c *mcpclient.Client, release func(), _ error) {
	c, release, err := m.h.group().Use(m.name)
	if err != nil {
		return nil, nil, errGatewayStopped
	}
	if c.State() != connstate.Ready {
		if err := m.await(ctx, c, demanded); err != nil {
			release()
			return nil, nil, err
		}
	}
	if m.demand { // the client may have started for this use, so it may not have sent the host's level yet
		limited, cancel := context.WithTimeout(ctx, watchTimeout)
		defer cancel()
		m.sendLevel(limited)
	}
	return c, release, nil
}

// await waits until the client of the member is ready, as ready describes.
func (m *member) await(ctx context.Context, c *mcpclient.Client, demanded time.Duration) error {
	m.h.mu.Lock()
	until := m.h.begun.Add(m.h.g.o.Patience)
	m.h.mu.Unlock()
	switch {
	case m.demand:
		until = m.started().Add(demanded)
	case m.h.g.o.NoPrefix: // the host has no other member
		until = time.Now().Add(m.h.g.o.Patience)
	}
	waiting, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if c.WaitForReady(waiting) == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return m.away(c)
}

// started returns the time at which the group started the client of a member on demand.
func (m *member) started() time.Time {
	for _, i := range m.h.group().Inspect() {
		if i.Name == m.name {
			return i.Since
		}
	}
	return time.Time{}
}

// away returns the error for a disconnected member. It omits the member's own error, which may contain hosts and paths.
func (m *member) away(c *mcpclient.Client) error {
	s := c.Status()
	data, _ := json.Marshal(map[string]any{"server": m.name, "state": s.State, "reason": s.Reason})
	if m.demand && c.Err() != nil {
		return &mcp.Error{Code: mcp.CodeInternalError, Data: data, Message: fmt.Sprintf("the server %q could not be started; "+
			"the log of the gateway has the reason, and the next call starts the server again", m.name)}
	}
	return &mcp.Error{Code: mcp.CodeInternalError, Data: data, Message: fmt.Sprintf("the server %q is not connected: "+
		"its state is %v (%v) for %v; try again later", m.name, s.State, s.Reason, time.Since(s.Since).Round(time.Second))}
}

// failure returns the error of a member's call as the host sees it: the member's own error, or an error with the
// member's name.
func (m *member) failure(c *mcpclient.Client, err error) error {
	e, ok := errors.AsType[*mcpclient.Error](err)
	switch {
	case !ok || errors.Is(err, context.Canceled):
		return err
	case e.Server != nil:
		return e.Server
	case errors.Is(err, mcpclient.ErrNotReady):
		return m.away(c)
	}
	if _, ok := errors.AsType[*mcpclient.InputRequiredError](err); ok {
		return err
	}
	text := fmt.Sprintf("the server %q: %v", m.name, err)
	if g := m.h.g.guard; g != nil && g.secrets != nil { // at this point, the error is no answer of the server
		text, _ = g.secrets.redactErrorText(text)
	}
	return &mcp.Error{Code: mcp.CodeInternalError, Message: text}
}

// named returns the tool or prompt that has this name in the gateway.
func (r *request) named(ctx context.Context, k *kind, name string) (*destination, error) {
	if r.h.g.o.NoPrefix {
		return &destination{name, r.h.present()[0], name}, nil
	}
	prefix, rest, ok := r.h.g.naming.Split(name)
	for _, m := range r.h.present() {
		if !ok || m.prefix != prefix {
			continue
		}
		if groupname.LooksLikeAlias(rest) {
			rest = m.original(ctx, k, name, rest)
		}
		return &destination{name, m, rest}, nil
	}
	return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: fmt.Sprintf(
		"unknown %s %q: the names of %ss begin with %s", k.one, shown(name), k.one, strings.Join(r.h.g.prefixes, ", "))}
}

func callTool(ctx context.Context, r *request, params json.RawMessage) (result json.RawMessage, err error) {
	var p mcp.CallToolParams
	if err := decodeParams(params, &p); err != nil {
		return nil, err
	}
	t := r.tool
	if t == nil {
		if t, err = r.named(ctx, tools, p.Name); err != nil {
			return nil, err
		}
	}
	err = r.at(ctx, t.m, func(c *mcpclient.Client, o ...mcpclient.CallOption) (err error) {
		own := &mcp.CallToolParams{Name: t.own, Arguments: p.Arguments, InputRound: r.round()}
		result, err = c.CallToolRaw(ctx, own, o...)
		return err
	})
	return result, err
}

func getPrompt(ctx context.Context, r *request, params json.RawMessage) (result json.RawMessage, err error) {
	var p mcp.GetPromptParams
	if err := decodeParams(params, &p); err != nil {
		return nil, err
	}
	t, err := r.named(ctx, prompts, p.Name)
	if err != nil {
		return nil, err
	}
	err = r.at(ctx, t.m, func(c *mcpclient.Client, o ...mcpclient.CallOption) error {
		own := &mcp.GetPromptParams{Name: t.own, Arguments: p.Arguments, InputRound: r.round()}
		return c.Call(ctx, mcp.MethodGetPrompt, own, &result, o...)
	})
	return result, err
}

// complete asks the member that owns the prompt or the resource template.
func complete(ctx context.Context, r *request, params json.RawMessage) (result json.RawMessage, err error) {
	var p mcp.CompleteParams
	if err := decodeParams(params, &p); err != nil {
		return nil, err
	}
	m := r.h.present()[0]
	switch {
	case p.Ref.Type == mcp.RefPrompt:
		t, err := r.named(ctx, prompts, p.Ref.Name)
		if err != nil {
			return nil, err
		}
		m, p.Ref.Name = t.m, t.own
	case !r.h.g.o.NoPrefix:
		if m = r.owner(ctx, p.Ref.URI); m == nil {
			return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: fmt.Sprintf(
				"no server lists the resource template %q", shown(p.Ref.URI))}
		}
	}
	err = r.at(ctx, m, func(c *mcpclient.Client, o ...mcpclient.CallOption) error {
		if c.ServerCapabilities().Completions == nil && c.ProtocolVersion() > mcp.Version20241105 {
			result = json.RawMessage(`{"completion":{"values":[]}}`)
			return nil
		}
		own := &mcp.CompleteParams{Ref: p.Ref, Argument: p.Argument, Context: p.Context}
		return c.Call(ctx, mcp.MethodComplete, own, &result, o...)
	})
	return result, err
}

// owner returns the member that lists a template or a resource, or nil. If the owner is unknown, owner lists the
// templates first.
func (r *request) owner(ctx context.Context, uri string) *member {
	candidates, listed := r.h.owners.of(uri, r.h.present())
	if !listed {
		_, _ = listing(templates)(ctx, r, nil) // best effort: errors of members are ignored
		candidates, listed = r.h.owners.of(uri, r.h.present())
	}
	if !listed {
		return nil
	}
	return candidates[0]
}

// decodeParams decodes the params of a request. Its error is for the host.
func decodeParams(params json.RawMessage, into any) error {
	if params == nil {
		params = json.RawMessage("{}")
	}
	if _, err := mcp.Decode(params, into); err != nil {
		return &mcp.Error{Code: mcp.CodeInvalidParams, Message: "params: " + err.Error()}
	}
	return nil
}
