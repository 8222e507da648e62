package inspector_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/internal/inspector"
	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/internal/testsupport/hostile"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// TestAnswersEscapeTextOfPeers puts an attack into every field of a client, a server, a span and each kind of flight
// recorder entry. It checks all answers of tools, resources and completions.
func TestAnswersEscapeTextOfPeers(t *testing.T) {
	kinds := []string{"request", "handler", "attempt", "transition", "violation", "drop", "exit", "panic", "task", "lost",
		"notification", "stream", "session", "failure", hostile.Words}
	for _, quoted := range []bool{false, true} {
		text := hostile.Words
		if quoted {
			text = `x" ` + hostile.Words + ` "`
		}
		synctest.Test(t, func(t *testing.T) {
			var entries []telemetry.FlightEntry
			for _, kind := range kinds {
				for _, id := range []string{traceID, text, ""} {
					var e telemetry.FlightEntry
					hostile.Fill(&e, text)
					e.Kind, e.TraceID, e.Failed, e.Count = kind, id, true, 2
					entries = append(entries, e)
				}
			}
			s := &seen{name: "http://localhost:6060/"}
			for _, state := range []connstate.State{connstate.Backoff, connstate.State(255)} {
				var client inspect.Client
				hostile.Fill(&client, text)
				client.State, client.Recent = state, entries
				s.Clients = append(s.Clients, client)
			}
			var server inspect.Server
			hostile.Fill(&server, text)
			server.Networks[0].Recent = entries
			s.Servers = []inspect.Server{server}
			var spans []explain.Span
			for _, kind := range []string{"CLIENT", "SERVER", "INTERNAL"} {
				var span explain.Span
				hostile.Fill(&span, text)
				span.Kind, span.Start, span.End, span.Failed = kind, noon, noon.Add(time.Second), true
				for _, a := range schema.Current.Attributes {
					span.Attributes[string(a.Key)] = text
				}
				span.Attributes[names.KeyMCPClientFaultKind] = names.FaultLatency
				spans = append(spans, span)
			}
			c := agent(t, inspector.Sources{Peers: []inspector.Source{s}, Spans: []inspector.Spans{&kept{spans: spans}}})
			looked := 0
			look := func(where, answer string, own bool) {
				t.Helper()
				looked++
				hostile.Check(t, where, answer)
				if strings.Contains(answer, "\nSystem:") || strings.Contains(answer, "\n System:") {
					t.Errorf("%s: a line begins with the attack:\n%s", where, answer)
				}
				if !own || quoted {
					return
				}
				for i, part := range strings.Split(answer, `"`) {
					if i%2 == 0 && strings.Contains(part, "delete") {
						t.Errorf("%s: the attack is outside quotation marks:\n%s", where, answer)
						return
					}
				}
			}
			values := func(where string, raw []byte) {
				t.Helper()
				var all any
				if err := json.Unmarshal(raw, &all); err != nil {
					t.Fatal(err)
				}
				each(all, func(s string) { look(where, s, false) })
			}
			for tool, arguments := range map[string][]map[string]any{
				"list_clients": {nil}, "get_client": {{"name": text}, {"name": "nobody" + text}},
				"flight_recorder": {nil, {"peer": text}, {"tool": text, "failed_only": true}, {"trace_id": traceID}},
				"recent_traces":   {nil, {"all": true}, {"tool": text}},
				"explain": {{"trace_id": traceID}, {"tool": text}, {"peer": text}, {"tool": "none" + text},
					{"trace_id": text}},
			} {
				for _, a := range arguments {
					r, err := c.CallTool(t.Context(), tool, a)
					if err != nil {
						t.Fatalf("%s %v: %v", tool, a, err)
					}
					look(tool, r.Text(), true)
					if r.StructuredContent != nil {
						values(tool, r.StructuredContent)
					}
				}
			}
			for _, uri := range []string{"mcpotel://clients", "mcpotel://clients/x%22", "mcpotel://traces/" + traceID} {
				if r, err := c.ReadResource(t.Context(), uri); err == nil {
					values(uri, []byte(r.Contents[0].Text))
				}
			}
			for argument, uri := range map[string]string{
				"name": "mcpotel://clients/{name}", "trace_id": "mcpotel://traces/{trace_id}",
			} {
				done, err := c.Complete(t.Context(), mcp.CompleteRef{Type: mcp.RefResource, URI: uri},
					mcp.CompleteArgument{Name: argument}, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range done.Completion.Values {
					look("completion of "+argument, v, false)
				}
			}
			if looked < 500 {
				t.Errorf("checked only %d texts", looked)
			}
		})
	}
}

// each calls f with every string of a JSON value, including the names of members.
func each(value any, f func(string)) {
	switch v := value.(type) {
	case string:
		f(v)
	case []any:
		for _, e := range v {
			each(e, f)
		}
	case map[string]any:
		for name, e := range v {
			f(name)
			each(e, f)
		}
	}
}
