package schema_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// carrier is a row that uses attributes.
type carrier struct {
	kind, name string
	uses       []schema.Use
}

func carriers() (all []carrier) {
	for _, m := range schema.Current.Metrics {
		all = append(all, carrier{"metric", m.Name, m.Attrs})
	}
	for _, s := range schema.Current.Spans {
		all = append(all, carrier{"span", s.ID, slices.Concat(s.AtStart, s.AtEnd)})
	}
	for _, e := range schema.Current.Events {
		all = append(all, carrier{"event", e.Name, e.Fields})
	}
	return append(all, carrier{"baggage", "gen_ai.baggage", schema.Current.Baggage})
}

func attributeRow(key string) *schema.Attribute {
	i := slices.IndexFunc(schema.Current.Attributes, func(a schema.Attribute) bool { return a.Key == key })
	if i < 0 {
		return nil
	}
	return &schema.Current.Attributes[i]
}

func TestSchemaNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	once := func(kind, name string) {
		if seen[kind+name] {
			t.Errorf("%s %s is in the schema twice", kind, name)
		}
		seen[kind+name] = true
	}
	for _, a := range schema.Current.Attributes {
		once("attribute", a.Key)
	}
	for _, m := range schema.Current.Metrics {
		once("metric", m.Name)
	}
	for _, s := range schema.Current.Spans {
		once("span", s.ID)
	}
	for _, e := range schema.Current.Events {
		once("event", e.Name)
	}
	for _, c := range carriers() {
		for _, u := range c.uses {
			once("attribute of "+c.kind+" "+c.name+":", u.Key)
		}
	}
}

func TestRowsUseExactlyDeclaredAttributes(t *testing.T) {
	unused := map[string]bool{}
	for _, a := range schema.Current.Attributes {
		unused[a.Key] = a.Key != "event.name" // every event has it
	}
	for _, c := range carriers() {
		for _, u := range c.uses {
			if attributeRow(u.Key) == nil {
				t.Errorf("%s uses the undeclared attribute %s", c.name, u.Key)
			}
			unused[u.Key] = false
		}
	}
	for key, un := range unused {
		if un {
			t.Errorf("no row uses the attribute %s", key)
		}
	}
}

func TestMetricsHaveNoUnboundedAttributes(t *testing.T) {
	for _, m := range schema.Current.Metrics {
		for _, u := range m.Attrs {
			if a := attributeRow(u.Key); a.Bound == schema.Unbounded {
				t.Errorf("metric %s has the unbounded attribute %s", m.Name, u.Key)
			}
		}
		if (m.Instrument == schema.Histogram) != (len(m.Buckets) > 0) {
			t.Errorf("%s has the buckets %v, want buckets only for a histogram", m.Name, m.Buckets)
		}
		if !slices.IsSorted(m.Buckets) || len(slices.Compact(slices.Clone(m.Buckets))) != len(m.Buckets) {
			t.Errorf("the buckets of %s are not in ascending order: %v", m.Name, m.Buckets)
		}
	}
}

func TestExactlyClosedAttributesListValues(t *testing.T) {
	for _, a := range schema.Current.Attributes {
		if (a.Bound == schema.Closed) != (len(a.Enum) > 0) && a.Key != "mcp.method.name" {
			t.Errorf("%s is %v with the values %q, want values only for a closed attribute", a.Key, a.Bound, a.Enum)
		}
		if sorted := slices.Sorted(slices.Values(a.Enum)); len(slices.Compact(sorted)) != len(a.Enum) {
			t.Errorf("%s lists a value twice: %q", a.Key, a.Enum)
		}
		if slices.Contains(a.Enum, "") || slices.Contains(a.Enum, "_OTHER") {
			t.Errorf("%s lists an empty value or _OTHER: %q", a.Key, a.Enum)
		}
	}
}

func TestOwnNamesStartWithClientOrServerPrefix(t *testing.T) {
	for _, c := range carriers() {
		if isOfConventions(c.name) {
			continue // in these names, client and server mean sender and receiver
		}
		side, _, _ := strings.Cut(c.name, ".")
		if side != "mcp_client" && side != "mcp_server" {
			t.Errorf("our name %s does not start with mcp_client or mcp_server", c.name)
		}
		for _, u := range c.uses {
			if strings.HasPrefix(u.Key, "mcp_") && !strings.HasPrefix(u.Key, side+".") {
				t.Errorf("%s has the attribute %s of the other side", c.name, u.Key)
			}
		}
	}
}

func TestEventsReferToExistingMetricsAndSpans(t *testing.T) {
	for _, e := range schema.Current.Events {
		for _, m := range e.Metrics {
			if !slices.ContainsFunc(schema.Current.Metrics, func(row schema.Metric) bool { return row.Name == m }) {
				t.Errorf("%s refers to the unknown metric %q", e.Name, m)
			}
		}
		if e.Span != "" && !slices.ContainsFunc(schema.Current.Spans,
			func(row schema.Span) bool { return row.ID == e.Span }) {
			t.Errorf("%s refers to the unknown span %q", e.Name, e.Span)
		}
		if strings.HasPrefix(e.Measurement, "mcp_") &&
			!slices.ContainsFunc(e.Fields, func(u schema.Use) bool { return u.Key == e.Measurement }) {
			t.Errorf("the measurement of %s is not one of its fields: %q", e.Name, e.Measurement)
		}
	}
}

func TestCoreEventsAreListed(t *testing.T) {
	want := []string{
		"mcp_client.connection.transition", "mcp_client.notification.received", "mcp_client.protocol.violation",
		"mcp_client.request.exception", "mcp_client.request.start", "mcp_client.request.stop",
		"mcp_server.notification.received", "mcp_server.protocol.violation", "mcp_server.request.exception",
		"mcp_server.request.start", "mcp_server.request.stop",
	}
	var got []string
	for _, e := range schema.Current.Events {
		if e.Core {
			got = append(got, e.Name)
			if e.Stability != schema.Stable {
				t.Errorf("got stability %s for the core event %s, want stable", e.Stability, e.Name)
			}
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("core events: got %q, want %q", got, want)
	}
}

// If the Go package of the current semantic conventions has a constant for a key, our key equals the constant. Keys of
// MCP and GenAI are copied from the last version of that package that had them (semconv v1.41.0).
func TestConventionKeysMatchConventions(t *testing.T) {
	pinned := map[attribute.Key]bool{
		"mcp.method.name": true, "mcp.protocol.version": true, "mcp.session.id": true, "mcp.resource.uri": true,
		"gen_ai.tool.name": true, "gen_ai.tool.type": true, "gen_ai.prompt.name": true, "gen_ai.operation.name": true,
		"gen_ai.conversation.id": true, "gen_ai.agent.name": true, semconv.SessionIDKey: true, semconv.UserHashKey: true,
		"gen_ai.tool.call.arguments": true, "gen_ai.tool.call.result": true, "gen_ai.prompt.variable.{name}": true,

		semconv.ErrorTypeKey: true, semconv.RPCResponseStatusCodeKey: true, semconv.JSONRPCRequestIDKey: true,
		semconv.NetworkTransportKey: true, semconv.NetworkProtocolNameKey: true, semconv.NetworkProtocolVersionKey: true,
		semconv.ServerAddressKey: true, semconv.ServerPortKey: true, semconv.ProcessPIDKey: true,
		semconv.ProcessExitCodeKey: true, semconv.ExceptionTypeKey: true, semconv.ExceptionMessageKey: true,
		semconv.ExceptionStacktraceKey: true, semconv.ClientAddressKey: true, semconv.ClientPortKey: true,
		semconv.HTTPResponseStatusCodeKey: true, semconv.CPUModeKey: true,
	}
	got := map[attribute.Key]bool{}
	for _, a := range schema.Current.Attributes {
		if a.Stability == schema.Convention {
			got[attribute.Key(a.Key)] = true
		}
	}
	if !maps.Equal(got, pinned) {
		t.Errorf("keys of the conventions: got %v, want %v", got, pinned)
	}
}

func TestEnumsMatchCode(t *testing.T) {
	var states, reasons []string
	for _, s := range connstate.States() {
		states = append(states, s.String())
	}
	for _, r := range connstate.Reasons()[1:] { // the first is _OTHER
		reasons = append(reasons, r.String())
	}
	for key, want := range map[string][]string{
		"mcp_client.violation.reason":  jsonrpc.Reasons(),
		"mcp_server.violation.reason":  jsonrpc.Reasons(),
		"mcp_client.connection.state":  states,
		"mcp_client.connection.from":   states,
		"mcp_client.connection.to":     states,
		"mcp_client.connection.reason": reasons,
	} {
		if got := attributeRow(key).Enum; !slices.Equal(got, want) {
			t.Errorf("values of %s: got %q, want %q", key, got, want)
		}
	}
	known := attributeRow("mcp.method.name").Enum
	for m := range mcp.Methods() {
		if !slices.Contains(known, m.Name) {
			t.Errorf("mcp.method.name does not list the method %s", m.Name)
		}
	}
}
