package mcpserver_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// TestEachRefusalIsCountedWithItsReason checks that the server counts each kind of refusal once with its reason, and
// writes one log record. In some cases, this record has the name of another event.
func TestEachRefusalIsCountedWithItsReason(t *testing.T) {
	call, headers := askedCall(1, "block", "{}")
	post := func(t *testing.T, h http.Handler, body io.Reader, headers ...string) {
		r := request(t, t.Context(), http.MethodPost, "", headers...)
		r.Body, r.ContentLength = io.NopCloser(body), -1
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	for _, tt := range []struct {
		reason, status, event string
		level                 slog.Level
		options               mcpserver.Options
		http                  mcpserver.HTTPOptions
		do                    func(t *testing.T, s *mcpserver.Server, h *mcpserver.HTTPHandler)
	}{
		{reason: "origin", status: "403", level: slog.LevelWarn, do: func(t *testing.T, _ *mcpserver.Server,
			h *mcpserver.HTTPHandler) {
			post(t, h, strings.NewReader(call), append(headers, "Origin", "https://evil.example")...)
		}},
		{reason: "host", status: "403", level: slog.LevelWarn,
			http: mcpserver.HTTPOptions{AllowedHosts: []string{"mcp.example"}},
			do: func(t *testing.T, _ *mcpserver.Server, h *mcpserver.HTTPHandler) {
				post(t, h, strings.NewReader(call), append(headers, "Host", "evil.example")...)
			}},
		{reason: "overloaded", status: "503", level: slog.LevelWarn,
			http: mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Requests: 1}},
			do: func(t *testing.T, _ *mcpserver.Server, h *mcpserver.HTTPHandler) {
				go post(t, h, strings.NewReader(call), headers...)
				synctest.Wait()
				post(t, h, strings.NewReader(call), headers...)
			}},
		{reason: "overloaded", status: "503", level: slog.LevelWarn,
			http: mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Sessions: 1},
				Timeouts: mcpserver.HTTPTimeouts{Confirm: -1}},
			do: func(t *testing.T, _ *mcpserver.Server, h *mcpserver.HTTPHandler) {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, request(t, t.Context(), http.MethodPost, initialize))
				post(t, h, strings.NewReader(initialized), "Mcp-Session-Id", w.Header().Get("Mcp-Session-Id"))
				post(t, h, strings.NewReader(initialize))
			}},
		{reason: "overloaded", status: "503", event: "mcp_server.request.exception", level: slog.LevelWarn,
			options: mcpserver.Options{Limits: mcpserver.Limits{Total: 1}},
			do: func(t *testing.T, _ *mcpserver.Server, h *mcpserver.HTTPHandler) {
				go post(t, h, strings.NewReader(call), headers...)
				synctest.Wait()
				post(t, h, strings.NewReader(call), headers...)
			}},
		{reason: "overloaded", event: "mcp_server.request.exception", level: slog.LevelWarn,
			options: mcpserver.Options{Limits: mcpserver.Limits{Concurrent: 1, Queued: -1}},
			do: func(t *testing.T, s *mcpserver.Server, _ *mcpserver.HTTPHandler) {
				w := opened(t, t.Context(), s)
				w.send(callOf(1, "block", "{}"), callOf(2, "block", "{}"))
				must(t, w.finish())
			}},
		{reason: "too_large", event: "mcp_server.protocol.violation", level: slog.LevelWarn,
			do: func(t *testing.T, s *mcpserver.Server, _ *mcpserver.HTTPHandler) {
				w := opened(t, t.Context(), s)
				w.in <- received{err: &mcpserver.FrameTooLargeError{Size: 11, Limit: 10,
					Head: []byte(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{`)}}
				synctest.Wait()
				must(t, w.finish())
			}},
		{reason: "invalid", event: "mcp_server.protocol.violation", level: slog.LevelWarn,
			do: func(t *testing.T, s *mcpserver.Server, _ *mcpserver.HTTPHandler) {
				w := opened(t, t.Context(), s)
				w.send(`{"jsonrpc":"2.0","id":1,"method":7}`)
				must(t, w.finish())
			}},
		{reason: "too_large", status: "413", level: slog.LevelWarn,
			options: mcpserver.Options{Limits: mcpserver.Limits{Frame: 100}},
			do: func(t *testing.T, _ *mcpserver.Server, h *mcpserver.HTTPHandler) {
				post(t, h, strings.NewReader(call+strings.Repeat(" ", 100)), headers...)
			}},
		{reason: "body", status: "400", level: slog.LevelWarn,
			do: func(t *testing.T, _ *mcpserver.Server, h *mcpserver.HTTPHandler) {
				post(t, h, io.MultiReader(strings.NewReader("{"), errReader{}), headers...)
			}},
		{reason: "shutdown", status: "503", level: slog.LevelInfo,
			do: func(t *testing.T, _ *mcpserver.Server, h *mcpserver.HTTPHandler) {
				must(t, h.Shutdown(t.Context()))
				post(t, h, strings.NewReader(call), headers...)
			}},
		{reason: "unauthorized", status: "401", level: slog.LevelInfo,
			do: func(t *testing.T, _ *mcpserver.Server, h *mcpserver.HTTPHandler) {
				h.Refused(request(t, t.Context(), http.MethodPost, call), http.StatusUnauthorized, errors.New("no token"))
			}},
	} {
		t.Run(tt.reason+" "+tt.status+" "+tt.event, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := telemetrytest.Recorder(t)
				tt.options.Telemetry = rec.Telemetry()
				s := withTool(t, tt.options, "block", blocking(10*time.Second))
				h := s.HTTPHandler(&tt.http)
				tt.do(t, s, h)
				time.Sleep(time.Minute)
				_ = h.Shutdown(t.Context())
				attrs := []string{"mcp_server.refusal.reason", tt.reason}
				if tt.status != "" {
					attrs = append(attrs, "http.response.status_code", tt.status)
				}
				if n, all := rec.Value("mcp_server.request.refused", attrs...), rec.Value("mcp_server.request.refused"); n != 1 ||
					all != 1 {
					t.Errorf("%d refusals were counted, of them %d as they should be, want 1", all, n)
				}
				event := tt.event
				if event == "" {
					event = "mcp_server.request.refused"
				}
				if r := rec.Log(event); r.Level != tt.level {
					t.Errorf("the record is at %v, want %v", r.Level, tt.level)
				}
				if n := len(rec.Logs("mcp_server.request.refused")); n > 0 && tt.event != "" {
					t.Errorf("there are %d records of the refusal beside that of another event, want none", n)
				}
			})
		})
	}
}

// blocking returns a handler that runs for d.
func blocking(d time.Duration) mcpserver.ToolHandler {
	return func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return nil, nil
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestRefusalLogRecordsAreRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		h := newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}).HTTPHandler(nil)
		scan := func() {
			h.ServeHTTP(httptest.NewRecorder(), request(t, t.Context(), http.MethodPost, pingRequest, "Origin",
				"https://evil.example"))
		}
		for range 1000 {
			scan()
		}
		time.Sleep(time.Second)
		scan()
		must(t, h.Shutdown(t.Context()))
		records := rec.Logs("mcp_server.request.refused")
		if len(records) != 6 || records[5].Text("mcp_server.suppressed") != "995" {
			t.Errorf("there are %d records, the last one with %q suppressed, want 6 and 995", len(records),
				records[len(records)-1].Text("mcp_server.suppressed"))
		}
		if n := rec.Value("mcp_server.request.refused"); n != 1001 {
			t.Errorf("%d refusals were counted, want 1001", n)
		}
	})
}

// TestTelemetryReportsUsageOfEachLimit fills a part of each limit of a server.
func TestTelemetryReportsUsageOfEachLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := withTool(t, mcpserver.Options{Telemetry: rec.Telemetry(),
			Limits: mcpserver.Limits{Total: 50, Concurrent: 2, Queued: 4,
				Frame: 1 << 20}}, "block", blocking(10*time.Second))
		h := s.HTTPHandler(&mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Requests: 30, Sessions: 20}})
		w := opened(t, t.Context(), s)
		w.send(callOf(1, "block", "{}"), callOf(2, "block", "{}"), callOf(3, "block", "{}"))
		body, headers := askedCall(4, "block", "{}")
		go h.ServeHTTP(httptest.NewRecorder(), request(t, t.Context(), http.MethodPost, body, headers...))
		h.ServeHTTP(httptest.NewRecorder(), request(t, t.Context(), http.MethodPost, initialize))
		synctest.Wait()
		for kind, want := range map[string][2]int64{
			"request": {2, 2}, "queue": {1, 4}, "total": {3, 50}, "http_request": {1, 30}, "waiting_handler": {0, 10_000},
			"session": {1, 20}, "subscription": {0, 10_000}, "task": {0, 1024}, "kept_task": {0, 10_000},
		} {
			used := rec.Value("mcp_server.capacity.usage", "mcp_server.capacity.kind", kind)
			limit := rec.Value("mcp_server.capacity.limit", "mcp_server.capacity.kind", kind)
			if got := [2]int64{used, limit}; got != want {
				t.Errorf("%s: usage and limit are %d, want %d", kind, got, want)
			}
		}
		for kind, limit := range map[string]int64{"frame": 4 << 20, "body": 16 << 20, "introduction": 64 << 20,
			"watched": 16 << 20, "task_result": 256 << 20} {
			if got := rec.Value("mcp_server.memory.limit", "mcp_server.memory.kind", kind); got != limit {
				t.Errorf("%s: the limit is %d bytes, want %d", kind, got, limit)
			}
		}
		if n := rec.Value("mcp_server.memory.usage", "mcp_server.memory.kind", "introduction"); n == 0 {
			t.Error("introductions take no memory, want that of one")
		}
		time.Sleep(time.Minute)
		must(t, w.finish())
		must(t, h.Shutdown(t.Context()))
		if m, ok := rec.Metric("mcp_server.capacity.usage"); ok {
			t.Errorf("after the end there is still %v, want nothing", m.Name)
		}
	})
}
