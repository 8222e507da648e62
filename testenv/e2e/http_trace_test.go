package e2e

import (
	"context"
	"encoding/json"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// TestTraceContextPropagatesOverHTTP uses a server that exports its own spans, in both eras and over HTTP+SSE.
func TestTraceContextPropagatesOverHTTP(t *testing.T) {
	for _, tc := range []struct {
		name, kind, path string
		version          mcp.Version
	}{
		{"modern", "streamable-http", "/mcp", mcp.Version20260728},
		{"legacy", "streamable-http", "/mcp", mcp.Version20251125},
		{"HTTP+SSE", "sse", "/sse", mcp.Version20251125},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := observe(t)
			p := assigned(t, "", func(host, port string) transport.Stdio {
				s := binary("mcp-grafana", "-t="+tc.kind, "-address="+net.JoinHostPort(host, port))(t, "")
				s.Env = append(s.Env, "GRAFANA_URL=http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+o.sink.Endpoint(),
					"OTEL_EXPORTER_OTLP_INSECURE=true", "OTEL_BSP_SCHEDULE_DELAY=50")
				return s
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c, err := mcpclient.Connect(ctx, checked(t, &transport.HTTP{URL: p.url + tc.path}, false),
				&mcpclient.Options{Telemetry: o.Telemetry(), Versions: []mcp.Version{tc.version}})
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
				return find(spans, "INTERNAL", "caller") != nil && find(spans, "CLIENT", name) != nil &&
					find(spans, "SERVER", name) != nil
			})
			caller, client, server := find(spans, "INTERNAL", "caller"), find(spans, "CLIENT", name), find(spans, "SERVER", name)
			if client.ParentID != caller.SpanID {
				t.Errorf("want the call's span below the caller's, got parent %s", client.ParentID)
			}
			if !below(spans, server, client) || server.Service() == client.Service() {
				t.Errorf("want the server's span below ours and from another service, got parent %s of %s in %v", server.ParentID,
					server.Service(), spanNames(spans))
			}
			checkNetwork(t, client, p.url, tc.version)
		})
	}
}

// below reports whether s is a descendant of ancestor: a server may have an HTTP span in between.
func below(spans []otlpsink.Span, s, ancestor *otlpsink.Span) bool {
	for range spans {
		if s.ParentID == ancestor.SpanID {
			return true
		}
		for i := range spans {
			if spans[i].SpanID == s.ParentID {
				s = &spans[i]
				break
			}
		}
	}
	return false
}

// checkNetwork checks the span of a call over HTTP against the conventions.
func checkNetwork(t *testing.T, call *otlpsink.Span, serverURL string, version mcp.Version) {
	t.Helper()
	u, err := url.Parse(serverURL)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"network.transport": "tcp", "network.protocol.name": "http", "network.protocol.version": "1.1",
		"server.address": u.Hostname(), "server.port": u.Port(), "mcp.protocol.version": string(version),
	} {
		if got := call.Attributes[key]; got == nil || textOf(got) != want {
			t.Errorf("want %s=%s on the span, got %v", key, want, got)
		}
	}
}

// textOf returns a value as text, numbers included.
func textOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
