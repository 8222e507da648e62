package prom_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/backend"
	"github.com/mcpotel/mcpotel/internal/command/prom"
)

// answers are shortened answers of Prometheus 3.12.
var answers = map[string]string{
	"GET /api/v1/alerts": `{"status":"success","data":{"alerts":[{"labels":{"alertname":"MCPToolLoop","job":"shop"},
"annotations":{"summary":"A loop"},"state":"firing","activeAt":"2026-11-26T22:47:15Z","value":"1e+00"},{"labels":{"alertname":"Other"},
"state":"pending"}]}}`,
	"GET /api/v1/rules?type=alert": `{"status":"success","data":{"groups":[{"name":"mcp-alerts","rules":[{"state":"firing",
"name":"MCPToolLoop","type":"alerting"},{"name":"MCPToolChanged"}]},{"name":"others","rules":[{"name":"Other"}]}]}}`,
	"POST /api/v1/query": `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"job":"shop"},
"value":[1795261527.5,"3"]}]}}`,
	"POST /api/v1/query_range": `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"job":"shop"},
"values":[[1795261527,"3"],[1795261528,"NaN"]]}]}}`,
	"POST /api/v1/query_exemplars": `{"status":"success","data":[{"seriesLabels":{"job":"shop"},"exemplars":[{"labels":
{"trace_id":"4711"},"value":"0.25","timestamp":1795261527.5}]}]}`,
	"POST /api/v1/series": `{"status":"success","data":[{"job":"shop"}]}`,
}

// prometheus returns a client of a server with these answers. The server answers other requests with an error.
func prometheus(t *testing.T) *prom.Client {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := strings.TrimSuffix(r.Method+" "+r.URL.RequestURI(), "?")
		if answer, ok := answers[asked]; ok && r.FormValue("query") != "(" {
			fmt.Fprint(w, answer)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"status":"error","errorType":"bad_data","error":"unclosed left parenthesis"}`)
	}))
	t.Cleanup(s.Close)
	return at(t, s.URL)
}

func at(t *testing.T, base string) *prom.Client {
	t.Helper()
	b, err := backend.New(base, nil)
	if err != nil {
		t.Fatal(err)
	}
	return prom.New(b)
}

func TestClientQueriesAlerts(t *testing.T) {
	c := prometheus(t)
	names, err := c.AlertNames(t.Context())
	if want := []string{"MCPToolLoop", "MCPToolChanged", "Other"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("got rules for %q, %v, want %q", names, err, want)
	}
	alerts, err := c.Alerts(t.Context())
	if err != nil || len(alerts) != 2 || alerts[0].State != "firing" || alerts[0].Labels["job"] != "shop" ||
		alerts[0].Annotations["summary"] != "A loop" || alerts[0].ActiveAt.Year() != 2026 ||
		alerts[1].State != "pending" || alerts[1].Labels["alertname"] != "Other" {
		t.Errorf("got %+v, %v", alerts, err)
	}
}

func TestClientQueriesSeries(t *testing.T) {
	c, ctx, at := prometheus(t), t.Context(), time.UnixMilli(1795261527500)
	now, err := c.Query(ctx, "up")
	if err != nil || len(now) != 1 || now[0].Labels["job"] != "shop" || now[0].Value() != 3 ||
		!now[0].Samples[0].Time.Equal(at) {
		t.Errorf("query: got %+v, %v", now, err)
	}
	then, err := c.QueryRange(ctx, "up", at.Add(-time.Minute), at, time.Second)
	if err != nil || len(then) != 1 || len(then[0].Samples) != 2 || then[0].Samples[0].Value != 3 {
		t.Errorf("query_range: got %+v, %v", then, err)
	}
	exemplars, err := c.Exemplars(ctx, "up", at.Add(-time.Minute), at)
	if err != nil || len(exemplars) != 1 || exemplars[0].Exemplars[0].Labels["trace_id"] != "4711" ||
		!exemplars[0].Exemplars[0].Time.Equal(at) {
		t.Errorf("query_exemplars: got %+v, %v", exemplars, err)
	}
	series, err := c.Series(ctx, at.Add(-time.Minute), at, "up")
	if err != nil || len(series) != 1 || series[0]["job"] != "shop" {
		t.Errorf("series: got %v, %v", series, err)
	}
}

func TestRefusedQueriesAreErrors(t *testing.T) {
	_, err := prometheus(t).Query(t.Context(), "(")
	if err == nil || !strings.Contains(err.Error(), "unclosed left parenthesis") {
		t.Errorf("got %v, want the message of Prometheus", err)
	}
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	if _, err := at(t, s.URL).AlertNames(t.Context()); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("another server: got %v, want the HTTP status", err)
	}
}

func TestExemplarsOfMCPMetricsAreTheNewestFirst(t *testing.T) {
	queries := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		queries <- r.FormValue("query")
		fmt.Fprint(w, `{"status":"success","data":[{"exemplars":[{"labels":{"trace_id":"1"},"value":"1","timestamp":1},
{"labels":{"trace_id":"3"},"value":"1","timestamp":3}]},{"exemplars":[{"labels":{},"value":"1","timestamp":4},
{"labels":{"trace_id":"2"},"value":"1","timestamp":2}]}]}`)
	}))
	defer s.Close()
	now := time.Now()
	for metric, want := range map[string]string{
		"": `{__name__=~"mcp_(client|server)_.+",a="b",job="x\"y"}`, "mcp_client_x": `{__name__="mcp_client_x",a="b",job="x\"y"}`,
	} {
		found, err := at(t, s.URL).MCPExemplars(t.Context(), metric, prom.Labels{"job": `x"y`, "a": "b"}, now, now)
		if query := <-queries; query != want {
			t.Errorf("want the query %s, got %s", want, query)
		}
		var ids []string
		for _, e := range found {
			ids = append(ids, e.Labels["trace_id"])
		}
		if err != nil || !slices.Equal(ids, []string{"3", "2", "1"}) {
			t.Errorf("want the traces, the newest first, got %q, %v", ids, err)
		}
	}
}
