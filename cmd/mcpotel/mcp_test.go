package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestMCPCommandExplainsAFailedToolCall explains a call of a server whose debug page is on loopback.
func TestMCPCommandExplainsAFailedToolCall(t *testing.T) {
	noCollector(t)
	url, _ := serves(t, "0")
	if code, _, stderr := runs(t, "call", "--url", url, "divide", `{"a":6,"b":0}`); code != exitTool {
		t.Fatalf("a call of divide by zero: got exit code %d, want %d: %s", code, exitTool, stderr)
	}
	page := strings.TrimSuffix(url, servedPath) + debugPath
	agent, stop := servesBy(t, "mcp", "--listen", "0", "--debug", page)
	code, out, stderr := runs(t, "call", "--url", agent, "explain", `{"tool":"divide"}`)
	for _, want := range []string{"tools/call divide of mcpotel-demo-server failed", "(tool_error, certain)", "Next:"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q, got exit code %d, %s%s", want, code, out, stderr)
		}
	}
	if code, out, stderr := runs(t, "call", "--url", agent, "list_clients"); !strings.Contains(out, page) {
		t.Errorf("want the server at %s listed, got exit code %d, %s%s", page, code, out, stderr)
	}
	if code := stop(); code != exitOK {
		t.Errorf("exit code of the stopped server: got %d, want 0", code)
	}
}

// recordedTrace is a shortened answer of Jaeger 2.13 to the request for a trace.
const recordedTrace = `{"result":{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name",
"value":{"stringValue":"mcpotel-demo-server"}}]},"scopeSpans":[{"scope":{"name":"github.com/mcpotel/mcpotel"},"spans":[
{"traceId":"450a6458619ee611e4ea03ffb833d2db","spanId":"9742f0686140fd91","parentSpanId":"11cf888188520afd",
"name":"tools/call divide","kind":3,"startTimeUnixNano":"1795261527945131692","endTimeUnixNano":"1795261527945349665",
"attributes":[{"key":"error.type","value":{"stringValue":"-32602"}},
{"key":"mcp.method.name","value":{"stringValue":"tools/call"}},
{"key":"gen_ai.tool.name","value":{"stringValue":"divide"}},
{"key":"mcp_client.request.size","value":{"intValue":"462"}}],
"status":{"code":2,"message":"Unknown tool: divide"}}]}]}]}}`

func TestMCPCommandExplainsAJaegerTrace(t *testing.T) {
	noCollector(t)
	jaeger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v3/services":
			_, _ = io.WriteString(w, `{"services":["mcpotel-demo-server"]}`)
		case "/api/traces":
			if tags := r.URL.Query().Get("tags"); !strings.Contains(tags, `"error":"true"`) {
				t.Errorf("want a search for failures, got tags %s", tags)
			}
			_, _ = io.WriteString(w, `{"data":[{"traceID":"450a6458619ee611e4ea03ffb833d2db"}]}`)
		case "/api/v3/traces/450a6458619ee611e4ea03ffb833d2db":
			_, _ = io.WriteString(w, recordedTrace)
		default:
			http.NotFound(w, r)
		}
	}))
	defer jaeger.Close()
	agent, _ := servesBy(t, "mcp", "--listen", "0", "--jaeger", jaeger.URL)
	_, out, stderr := runs(t, "call", "--url", agent, "explain", `{"trace_id":"450a6458619ee611e4ea03ffb833d2db"}`)
	if !strings.Contains(out, "unknown_tool, certain") || !strings.Contains(out, `"Unknown tool: divide"`) {
		t.Errorf("got %s%s", out, stderr)
	}
	_, out, stderr = runs(t, "call", "--url", agent, "explain", `{"trace_id":"4711"}`)
	if !strings.Contains(out, "No telemetry of trace") || !strings.Contains(out, "does not have the trace") {
		t.Errorf("explain of another trace: got %s%s", out, stderr)
	}
	_, out, stderr = runs(t, "call", "--url", agent, "recent_traces")
	if !strings.Contains(out, "450a6458619ee611e4ea03ffb833d2db") ||
		!strings.Contains(out, "does not have the tool divide") {
		t.Errorf("latest failures: got %s%s", out, stderr)
	}
	_, out, stderr = runs(t, "call", "--url", agent, "explain", "tool=divide")
	if !strings.Contains(out, "unknown_tool, certain") {
		t.Errorf("explain of the last failure of a tool: got %s%s", out, stderr)
	}
}

func TestMisuseOfMCPCommandIsExplained(t *testing.T) {
	noCollector(t)
	for want, args := range map[string][]string{
		"no source: give --debug URL":                    {},
		"invalid page URL":                               {"--debug", "localhost:6060"},
		"--allow-remote allows it":                       {"--debug", "http://192.0.2.1/debug/mcp/"},
		"--view: not on this machine: example.com":       {"--view", "http://example.com"},
		"--jaeger: not on this machine: jaeger.internal": {"--jaeger", "http://jaeger.internal:16686"},
		"want a URL such as http://localhost:16686":      {"--jaeger", "localhost"},
	} {
		code, _, stderr := runs(t, append([]string{"mcp"}, args...)...)
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%q: want exit code %d and %q, got %d and %s", args, exitUsage, want, code, stderr)
		}
	}
	code, _, stderr := runs(t, "mcp", "--debug", "http://127.0.0.1:1/debug/mcp/", "--allow-remote")
	if code != exitOK || !strings.Contains(stderr, "check that the program is running") {
		t.Errorf("unreachable page: want a warning and exit code 0, got %d and %s", code, stderr)
	}
}
