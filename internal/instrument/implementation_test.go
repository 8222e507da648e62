package instrument_test

import (
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

const serverInfo, clientRequests = names.MetricMCPClientServerInfo, names.MetricMCPServerClientRequests

// meets connects a client to a server with this name and version.
func meets(t testing.TB, c *instrument.Client, name, version string) {
	_, attempt := c.StartAttempt(t.Context(), instrument.AttemptStart{Number: 1})
	attempt.Ready(c.Peer(instrument.Facts{Network: pipe, MCPVersion: "2025-11-25"}, ""), name, version)
	c.Transition(move(connstate.Initializing, connstate.Ready, connstate.ReasonNegotiated))
}

func TestServerInfoCountsReadyClientsByServer(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	a, b := instrument.NewClient(rec.Telemetry(), "files", pipe), instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer b.Close()
	check := func(when string, version string, want int64) {
		t.Helper()
		if got := rec.Value(serverInfo, names.KeyMCPClientName, "files", names.KeyMCPClientServerName, "fs-server",
			names.KeyMCPClientServerVersion, version, names.KeyMCPProtocolVersion, "2025-11-25"); got != want {
			t.Errorf("%s: got %d clients of version %s, want %d", when, got, version, want)
		}
	}
	check("before", "1.0", 0)
	meets(t, a, "fs-server", "1.0")
	meets(t, b, "fs-server", "1.0")
	check("connected", "1.0", 2)
	b.Transition(move(connstate.Ready, connstate.Backoff, connstate.ReasonTransportDown))
	check("one is lost", "1.0", 1)
	meets(t, b, "fs-server", "1.1")
	check("it is back, newer", "1.0", 1)
	check("it is back, newer", "1.1", 1)
	a.Close()
	check("the other is closed", "1.0", 0)
	if _, ok := rec.Metric(serverInfo); !ok {
		t.Error("want one remaining client")
	}
}

func TestServerInfoCountsServersWithoutName(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	_, attempt := c.StartAttempt(t.Context(), instrument.AttemptStart{Number: 1})
	attempt.Ready(nil, "", "")
	c.Transition(move(connstate.Initializing, connstate.Ready, connstate.ReasonNegotiated))
	if points := rec.Points(serverInfo); len(points) != 1 || points[0].Attrs.Len() != 1 || points[0].Value != 1 {
		t.Errorf("want one client with only its name, got %v", points)
	}
}

// Servers choose their names, and 3,000 clients exceed the limit of names.
func TestServerNamesAreBounded(t *testing.T) {
	rec := metricsOnly(t)
	const clients = 3000
	for i, c := range fleet(t, rec.Telemetry(), clients, noGroup) {
		meets(t, c, fmt.Sprint("server-", i%300), strings.Repeat("9", 200))
	}
	sum, own, kinds := int64(0), 0, map[string]bool{}
	for _, p := range rec.Points(serverInfo) {
		sum += p.Value
		if name, _ := p.Attrs.Value(names.KeyMCPClientName); name.AsString() != names.Other {
			own++
		}
		server, _ := p.Attrs.Value(names.KeyMCPClientServerName)
		kinds[server.AsString()] = true
		if version, _ := p.Attrs.Value(names.KeyMCPClientServerVersion); len(version.AsString()) > 128 {
			t.Errorf("got a version of %d bytes", len(version.AsString()))
		}
	}
	if sum != clients {
		t.Errorf("got %d clients in total, want %d", sum, clients)
	}
	if own < 1500 {
		t.Errorf("got %d clients under their names, want the limit", own)
	}
	if len(kinds) != 257 || !kinds[names.Other] {
		t.Errorf("got %d names of servers, want 256 and %s", len(kinds), names.Other)
	}
	checkSets(t, rec.Metrics())
}

// asks makes a client send a request to a server. The span has the client's name.
func asks(t testing.TB, s *instrument.Server, name, version string) {
	_, op := s.StartHandler(t.Context(), instrument.Incoming{
		Method: "ping", Known: true, ID: "1", ClientName: name, ClientVersion: version,
	})
	op.End(instrument.Result{})
}

func TestRequestsAreCountedByClient(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	a, b := instrument.NewServer(rec.Telemetry(), "demo", pipe), instrument.NewServer(rec.Telemetry(), "demo", network)
	asks(t, a, "ide", "1.0")
	asks(t, b, "ide", "1.0")
	asks(t, b, "ide", "2.0")
	asks(t, a, "", "")
	_, op := a.StartHandler(t.Context(), instrument.Incoming{
		Method: "notifications/initialized", Known: true, Notification: true, ClientName: "ide", ClientVersion: "1.0",
	})
	op.End(instrument.Result{})
	a.Close()
	b.Close() // counts stay after the end of a server
	for version, want := range map[string]int64{"1.0": 2, "2.0": 1} {
		if got := rec.Value(clientRequests, names.KeyMCPServerName, "demo", names.KeyMCPServerClientName, "ide",
			names.KeyMCPServerClientVersion, version); got != want {
			t.Errorf("version %s: got %d requests, want %d", version, got, want)
		}
	}
	if n := len(rec.Points(clientRequests)); n != 2 {
		t.Errorf("got %d sets, want 2: a client without a name has none", n)
	}
	said := 0
	for _, span := range rec.Spans() {
		for _, attr := range span.Attributes() {
			if attr.Key == names.KeyMCPServerClientName && attr.Value.AsString() == "ide" {
				said++
			}
		}
	}
	if said != 4 {
		t.Errorf("got %d spans with the name of the client, want 4", said)
	}
}

func TestClientNamesAreBounded(t *testing.T) {
	rec := metricsOnly(t)
	s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
	defer s.Close()
	const clients = 1000
	for i := range clients {
		asks(t, s, fmt.Sprint("client-", i), strings.Repeat("9", 200))
	}
	sum := int64(0)
	for _, p := range rec.Points(clientRequests) {
		sum += p.Value
	}
	if n := len(rec.Points(clientRequests)); n != 257 || sum != clients {
		t.Errorf("got %d sets of %d requests, want 257 of %d", n, sum, clients)
	}
	if got := rec.Value(clientRequests, names.KeyMCPServerClientName, names.Other); got != clients-256 {
		t.Errorf("got %d requests of others, want %d", got, clients-256)
	}
}

// A counter must not decrease. So an implementation that was counted under _OTHER is always counted there.
func TestClientsOfManyServersStayWithinLimit(t *testing.T) {
	rec := metricsOnly(t)
	const servers, clients = 500, 20
	for i := range servers {
		s := instrument.NewServer(rec.Telemetry(), fmt.Sprint("server-", i), pipe)
		for j := range clients {
			asks(t, s, fmt.Sprint("client-", j), "1")
		}
		s.Close()
	}
	sum := int64(0)
	for _, p := range rec.Points(clientRequests) {
		sum += p.Value
	}
	if sum != servers*clients {
		t.Errorf("got %d requests, want %d", sum, servers*clients)
	}
	if n := len(rec.Points(clientRequests, names.KeyMCPServerName, "server-0")); n != clients {
		t.Errorf("got %d clients of the first server, want %d", n, clients)
	}
	if n := rec.Value(clientRequests, names.KeyMCPServerName, names.Other); n != 100*clients {
		t.Errorf("got %d requests of servers beyond the limit, want %d", n, 100*clients)
	}
	checkSets(t, rec.Metrics())
}

func TestExecuteToolDurationNeedsOption(t *testing.T) {
	const duration = names.MetricGenAIExecuteToolDuration
	run := func(opts ...telemetry.Option) *telemetrytest.Recording {
		rec := telemetrytest.Recorder(t, opts...)
		c := instrument.NewClient(rec.Telemetry(), "files", pipe)
		defer c.Close()
		callTool(t, c, "read", instrument.Result{})
		callTool(t, c, "read", instrument.Result{ToolError: true})
		callTool(t, c, "read", instrument.Result{ErrorType: "my own"})
		_, op := c.StartRequest(t.Context(), instrument.Request{Method: "tools/list"})
		op.End(instrument.Result{})
		return rec
	}
	if _, ok := run().Metric(duration); ok {
		t.Errorf("want no %s by default", duration)
	}
	rec := run(telemetry.WithExecuteToolDuration())
	for errorType, want := range map[string]uint64{"tool_error": 1, names.Other: 1} {
		if got := rec.Count(duration, names.KeyErrorType, errorType, names.KeyGenAIToolName, "read"); got != want {
			t.Errorf("%s: got %d calls, want %d", errorType, got, want)
		}
	}
	all := rec.Count(duration, names.KeyGenAIOperationName, "execute_tool", names.KeyGenAIToolType, "extension")
	if all != 3 {
		t.Errorf("got %d calls, want 3", all)
	}
}

func TestExecuteToolDurationStaysWithinLimit(t *testing.T) {
	rec := telemetrytest.Recorder(t, telemetry.WithExecuteToolDuration())
	const clients, tools = 30, 100
	for i, c := range fleet(t, rec.Telemetry(), clients, noGroup) {
		for tool := range tools {
			callTool(t, c, fmt.Sprintf("tool-%d-%d", i, tool), instrument.Result{})
		}
	}
	if got := rec.Count(names.MetricGenAIExecuteToolDuration); got != clients*tools {
		t.Errorf("got %d calls, want %d", got, clients*tools)
	}
	checkSets(t, rec.Metrics())
}

func TestOptionRemovesTransportFromSessions(t *testing.T) {
	const duration = names.MetricMCPClientSessionDuration
	for _, without := range []bool{false, true} {
		var opts []telemetry.Option
		if without {
			opts = append(opts, telemetry.WithoutSessionTransport())
		}
		rec := telemetrytest.Recorder(t, opts...)
		c := instrument.NewClient(rec.Telemetry(), "files", network)
		defer c.Close()
		c.Peer(instrument.Facts{Network: network, MCPVersion: "2025-11-25"}, "").SessionEnd(1e9, "")
		points := rec.Points(duration, names.KeyMCPProtocolVersion, "2025-11-25", names.KeyNetworkProtocolName, "http",
			names.KeyServerAddress, "mcp.example")
		if len(points) != 1 {
			t.Fatalf("want one session, got %v", points)
		}
		for _, key := range []string{names.KeyNetworkTransport, names.KeyNetworkProtocolVersion} {
			if _, has := points[0].Attrs.Value(attribute.Key(key)); has == without {
				t.Errorf("without the transport %t: %s is present: %t", without, key, has)
			}
		}
	}
}
