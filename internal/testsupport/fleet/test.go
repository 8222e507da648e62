package fleet

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Pair is a connected pair of a client and a server of the fleet.
type Pair struct {
	Call    Call
	Spans   *Spans
	Version string

	// Network is the attribute network.transport of the spans on both ends; empty for none.
	Network string

	// HTTPSpans means that each HTTP request has its own span, and the server's span has a link to it.
	HTTPSpans bool

	// PlainClient and PlainServer mean that the client or the server has no telemetry.
	PlainClient, PlainServer bool

	// Unheard means that the server is not notified of the cancellation of a call, as in legacy HTTP.
	Unheard bool

	// OneSpan means that the client has one span for all rounds of a call, as the official SDK does.
	OneSpan bool

	// NoAsking means that one end does not record the server's requests to the client.
	NoAsking bool
}

// Test makes calls with every outcome and checks the trace of each call against the schema of the telemetry: one trace,
// the correct parents and links, kinds, names, attributes and statuses, and no orphans.
func Test(t *testing.T, p *Pair) {
	p.outcomes(t)
	p.asking(t)
	p.leave(t)
	p.many(t)
	if orphans := p.Spans.Orphans(); len(orphans) > 0 {
		t.Errorf("spans without their parents: %v", orphans)
	}
}

// called is the result of one call, with its spans.
type called struct {
	trace  string
	caller Span
	spans  []Span
	text   string
	isErr  bool
	err    error
}

// call makes a call under a span of the test, and waits for the expected spans.
func (p *Pair) call(ctx context.Context, t *testing.T, tool string, arguments map[string]any, servers int) called {
	t.Helper()
	c := p.make(ctx, tool, arguments)
	p.settle(t, &c, tool, servers)
	return c
}

func (p *Pair) make(ctx context.Context, tool string, arguments map[string]any) called {
	ctx, span := p.Spans.Tracer().Start(ctx, "caller")
	defer span.End()
	text, isErr, err := p.Call(ctx, tool, arguments)
	return called{trace: span.SpanContext().TraceID().String(), text: text, isErr: isErr, err: err}
}

// settle waits for the expected spans of a call.
func (p *Pair) settle(t *testing.T, c *called, tool string, servers int) {
	t.Helper()
	clients := 1
	if p.PlainClient {
		clients, servers = 0, 0 // without a client span, the server's spans cannot be assigned to a call
	}
	if p.PlainServer {
		servers = 0
	}
	name := "tools/call " + tool
	c.spans = p.Spans.Await(t, c.trace, fmt.Sprintf("%d CLIENT and %d SERVER spans %q", clients, servers, name),
		func(spans []Span) bool {
			return len(Named(spans, "INTERNAL", "caller")) == 1 && len(Named(spans, "CLIENT", name)) >= clients &&
				len(Named(spans, "SERVER", name)) >= servers
		})
	c.caller = Named(c.spans, "INTERNAL", "caller")[0]
}

// outcomes tests the outcomes of a call.
func (p *Pair) outcomes(t *testing.T) {
	for _, tt := range []struct {
		tool           string
		client, server map[string]string
		status         [2]string // expected status of the client's and the server's span
		isErr          bool
		code           bool
	}{
		{"echo", nil, nil, [2]string{"UNSET", "UNSET"}, false, false},
		{"fail", map[string]string{"error.type": "tool_error"}, map[string]string{"error.type": "tool_error"},
			[2]string{"ERROR", "ERROR"}, true, false},
		{"missing", map[string]string{"error.type": "-32602", "rpc.response.status_code": "-32602"},
			map[string]string{"rpc.response.status_code": "-32602", "error.type": ""}, [2]string{"ERROR", "UNSET"}, false, true},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			c := p.call(t.Context(), t, tt.tool, map[string]any{"text": "hello"}, serversOf(tt.tool))
			if (c.err != nil) != tt.code || c.isErr != tt.isErr || tt.tool == "echo" && c.text != "hello" {
				t.Fatalf("the call itself: got %q, %v, %v", c.text, c.isErr, c.err)
			}
			name := "tools/call " + tt.tool
			client := p.client(t, c, name, tt.status[0], tt.client)
			server := name
			if tt.tool == "missing" {
				server = "tools/call _OTHER"
			}
			p.server(t, c, client, server, tt.tool, tt.status[1], tt.server)
		})
	}
}

// serversOf returns the number of SERVER spans with the name of a tool. The server's span of an unknown tool has the
// name _OTHER.
func serversOf(tool string) int {
	if slices.Contains(Tools, tool) {
		return 1
	}
	return 0
}

// client checks the one CLIENT span of a call and returns it.
func (p *Pair) client(t *testing.T, c called, name, status string, attributes map[string]string) Span {
	t.Helper()
	if p.PlainClient {
		return Span{}
	}
	found := Named(c.spans, "CLIENT", name)
	if len(found) != 1 {
		t.Fatalf("want one CLIENT span %q, got %v", name, c.spans)
	}
	s := found[0]
	if s.ParentID != c.caller.ID {
		t.Errorf("want the caller's span %s as the parent of the CLIENT span, got %s", c.caller.ID, s.ParentID)
	}
	if s.Start.Before(c.caller.Start) || s.End.After(c.caller.End) {
		t.Errorf("want the CLIENT span within the call, %v to %v, got %v to %v", c.caller.Start, c.caller.End, s.Start, s.End)
	}
	p.check(t, s, status, attributes, map[string]string{
		"mcp.method.name": "tools/call", "gen_ai.tool.name": strings.TrimPrefix(name, "tools/call "),
		"gen_ai.operation.name": "execute_tool",
		"mcp_client.name":       ClientName, "mcp.protocol.version": p.Version, "network.transport": p.Network,
	})
	if s.Attributes["mcp_client.corr_id"] == "" || s.Attributes["mcp_client.instance.id"] == "" {
		t.Errorf("want a correlation id and the client's instance on %v", s)
	}
	return s
}

// server checks the one SERVER span of a call.
func (p *Pair) server(t *testing.T, c called, client Span, name, tool, status string, attributes map[string]string) {
	t.Helper()
	if p.PlainServer || p.PlainClient {
		return
	}
	spans := p.Spans.Await(t, c.trace, fmt.Sprintf("one SERVER span %q", name), func(spans []Span) bool {
		return len(Named(spans, "SERVER", name)) == 1
	})
	s := Named(spans, "SERVER", name)[0]
	if s.ParentID != client.ID {
		t.Errorf("want the CLIENT span %s as the parent of the SERVER span, got %s", client.ID, s.ParentID)
	}
	switch {
	case p.HTTPSpans && len(s.Links) == 1:
		p.carried(t, s)
	case p.HTTPSpans, len(s.Links) != 0:
		t.Errorf("want a link from the SERVER span to the span of its HTTP request (%v), got %v", p.HTTPSpans,
			s.Links)
	}
	p.check(t, s, status, attributes, map[string]string{
		"mcp.method.name": "tools/call", "gen_ai.tool.name": tool, "gen_ai.operation.name": "execute_tool",
		"mcp_server.name": ServerName, "mcp.protocol.version": p.Version, "network.transport": p.Network,
	})
	if s.Attributes["mcp_server.instance.id"] == "" {
		t.Errorf("want the server's instance on %v", s)
	}
}

// carried checks that a SERVER span has a link to the HTTP request that carried the message, and to no other request.
func (p *Pair) carried(t *testing.T, s Span) {
	t.Helper()
	var http []Span
	Until(t, "the span of the HTTP request to end", func() bool {
		http = slices.DeleteFunc(p.Spans.All(), func(h Span) bool { return h.ID != s.Links[0] })
		return len(http) == 1
	}, func() string { return fmt.Sprint(s) })
	if h := http[0]; h.Name != "HTTP" || h.Start.After(s.Start) || h.End.Before(s.Start) {
		t.Errorf("want a link to the HTTP request with the message of %v, got a link to %v", s, h)
	}
}

func (p *Pair) check(t *testing.T, s Span, status string, special, common map[string]string) {
	t.Helper()
	if s.Status != status {
		t.Errorf("want status %s on the %s span %q, got %s", status, s.Kind, s.Name, s.Status)
	}
	for _, wants := range []map[string]string{common, special} {
		for key, want := range wants {
			if got := s.Attributes[key]; got != want {
				t.Errorf("want %s=%q on the %s span %q, got %q", key, want, s.Kind, s.Name, got)
			}
		}
	}
}

// asking tests a call in which the server asks the client a question, with a request or in the answer to the call.
func (p *Pair) asking(t *testing.T) {
	t.Run("ask", func(t *testing.T) {
		modern := p.Version >= "2026-07-28"
		rounds := 1
		if modern {
			rounds = 2
		}
		c := p.call(t.Context(), t, "ask", nil, rounds)
		if c.err != nil || c.isErr || c.text != "Hello, "+User {
			t.Fatalf("the call itself: got %q, %v, %v", c.text, c.isErr, c.err)
		}
		if p.PlainClient || p.PlainServer {
			return
		}
		clients := Named(c.spans, "CLIENT", "tools/call ask")
		if want := rounds; len(clients) != want && !(p.OneSpan && len(clients) == 1) {
			t.Fatalf("want %d CLIENT spans, got %v", want, c.spans)
		}
		for _, s := range Named(c.spans, "SERVER", "tools/call ask") {
			if !slices.ContainsFunc(clients, func(c Span) bool { return c.ID == s.ParentID }) {
				t.Errorf("want a CLIENT span as the parent of each round's SERVER span, got %v", s)
			}
		}
		if modern {
			p.rounds(t, clients)
			return
		}
		if p.NoAsking {
			return
		}
		spans := p.Spans.Await(t, c.trace, "the spans of the question", func(spans []Span) bool {
			return len(Named(spans, "CLIENT", "elicitation/create")) == 1 &&
				len(Named(spans, "SERVER", "elicitation/create")) == 1
		})
		asks, answers := Named(spans, "CLIENT", "elicitation/create")[0], Named(spans, "SERVER", "elicitation/create")[0]
		if handler := Named(spans, "SERVER", "tools/call ask")[0]; asks.ParentID != handler.ID {
			t.Errorf("want the handler's span %s as the parent of the question, got %s", handler.ID, asks.ParentID)
		}
		if answers.ParentID != asks.ID {
			t.Errorf("want the question %s as the parent of its answer, got %s", asks.ID, answers.ParentID)
		}
		if asks.Attributes["mcp_server.name"] != ServerName || answers.Attributes["mcp_client.name"] != ClientName {
			t.Errorf("want the names of the client and the server on %v and %v", asks, answers)
		}
	})
}

// rounds checks the CLIENT spans of one call, in order.
func (p *Pair) rounds(t *testing.T, clients []Span) {
	if p.OneSpan {
		return
	}
	first, second := clients[0], clients[1]
	if first.Start.After(second.Start) {
		first, second = second, first
	}
	if !slices.Equal(second.Links, []string{first.ID}) || second.Attributes["mcp_client.mrtr.round"] != "1" ||
		first.Attributes["mcp_client.result.type"] != "input_required" ||
		first.Attributes["mcp_client.corr_id"] != second.Attributes["mcp_client.corr_id"] {
		t.Errorf("want the second round to continue the first, got %v and %v", first, second)
	}
}

// leave tests calls that the client cancels after their handler has started.
func (p *Pair) leave(t *testing.T) {
	for errorType, why := range map[string]error{"timeout": context.DeadlineExceeded, "cancelled": context.Canceled} {
		t.Run(errorType, func(t *testing.T) {
			url, handled := Handled(t)
			servers := 1
			if p.Unheard {
				servers = 0
			}
			c := p.call(&callerContext{t.Context(), handled, why}, t, "wait", map[string]any{"url": url}, servers)
			if c.err == nil {
				t.Fatalf("the call itself: got %q, want an error", c.text)
			}
			client := p.client(t, c, "tools/call wait", "ERROR", map[string]string{"error.type": errorType})
			if !p.Unheard {
				p.server(t, c, client, "tools/call wait", "wait", "ERROR", map[string]string{"error.type": "cancelled"})
			}
		})
	}
}

// many tests concurrent calls.
func (p *Pair) many(t *testing.T) {
	t.Run("many", func(t *testing.T) {
		const callers, each = 4, 25
		var all sync.WaitGroup
		calls := make([]called, callers*each)
		for i := range callers {
			all.Go(func() {
				for j := range each {
					n := i*each + j
					calls[n] = p.make(t.Context(), "echo", map[string]any{"text": strconv.Itoa(n)})
				}
			})
		}
		all.Wait()
		for n, c := range calls {
			if c.err != nil || c.text != strconv.Itoa(n) {
				t.Fatalf("call %d itself: got %q, %v", n, c.text, c.err)
			}
			p.settle(t, &c, "echo", 1)
			client := p.client(t, c, "tools/call echo", "UNSET", nil)
			p.server(t, c, client, "tools/call echo", "echo", "UNSET", nil)
			if t.Failed() {
				return // the other calls would report the same
			}
		}
	})
}
