package e2e

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpcheck"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
)

// observed is an OTLP receiver with an exporter to it.
type observed struct {
	*otlp.Providers
	sink *otlpsink.Sink
}

func observe(t *testing.T) observed {
	t.Helper()
	sink, err := otlpsink.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sink.Close(context.Background()) })
	otlpcheck.Watch(t, sink) // also checks this module's spans from the servers
	p, err := otlp.Setup(t.Context(), otlp.WithEndpoint(sink.Endpoint()), otlp.WithServiceName("e2e"),
		otlp.WithConsole(nil, nil), otlp.WithGlobals(false), otlp.WithExportInterval(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Shutdown(context.Background()) })
	return observed{p, sink}
}

// trace waits until complete reports true for the trace of the caller's span.
func (o observed) trace(t *testing.T, id string, complete func([]otlpsink.Span) bool) []otlpsink.Span {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := o.ForceFlush(ctx); err != nil {
		t.Fatal(err)
	}
	s, err := o.sink.WaitFor(ctx, func(s otlpsink.Snapshot) bool { return complete(s.Trace(id)) })
	if err != nil {
		t.Fatalf("the trace is not complete: %v; it has %v", err, spanNames(s.Trace(id)))
	}
	return s.Trace(id)
}

func spanNames(spans []otlpsink.Span) []string {
	var names []string
	for _, s := range spans {
		names = append(names, s.Kind+" "+s.Name)
	}
	return names
}

func find(spans []otlpsink.Span, kind, name string) *otlpsink.Span {
	i := slices.IndexFunc(spans, func(s otlpsink.Span) bool { return s.Kind == kind && s.Name == name })
	if i < 0 {
		return nil
	}
	return &spans[i]
}

// TestClientUsesRealServers lists the tools of each server, calls one, and checks the trace of the call.
func TestClientUsesRealServers(t *testing.T) {
	for _, s := range servers {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := directory(t)
			o := observe(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c, err := mcpclient.Connect(ctx, checked(t, s.command(t, dir), false),
				&mcpclient.Options{Name: s.name, Timeouts: mcpclient.Timeouts{Init: slowStart}, Telemetry: o.Telemetry()})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if got := c.ProtocolVersion(); got != s.version {
				t.Errorf("want protocol version %s, got %s", s.version, got)
			}
			checkTools(t, ctx, c, s)

			spanCtx, span := o.TracerProvider().Tracer("e2e").Start(ctx, "caller")
			r, err := c.CallTool(spanCtx, s.tool, json.RawMessage(s.arguments(dir)))
			span.End()
			if err != nil {
				t.Fatal(err)
			}
			if r.IsError || !strings.Contains(r.Text(), s.want) {
				t.Errorf("want a result with %q, got %q (error %v)", s.want, r.Text(), r.IsError)
			}
			name := "tools/call " + s.tool
			spans := o.trace(t, span.SpanContext().TraceID().String(), func(spans []otlpsink.Span) bool {
				return find(spans, "CLIENT", name) != nil && find(spans, "INTERNAL", "caller") != nil
			})
			checkCall(t, find(spans, "INTERNAL", "caller"), find(spans, "CLIENT", name), s)
			if err := c.Close(); err != nil {
				t.Errorf("stop: %v", err)
			}
		})
	}
}

func checkTools(t *testing.T, ctx context.Context, c *mcpclient.Client, s server) {
	t.Helper()
	var tools []*mcp.Tool
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, tool)
	}
	if len(tools) < s.tools {
		t.Errorf("want %d tools at least, got %d", s.tools, len(tools))
	}
	if !slices.ContainsFunc(tools, func(tool *mcp.Tool) bool { return tool.Name == s.tool }) {
		t.Errorf("want the tool %q among them", s.tool)
	}
	checkCost(t, tools)
}

// checkCall checks the span of a call against the conventions.
func checkCall(t *testing.T, caller, call *otlpsink.Span, s server) {
	t.Helper()
	if call.ParentID != caller.SpanID {
		t.Errorf("want the call's span below the caller's %s, got parent %s", caller.SpanID, call.ParentID)
	}
	if call.Status != "UNSET" {
		t.Errorf("want the status unset, got %s", call.Status)
	}
	for key, want := range map[string]any{
		"mcp.method.name": "tools/call", "gen_ai.tool.name": s.tool, "gen_ai.operation.name": "execute_tool",
		"network.transport": "pipe", "mcp.protocol.version": string(s.version), "mcp_client.name": s.name,
	} {
		if got := call.Attributes[key]; got != want {
			t.Errorf("want %s=%v on the span, got %v", key, want, got)
		}
	}
	for _, key := range []string{
		"mcp_client.instance.id", "jsonrpc.request.id", "mcp_client.corr_id", "mcp_client.request.size",
		"mcp_client.response.size",
	} {
		if _, ok := call.Attributes[key]; !ok {
			t.Errorf("want %s on the span, got none", key)
		}
	}
}

// TestARealServerJoinsTheTrace uses a server that exports its own spans.
func TestARealServerJoinsTheTrace(t *testing.T) {
	o := observe(t)
	command := binary("mcp-grafana")(t, "")
	command.Env = append(command.Env, "GRAFANA_URL=http://127.0.0.1:1",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://"+o.sink.Endpoint(),
		"OTEL_EXPORTER_OTLP_INSECURE=true", "OTEL_BSP_SCHEDULE_DELAY=50")
	for _, version := range []mcp.Version{mcp.Version20260728, mcp.Version20251125} {
		t.Run(string(version), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c, err := mcpclient.Connect(ctx, checked(t, command, false),
				&mcpclient.Options{Telemetry: o.Telemetry(), Versions: []mcp.Version{version}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			spanCtx, span := o.TracerProvider().Tracer("e2e").Start(ctx, "caller")
			_, err = c.CallTool(spanCtx, "generate_deeplink",
				json.RawMessage(`{"resourceType":"dashboard","dashboardUid":"abc"}`))
			span.End()
			if err != nil {
				t.Fatal(err)
			}
			const name = "tools/call generate_deeplink"
			spans := o.trace(t, span.SpanContext().TraceID().String(), func(spans []otlpsink.Span) bool {
				return find(spans, "CLIENT", name) != nil && find(spans, "SERVER", name) != nil
			})
			client, server := find(spans, "CLIENT", name), find(spans, "SERVER", name)
			if server.ParentID != client.SpanID || server.Service() == client.Service() {
				t.Errorf("want the server's span below ours and from another service, got parent %s of %s", server.ParentID,
					server.Service())
			}
		})
	}
}

// TestProgressOfARealServer expects every report, in order, before the result.
func TestProgressOfARealServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := mcpclient.Connect(ctx,
		checked(t, npm("@modelcontextprotocol/server-everything/dist/index.js")(t, ""), false), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var got []float64
	_, err = c.CallTool(ctx, "trigger-long-running-operation", json.RawMessage(`{"duration":0.3,"steps":3}`),
		mcpclient.WithProgress(func(p *mcp.ProgressParams) { got = append(got, p.Progress) }))
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("want progress %v, got %v", want, got)
	}
}

// TestStructuredOutputOfARealServer validates output against the server's own schema.
func TestStructuredOutputOfARealServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := mcpclient.Connect(ctx,
		checked(t, npm("@modelcontextprotocol/server-everything/dist/index.js")(t, ""), false), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	type weather struct {
		Temperature float64 `json:"temperature"`
		Conditions  string  `json:"conditions"`
	}
	got, err := mcpclient.CallToolAs[weather](ctx, c, "get-structured-content", map[string]string{"location": "Chicago"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Conditions == "" {
		t.Errorf("want the weather in Chicago, got %+v", got)
	}
	r, err := c.CallTool(ctx, "get-structured-content", map[string]string{"location": "Paris"})
	if err != nil {
		t.Fatal(err)
	}
	if !r.IsError {
		t.Errorf("want the tool to refuse Paris, got %q", r.Text())
	}
}
