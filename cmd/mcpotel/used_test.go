package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// metricsOf serves a page of metrics with calls of two tools of the client "demo" and one of another client.
func metricsOf(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" || r.Header.Get("X-Key") != "k" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintln(w, "# TYPE mcp_client_operation_duration_seconds histogram")
		for _, labels := range []string{`mcp_method_name="tools/call",gen_ai_tool_name="divide",mcp_client_name="demo"`,
			`mcp_method_name="tools/call",gen_ai_tool_name="divide",error_type="x",mcp_client_name="demo"`,
			`mcp_method_name="tools/call",gen_ai_tool_name="forecast",mcp_client_name="other"`,
			`mcp_method_name="tools/list",mcp_client_name="demo"`} {
			fmt.Fprintf(w, "mcp_client_operation_duration_seconds_bucket{%s,le=\"+Inf\"} 2\n", labels)
			fmt.Fprintf(w, "mcp_client_operation_duration_seconds_sum{%s} 1\n", labels)
			fmt.Fprintf(w, "mcp_client_operation_duration_seconds_count{%s} 2\n", labels)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/metrics"
}

// prometheusOf serves the two queries of a Prometheus: divide grew by 3.4, crash did not grow, wait has no calls.
func prometheusOf(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.FormValue("query")
		value := map[string]string{"divide": "5", "crash": "2", "wait": "0"}
		if strings.Contains(query, "increase(") {
			value = map[string]string{"divide": "3.4", "crash": "0", "wait": "0"}
		}
		if !strings.Contains(query, `mcp_method_name="tools/call"}[4w]`) {
			http.Error(w, "unexpected query "+query, http.StatusBadRequest)
			return
		}
		var series []string
		for tool, v := range value {
			series = append(series, fmt.Sprintf(`{"metric":{"gen_ai_tool_name":%q},"value":[1,%q]}`, tool, v))
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, strings.Join(series, ","))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestCostShowsWhichToolsAreUsed(t *testing.T) {
	noCollector(t)
	t.Setenv(asCommand, "1")
	page, prometheus := metricsOf(t), prometheusOf(t)
	recorded := filepath.Join(t.TempDir(), "calls.ndjson")
	code, _, stderr := runs(t, append([]string{"call", "divide", "a=1", "b=1", "--"},
		append([]string{demoServerCommand(t)[1], "proxy", "--record", recorded}, demoServerCommand(t)...)...)...)
	if code != exitOK {
		t.Fatalf("the recording failed: %s", stderr)
	}
	for name, tc := range map[string]struct {
		flags []string
		want  map[string]int64
		other int64
	}{
		"a page":            {[]string{"--used", page, "--used-header", "X-Key=k"}, map[string]int64{"divide": 4, "forecast": 2}, 0},
		"a page, a client":  {[]string{"--used", page, "--used-header", "X-Key=k", "--client", "demo"}, map[string]int64{"divide": 4}, 0},
		"a Prometheus":      {[]string{"--used", prometheus, "--over", "4w"}, map[string]int64{"divide": 3, "crash": 1}, 0},
		"a recording":       {[]string{"--used", recorded}, map[string]int64{"divide": 1}, 0},
		"a recording twice": {[]string{"--used", recorded, "--used", recorded}, map[string]int64{"divide": 2}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, stderr := runs(t, append(append([]string{"cost", "--json"}, tc.flags...), demoServerCommand(t)...)...)
			var all toolCosts
			if err := json.Unmarshal([]byte(out), &all); code != exitOK || err != nil || all.Usage == nil {
				t.Fatalf("want costs as JSON, got %d, %v: %s%s", code, err, out, stderr)
			}
			unused := 0
			for _, tool := range all.Tools {
				if tool.Calls == nil || *tool.Calls != tc.want[tool.Name] {
					t.Errorf("%s: want %d calls, got %v", tool.Name, tc.want[tool.Name], tool.Calls)
				}
				if tc.want[tool.Name] == 0 {
					unused += tool.EstimatedTokens
				}
			}
			if len(all.Usage.Unused) != len(all.Tools)-len(tc.want) || len(all.Usage.Allow) != len(tc.want) ||
				all.Usage.UnusedTokens != unused || slices.Contains(all.Usage.Unused, "divide") {
				t.Errorf("want %d tokens of unused tools, got %+v", unused, all.Usage)
			}
		})
	}
	code, out, _ := runs(t, append([]string{"cost", "--used", recorded}, demoServerCommand(t)...)...)
	if want := "Tools without a call: 11."; code != exitOK || !strings.Contains(out, want) ||
		!strings.Contains(out, "tools:\n  allow: [\"divide\"]\n") {
		t.Errorf("want %q and a policy, got %d: %s", want, code, out)
	}
}

func TestMisuseOfUsedIsExplained(t *testing.T) {
	noCollector(t)
	empty := filepath.Join(t.TempDir(), "empty.ndjson")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	page := metricsOf(t)
	for _, tc := range []struct {
		flags  []string
		code   int
		stderr string
	}{
		{[]string{"--client", "x"}, exitUsage, "need --used SOURCE"},
		{[]string{"--used", page, "--over", "week"}, exitUsage, `"week" is not a time`},
		{[]string{"--used", empty}, exitUsage, "--used: "},
		{[]string{"--used", empty + "x"}, exitUsage, "no such file"},
		{[]string{"--used", page}, exitConnection, "404 Not Found"},
		{[]string{"--used", "http://127.0.0.1:1"}, exitConnection, "connection refused"},
	} {
		code, _, stderr := runs(t, append(append([]string{"cost"}, tc.flags...), demoServerCommand(t)...)...)
		if code != tc.code || !strings.Contains(stderr, tc.stderr) {
			t.Errorf("%q: want %d and %q, got %d: %s", tc.flags, tc.code, tc.stderr, code, stderr)
		}
	}
}
