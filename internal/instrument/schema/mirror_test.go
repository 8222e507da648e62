package schema_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
)

// counterparts maps rows of a client to the rows of a server with another name, where one side sends a message and the
// other side handles it.
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

// oneSided lists the reasons why one side has rows that the other side lacks. A star matches any ending.
var oneSided = []struct{ rows, why string }{
	{"mcp_client.connection.*", "only clients connect; a server has sessions, without states or attempts"},
	{"mcp_client.process.*", "servers do not start processes"},
	{"mcp_client.fault.*", "fault plans apply only to the client's connection"},
	{"mcp_client.tombstone*",
		"a server keeps its last 256 abandoned requests for each client, and does not count them"},
	{"mcp_client.transport.send.retries", "a server waits for room instead of trying again"},
	{"mcp_client.send.retry", "likewise"},
	{"mcp_client.request.reissued", "a server sends a request only once"},
	{"mcp_client.cache.lookups", "a server keeps no results"},
	{"mcp_client.list_cache.failed", "likewise"},
	{"mcp_client.change.gap", "the server is the source of changes"},
	{"mcp_client.subscription.lost", "only clients hold subscriptions"},
	{"mcp_client.stream.refused", "servers do not open streams"},
	{"mcp_client.message.refused", "a client accepts each message of a server when it reads the message"},
	{"mcp_client.tool.list.*", "only clients pass tools to a model"},
	{"mcp_client.tool.definition.*", "likewise"},
	{"mcp_client.tool.result.size", "likewise"},
	{"mcp_client.tool.loop*", "an agent loops on the client's side, possibly over several servers"},
	{"mcp_client.tool.*", "a server checks its tools when they are added, and returns the error"},
	{"mcp_client.icon.rejected",
		"a client has icons only for its implementation, and servers do not check them"},
	{"mcp_server.task*", "a client sees only the requests about a task"},
	{"mcp_server.policy.*", "a proxy has one policy, and reports its decisions at the server side"},
	{"mcp_server.http.*", "a client has no http.ResponseWriter"},
	{"mcp_server.trace.linked", "a client continues the trace of its caller"},
	{"mcp_server.request.refused", "a client answers every request of its server"},
	{"mcp_server.capacity.*", "only its own program uses a client's capacity"},
	{"mcp_server.memory.*", "likewise"},
	{"mcp_server.ask.*", "requests of a server are mcp_client.handler.* at the client"},
	{"mcp_server.active_asks", "likewise"},
	{"mcp_server.session.active", "a client has the state of its connection instead"},
}

// rowNames returns the names of our own metrics and events.
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
	return strings.HasPrefix(name, "mcp.") || strings.HasPrefix(name, "gen_ai.") || strings.HasPrefix(name, "process.")
}

// mirrored returns the row with the same meaning on the other side.
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

func TestEveryRowHasCounterpartOnOtherSideOrReason(t *testing.T) {
	names := rowNames()
	used := map[string]bool{}
	for _, name := range names {
		alone := slices.IndexFunc(oneSided, func(o struct{ rows, why string }) bool { return matches(o.rows, name) })
		switch has := slices.Contains(names, mirrored(name)); {
		case alone >= 0:
			used[oneSided[alone].rows] = true
		case !has:
			t.Errorf("%s has neither the counterpart %s nor a reason for its absence", name, mirrored(name))
		}
	}
	for _, o := range oneSided {
		if !used[o.rows] {
			t.Errorf("the reason for %s belongs to no row", o.rows)
		}
	}
	for client, server := range counterparts {
		if !slices.Contains(names, client) || !slices.Contains(names, server) {
			t.Errorf("the counterparts %s and %s are not both rows", client, server)
		}
	}
}

func writeSides(b *strings.Builder) {
	b.WriteString(`
## Rows of one side only

A client and a server have the same rows with different prefixes. Requests of one side correspond to handlers of the other side.
These rows have no counterpart:

`)
	for _, o := range oneSided {
		fmt.Fprintf(b, "- %s: %s.\n", code(o.rows), o.why)
	}
}
