package stack_test

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/testenv/stack/shop"
)

// A calling is a kind of call, with its expected trace.
type calling struct {
	name      string
	times     int
	tool      string
	arguments map[string]any
	timeout   time.Duration // zero: the client's own timeout
	cancel    time.Duration // time after which the caller cancels; zero: never
	outcome   string        // expected outcome for the caller: ok, tool_error, or error.type
	below     func(p *pair) []node
}

// client makes calls: this module's client, or another with an adapter.
type client interface {
	// call makes one call and returns its outcome, in the words of calling.outcome.
	call(ctx context.Context, c *calling) (outcome string, err error)

	// close ends the connection. When it returns, nothing more is recorded.
	close(ctx context.Context) error
}

// callings returns the calls to a shop, at least fifty in all.
func callings(p *pair) []calling {
	return []calling{
		{name: "ok", times: 14, tool: "add", arguments: map[string]any{"a": 1, "b": 2}, outcome: "ok",
			below: answered("add", node{
				kind: "INTERNAL", name: shop.InnerSpan, service: p.serverName(),
			})},
		{name: "tool error", times: 6, tool: "fail", outcome: "tool_error", below: failedBoth("fail", "tool_error", nil)},
		{name: "RPC error", times: 6, tool: "refuse", outcome: "-31050",
			below: failedBoth("refuse", "-31050", map[string]any{"rpc.response.status_code": "-31050"})},
		{name: "panic", times: 3, tool: "panic", outcome: "-32603",
			below: failedBoth("panic", "-32603", map[string]any{"rpc.response.status_code": "-32603"})},
		{name: "unknown tool", times: 3, tool: "nosuch", outcome: "-32602", below: unknown("nosuch")},
		{name: "resumed stream", times: 3, tool: "hang_up", outcome: "ok", below: answered("hang_up")},
		{name: "task", times: 3, tool: "brew", arguments: map[string]any{"seconds": 0.1}, outcome: "ok", below: brewed},
		{name: "progress", times: 4, tool: "progress", arguments: map[string]any{"times": 3}, outcome: "ok",
			below: answered("progress")},
		{name: "large", times: 2, tool: "big", arguments: map[string]any{"bytes": 300_000}, outcome: "ok",
			below: answered("big")},
		{name: "timeout", times: 5, tool: "wait", arguments: map[string]any{"seconds": 30}, timeout: 150 * time.Millisecond,
			outcome: "timeout", below: left("timeout")},
		{name: "cancellation", times: 4, tool: "wait", arguments: map[string]any{"seconds": 30},
			cancel:  150 * time.Millisecond,
			outcome: "cancelled", below: left("cancelled")},
		{name: "one question", times: 2, tool: "order", arguments: map[string]any{"times": 1}, outcome: "ok",
			below: asked(1)},
		{name: "three questions", times: 2, tool: "order", arguments: map[string]any{"times": 3}, outcome: "ok",
			below: asked(3)},
	}
}

// toolCall returns the attributes of every tool call, on both sides.
func toolCall(tool string) map[string]any {
	return map[string]any{"mcp.method.name": "tools/call", "gen_ai.tool.name": tool,
		"gen_ai.operation.name": "execute_tool"}
}

func with(attributes map[string]any, more map[string]any) map[string]any {
	all := map[string]any{}
	for _, m := range []map[string]any{attributes, more} {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

// request returns the span of a tool call on the client's side. served returns the span on the server's side.
func (p *pair) request(tool, errorType string, more map[string]any, below ...node) node {
	return node{kind: "CLIENT", name: "tools/call " + tool, service: p.clientName(), errorType: errorType, below: below,
		attributes: with(with(toolCall(tool), p.clientAttributes), more)}
}

func (p *pair) served(tool, errorType string, more map[string]any, below ...node) node {
	return node{kind: "SERVER", name: "tools/call " + tool, service: p.serverName(), errorType: errorType, below: below,
		attributes: with(with(toolCall(tool), p.serverAttributes), more)}
}

// answered returns the trace of a successful call; below are the spans of the handler.
func answered(tool string, below ...node) func(*pair) []node {
	return func(p *pair) []node {
		return []node{p.request(tool, "", map[string]any{"rpc.response.status_code": nil, "mcp_client.send.retries": nil},
			p.served(tool, "", map[string]any{"rpc.response.status_code": nil}, below...))}
	}
}

// failedBoth returns the trace of a call with an error on both sides.
func failedBoth(tool, errorType string, more map[string]any) func(*pair) []node {
	return func(p *pair) []node {
		return []node{p.request(tool, errorType, more, p.served(tool, errorType, more))}
	}
}

// unknown returns the trace of a call of an unknown tool. The call is an error for the client, but not for the server,
// which answers with a code. The names of spans are bounded, so the tool's name is only an attribute.
func unknown(tool string) func(*pair) []node {
	return func(p *pair) []node {
		code := map[string]any{"rpc.response.status_code": "-32602"}
		served := p.served("_OTHER", "", with(code, map[string]any{"gen_ai.tool.name": tool}))
		return []node{p.request(tool, "-32602", code, served)}
	}
}

// brewed returns the trace of a call that a modern server turns into a task, which the client polls. A legacy server
// answers it directly.
func brewed(p *pair) []node {
	if !p.modern {
		return answered("brew")(p)
	}
	created := p.request("brew", "", map[string]any{"mcp_client.result.type": "task"},
		p.served("brew", "", map[string]any{"mcp_server.result.type": "task"}, node{
			kind: "INTERNAL", name: "mcp_server.task brew", service: p.serverName(),
			attributes: map[string]any{"mcp_server.task.status": "completed"},
		}))
	created.label = "the request that made the task"
	return []node{created, {
		kind: "CLIENT", name: "tasks/get", service: p.clientName(), many: true, link: created.label,
		below: []node{{kind: "SERVER", name: "tasks/get", service: p.serverName()}},
	}}
}

// left returns the trace of a call that its caller has abandoned. The server is informed by a notification or by the
// end of the HTTP request.
func left(errorType string) func(*pair) []node {
	return func(p *pair) []node {
		below := []node{p.served("wait", "cancelled", nil)}
		if !p.closesToCancel && !p.hidden {
			below = append(below, node{kind: "CLIENT", name: "notifications/cancelled", service: p.clientName()})
		}
		return []node{p.request("wait", errorType, nil, below...)}
	}
}

// asked returns the trace of a call that the server answers after this number of questions. A modern server asks in as
// many rounds, which links connect. A legacy server sends requests to the client, below its own span.
func asked(questions int) func(*pair) []node {
	return func(p *pair) []node {
		if !p.modern {
			handler := p.served("order", "", nil)
			for range questions {
				handler.below = append(handler.below, node{
					kind: "CLIENT", name: "elicitation/create", service: p.serverName(),
					below: []node{{kind: "SERVER", name: "elicitation/create", service: p.clientName()}},
				})
			}
			return []node{p.request("order", "", nil, handler)}
		}
		var rounds []node
		for round := range questions + 1 {
			result, mrtr := any("input_required"), any(nil)
			if round == questions {
				result = nil
			}
			if round > 0 {
				mrtr = int64(round)
			}
			n := p.request("order", "", map[string]any{"mcp_client.result.type": result, "mcp_client.mrtr.round": mrtr},
				p.served("order", "", map[string]any{"mcp_server.result.type": result}))
			n.label = "round " + string(rune('0'+round))
			if round > 0 {
				n.link = "round " + string(rune('0'+round-1))
			}
			if round > 0 {
				rounds = append(rounds, node{kind: "SERVER", name: "elicitation/create", service: p.clientName()})
			}
			rounds = append(rounds, n)
		}
		return rounds
	}
}

// connecting returns the trace of this module's client when it connects.
func connecting(p *pair) []node {
	method, notified := "server/discover", []node(nil)
	if !p.modern {
		method = "initialize"
		notified = []node{{kind: "CLIENT", name: "notifications/initialized", service: p.clientName(), below: []node{
			{kind: "SERVER", name: "notifications/initialized", service: p.serverName()},
		}}}
	}
	return []node{{
		kind: "INTERNAL", name: "mcp_client.connect", service: p.clientName(),
		attributes: map[string]any{"mcp_client.connection.attempt.number": int64(1),
			"mcp_client.connection.attempt.kind": "initial"},
		below: append([]node{{kind: "CLIENT", name: method, service: p.clientName(), below: []node{
			{kind: "SERVER", name: method, service: p.serverName()},
		}}}, notified...),
	}}
}
