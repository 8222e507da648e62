package schema_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/schema"
)

// counterparts lists rows of a server with other names than the client's: one side sends a message, the other handles
// it.
var counterparts = map[string]string{
	"mcp_client.active_requests":   "mcp_server.active_asks",
	"mcp_client.active_handlers":   "mcp_server.active_requests",
	"mcp_client.handler.start":     "mcp_server.request.start",
	"mcp_client.handler.stop":      "mcp_server.request.stop",
	"mcp_client.handler.exception": "mcp_server.request.exception",
	"mcp_client.connection.state":  "mcp_server.session.active",
	"mcp_client.server.info":       "mcp_server.client.requests",
	"mcp_server.client.requests":   "mcp_client.server.info",
}

// oneSided has the reasons why one side has rows that the other lacks; a star matches any end.
var oneSided = []struct{ rows, why string }{
	{"mcp_client.connection.*", "clients connect to a server: it has sessions, and no states or attempts"},
	{"mcp_client.process.*", "a server is no child's parent"},
	{"mcp_client.fault.*", "it is the client's connection that a plan of faults breaks"},
	{"mcp_client.tombstone*",
		"a server keeps the last 256 questions that it gave up for each client, which is no matter of counting"},
	{"mcp_client.transport.send.retries", "a server waits for room instead of trying again"},
	{"mcp_client.send.retry", "likewise"},
	{"mcp_client.request.reissued", "a server asks once"},
	{"mcp_client.cache.lookups", "a server keeps no results"},
	{"mcp_client.change.gap", "a server is the source of changes"},
	{"mcp_client.subscription.lost", "a server is what subscriptions are lost with"},
	{"mcp_client.stream.refused", "a server opens none"},
	{"mcp_client.message.refused", "what a server sends is accepted by being read"},
	{"mcp_client.tool.list.*", "what tools take of a model's context is for those to see who give them to a model"},
	{"mcp_client.tool.definition.*", "likewise"},
	{"mcp_client.tool.result.size", "likewise"},
	{"mcp_client.tool.loop*", "it is an agent that goes round in a loop, and may ask several servers on the way"},
	{"mcp_client.tool.*", "a server checks its tools when they are added, and returns the error"},
	{"mcp_client.icon.rejected",
		"a client has icons for its implementation only, of which a server makes no more than it says"},
	{"mcp_server.task*", "a client sees a task as the requests that ask for it"},
	{"mcp_server.policy.*", "a proxy has one policy, which its end towards the host tells of"},
	{"mcp_server.http.*", "a client has no http.ResponseWriter"},
	{"mcp_server.trace.linked", "a client goes on with the trace of its caller"},
	{"mcp_server.request.refused", "a client answers each request of its server, and turns none away unseen"},
	{"mcp_server.capacity.*", "a client is bounded by what its program asks of it"},
	{"mcp_server.memory.*", "likewise"},
	{"mcp_server.ask.*", "what a server asks is what a client calls a request"},
	{"mcp_server.active_asks", "likewise"},
	{"mcp_server.session.active", "of a client, the state of its connection says it"},
}

// rowNames are the names of our own metrics and events.
func rowNames() (names []string) {
	for _, m := range schema.Current.Metrics {
		names = append(names, m.Name)
	}
	for _, e := range schema.Current.Events {
		names = append(names, e.Name)
	}
	return slices.DeleteFunc(names, isOfConventions)
}

// isOfConventions reports whether a metric is one of OpenTelemetry's.
func isOfConventions(name string) bool {
	return strings.HasPrefix(name, "mcp.") || strings.HasPrefix(name, "gen_ai.")
}

// mirrored returns the other side's row with the same meaning.
func mirrored(name string) string {
	if other := counterparts[name]; other != "" {
		return other
	}
	if rest, ok := strings.CutPrefix(name, "mcp_client."); ok {
		return "mcp_server." + rest
	}
	return "mcp_client." + strings.TrimPrefix(name, "mcp_server.")
}

func matches(rows, name string) bool {
	if begin, ok := strings.CutSuffix(rows, "*"); ok {
		return strings.HasPrefix(name, begin)
	}
	return name == rows
}

func TestEveryRowHasCounterpartOrReason(t *testing.T) {
	names := rowNames()
	used := map[string]bool{}
	for _, name := range names {
		alone := slices.IndexFunc(oneSided, func(o struct{ rows, why string }) bool { return matches(o.rows, name) })
		switch has := slices.Contains(names, mirrored(name)); {
		case alone >= 0:
			used[oneSided[alone].rows] = true
		case !has:
			t.Errorf("%s has a counterpart %s, or a reason not to, got neither", name, mirrored(name))
		}
	}
	for _, o := range oneSided {
		if !used[o.rows] {
			t.Errorf("a reason is for a row, got %s for none", o.rows)
		}
	}
	for client, server := range counterparts {
		if !slices.Contains(names, client) || !slices.Contains(names, server) {
			t.Errorf("counterparts are rows, got %s and %s", client, server)
		}
	}
}

func writeSides(b *strings.Builder) {
	b.WriteString(`
## What is on one side only

A client and a server tell the same things under their own prefixes, requests and handlers crossed over: what one sends, the
other handles. There is no counterpart of these:

`)
	for _, o := range oneSided {
		fmt.Fprintf(b, "- %s: %s.\n", code(o.rows), o.why)
	}
}
