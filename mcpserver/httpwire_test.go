package mcpserver_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// TestEveryHTTPVersionWithAndWithoutTLS uses real connections.
func TestEveryHTTPVersionWithAndWithoutTLS(t *testing.T) {
	forms := []struct {
		name, proto, version string
		start                func(*httptest.Server) *http.Client
	}{
		{"HTTP/1.1", "HTTP/1.1", "1.1", func(s *httptest.Server) *http.Client {
			s.Start()
			return s.Client()
		}},
		{"TLS", "HTTP/1.1", "1.1", func(s *httptest.Server) *http.Client {
			s.StartTLS()
			return s.Client()
		}},
		{"TLS with HTTP/2", "HTTP/2.0", "2", func(s *httptest.Server) *http.Client {
			s.EnableHTTP2 = true
			s.StartTLS()
			return s.Client()
		}},
		{"h2c", "HTTP/2.0", "2", func(s *httptest.Server) *http.Client {
			s.Config.Protocols = new(http.Protocols)
			s.Config.Protocols.SetUnencryptedHTTP2(true)
			s.Start()
			tr := &http.Transport{Protocols: s.Config.Protocols}
			return &http.Client{Transport: tr}
		}},
	}
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			server, gate, cause := gated(t, mcpserver.Options{Telemetry: rec.Telemetry()})
			h := server.HTTPHandler(nil)
			srv := httptest.NewUnstartedServer(h)
			client := f.start(srv)
			w := &web{t: t, handler: h,
				client: &http.Client{Transport: redirect{client.Transport, srv.Listener.Addr().String(), srv.TLS != nil}}}
			defer srv.Close()
			defer client.CloseIdleConnections()

			p := w.post(asked(1, "tools/list", bothMetas, ""), modernHeaders("tools/list", "")...)
			if p.status != 200 || decoded(t, p.body).Result == nil {
				t.Fatalf("a plain request got %d with %s, want its answer", p.status, p.body)
			}
			call := asked(1, "tools/call", bothMetas+`,"progressToken":1`, `"name":"gated"`)
			s := w.stream("POST", call, modernHeaders("tools/call", "gated")...)
			if s.resp.Proto != f.proto {
				t.Errorf("the response came over %s, want %s", s.resp.Proto, f.proto)
			}
			if m := s.message(); m.Method != mcp.NotificationProgress {
				t.Errorf("got %+v, want progress at once", m)
			}
			s.leave()
			if err := <-cause; err == nil {
				t.Error("the handler's context has no cause")
			}
			session := w.open("2025-11-25")
			s = w.stream("POST", gatedCall, "Mcp-Session-Id", session)
			s.next()
			close(gate)
			for range 2 {
				if m := s.message(); m.Method != mcp.NotificationProgress {
					t.Errorf("got %+v, want progress", m)
				}
			}
			if m := s.message(); m.ID != 5.0 {
				t.Errorf("got %+v, want the answer", m)
			}
			s.over()
			if err := h.Shutdown(t.Context()); err != nil {
				t.Errorf("Shutdown returned %v, want nil", err)
			}

			span := rec.Span("tools/list")
			attrs := map[string]string{}
			for _, a := range span.Attributes() {
				attrs[string(a.Key)] = a.Value.String()
			}
			for key, want := range map[string]string{
				"network.transport": "tcp", "network.protocol.name": "http", "network.protocol.version": f.version,
				"mcp.protocol.version": "2026-07-28",
			} {
				if attrs[key] != want {
					t.Errorf("attribute %s is %q, want %q", key, attrs[key], want)
				}
			}
			if n := rec.Count("mcp.server.operation.duration", "error.type", "cancelled"); n != 1 {
				t.Errorf("%d cancelled operations, want that whose client left", n)
			}
		})
	}
}

// redirect sends all requests to one address.
type redirect struct {
	http.RoundTripper
	address string
	tls     bool
}

func (r redirect) RoundTrip(req *http.Request) (*http.Response, error) {
	req.URL.Host = r.address
	if r.tls {
		req.URL.Scheme = "https"
	}
	return r.RoundTripper.RoundTrip(req)
}

func TestARequestIsAnsweredIfItsHandlerEndsTheGoroutine(t *testing.T) {
	server := withTool(t, mcpserver.Options{}, "exit",
		func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			runtime.Goexit()
			return nil, nil
		})
	w := serveWeb(t, server, nil)
	session := w.post(callOf(1, "exit", "{}"), "Mcp-Session-Id", w.open("2025-11-25"))
	body, headers := askedCall(1, "exit", "{}")
	modern := w.post(body, headers...) // the last request on its connection
	for name, p := range map[string]page{"session": session, "modern": modern} {
		if m := decoded(t, p.body); p.status != 200 || m.Error == nil || m.Error.Code != mcp.CodeInternalError {
			t.Errorf("%s: got %d with %s, want an internal error", name, p.status, p.body)
		}
	}
}

// TestHTTPRequestSpanBecomesParentOrLink tests spans that middleware such as otelhttp stores in the context.
func TestHTTPRequestSpanBecomesParentOrLink(t *testing.T) {
	ambient := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2},
		TraceFlags: trace.FlagsSampled})
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		for _, who := range []string{"untraced", "traced", "trusted"} {
			t.Run(version+" "+who, func(t *testing.T) {
				traced, trusted := who != "untraced", who == "trusted"
				rec := telemetrytest.Recorder(t)
				s := newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()})
				h := s.HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: trusted})
				w := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					h.ServeHTTP(w, r.WithContext(trace.ContextWithSpanContext(r.Context(), ambient)))
				}), h)
				meta, headers := "", []string{"Mcp-Session-Id", ""}
				if version == "2026-07-28" {
					meta, headers = bothMetas, modernHeaders("tools/call", "echo")
				} else {
					headers[1] = w.open(version)
				}
				if traced {
					meta = strings.TrimPrefix(meta+","+traceParent, ",")
				}
				if p := w.post(asked(1, "tools/call", meta, `"name":"echo"`), headers...); p.status != 200 {
					t.Fatalf("got %d with %s", p.status, p.body)
				}
				w.end()
				span := rec.Span("tools/call echo")
				switch links := span.Links(); {
				case traced && !trusted &&
					(span.Parent().SpanID() != ambient.SpanID() || len(links) != 1 ||
						links[0].SpanContext.SpanID().String() != "b7ad6b7169203331"):
					t.Errorf("parent %v and links %v, want the server's span as parent and the client's as link", span.Parent(), links)
				case trusted && (span.Parent().SpanID().String() != "b7ad6b7169203331" || len(links) != 1 ||
					links[0].SpanContext.SpanID() != ambient.SpanID()):
					t.Errorf("parent %v and links %v, want the client's span as parent and the server's as link", span.Parent(), links)
				case !traced && (span.Parent().SpanID() != ambient.SpanID() || len(links) > 0):
					t.Errorf("parent %v and links %v, want the server's span as parent", span.Parent(), links)
				}
			})
		}
	}
}

// TestTraceContextIsReadFromHTTPHeaders tests messages without a trace context, from clients that instrument HTTP but
// not MCP.
func TestTraceContextIsReadFromHTTPHeaders(t *testing.T) {
	const trust, inMeta, middleware = 1, 2, 4
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		for given := range 8 {
			t.Run(fmt.Sprint(version, " ", given), func(t *testing.T) {
				rec := telemetrytest.Recorder(t)
				s := newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()})
				h := s.HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: given&trust != 0})
				ambient := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2},
					TraceFlags: trace.FlagsSampled})
				w := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if given&middleware != 0 {
						r = r.WithContext(trace.ContextWithSpanContext(r.Context(), ambient))
					}
					h.ServeHTTP(w, r)
				}), h)
				meta, headers := "", []string{"Mcp-Session-Id", ""}
				if version == "2026-07-28" {
					meta, headers = bothMetas, modernHeaders("tools/call", "echo")
				} else {
					headers[1] = w.open(version)
				}
				want, link := "00f067aa0ba902b7", ""
				if given&inMeta != 0 {
					meta, want = strings.TrimPrefix(meta+","+traceParent, ","), "b7ad6b7169203331"
				}
				const none = "0000000000000000"
				around := ambient.SpanID().String()
				switch given &^ inMeta {
				case 0:
					want, link = none, want
				case middleware:
					if want, link = around, want; given&inMeta == 0 {
						link = ""
					}
				case middleware | trust:
					if link = around; given&inMeta == 0 {
						want, link = around, ""
					}
				}
				headers = append(headers, "Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
				if p := w.post(asked(1, "tools/call", meta, `"name":"echo"`), headers...); p.status != 200 {
					t.Fatalf("got %d with %s", p.status, p.body)
				}
				w.end()
				span := rec.Span("tools/call echo")
				var got strings.Builder
				for _, l := range span.Links() {
					got.WriteString(l.SpanContext.SpanID().String())
				}
				if parent := span.Parent().SpanID().String(); parent != want || got.String() != link {
					t.Errorf("parent %s and links %q, want %s and %q", parent, got.String(), want, link)
				}
			})
		}
	}
}

func TestHTTPSessionInTelemetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		w := serveWeb(t, newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}), nil)
		session := w.open("2025-11-25")
		w.post(pingRequest, "Mcp-Session-Id", session)
		w.post(`{`)
		w.post(asked(1, "tools/list", bothMetas, ""), "MCP-Protocol-Version", "2026-07-28")
		time.Sleep(time.Minute)
		w.do("DELETE", "", "Mcp-Session-Id", session)
		w.end()
		if n := rec.Count("mcp.server.session.duration", "network.protocol.name", "http"); n != 1 {
			t.Errorf("%d sessions recorded, want 1", n)
		}
		id := ""
		for _, a := range rec.Span("ping").Attributes() {
			if a.Key == "mcp.session.id" {
				id = a.Value.String()
			}
		}
		if id != session {
			t.Errorf("the span has session %q, want %q", id, session)
		}
		if n := rec.Value("mcp_server.protocol.violations"); n != 1 {
			t.Errorf("%d violations counted, want 1", n)
		}
		if n := rec.Count("mcp.server.operation.duration", "rpc.response.status_code", "-32020"); n != 1 {
			t.Errorf("%d operations refused for their headers, want 1", n)
		}
		if n := rec.Value("mcp_server.active_requests"); n != 0 {
			t.Errorf("%d active requests after all, want 0", n)
		}
	})
}

func TestNetworkTransportInTelemetry(t *testing.T) {
	tests := []struct {
		local     net.Addr
		proto     int
		transport string
	}{
		{&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}, 1, "tcp"},
		{&net.UnixAddr{Name: "socket", Net: "unix"}, 1, "unix"},
		{&net.UDPAddr{IP: net.IPv4(192, 0, 2, 1)}, 3, "quic"},
	}
	for _, tt := range tests {
		t.Run(tt.transport, func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			h := newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}).HTTPHandler(nil)
			r := request(t, context.WithValue(t.Context(), http.LocalAddrContextKey, tt.local), "POST",
				asked(1, "tools/list", bothMetas, ""), modernHeaders("tools/list", "")...)
			r.ProtoMajor = tt.proto
			h.ServeHTTP(httptest.NewRecorder(), r)
			if err := h.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := rec.Count("mcp.server.operation.duration", "network.transport", tt.transport); n != 1 {
				t.Errorf("%d operations over %s recorded, want 1", n, tt.transport)
			}
		})
	}
}
