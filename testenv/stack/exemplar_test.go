package stack_test

import (
	"context"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/testenv/stack/jaeger"
)

// TestAnExemplarLeadsToItsTrace follows the exemplar of a bucket of each histogram from Prometheus to the measured span
// in Jaeger.
func TestAnExemplarLeadsToItsTrace(t *testing.T) {
	ctx := limit(t, time.Minute)
	p := &pair{name: "exemplars", modern: true}
	providers := service(t, up, p.clientName())
	c, err := overHTTP(transport.ModeStreamable)(t, ctx, p, providers)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close(context.Background())
	for _, tc := range []struct{ series, kind, tool string }{
		{`mcp_client_operation_duration_seconds_bucket{job="` + p.clientName() + `",gen_ai_tool_name="add"}`, "CLIENT",
			"add"},
		{`mcp_client_operation_duration_seconds_bucket{job="` + p.clientName() + `",error_type="tool_error"}`, "CLIENT",
			"fail"},
		{`mcp_server_operation_duration_seconds_bucket{job="` + p.serverName() + `",gen_ai_tool_name="add"}`, "SERVER",
			"add"},
		{`traces_span_metrics_duration_seconds_bucket{service_name="` + p.serverName() + `",gen_ai_tool_name="big"}`,
			"SERVER", "big"},
	} {
		t.Run(tc.series, func(t *testing.T) {
			var ids map[string]string
			until(t, ctx, "there is an exemplar", func() bool {
				c.call(ctx, &calling{tool: tc.tool}) // the span metrics keep an exemplar only briefly
				found, err := up.Metrics.Exemplars(ctx, tc.series, time.Now().Add(-time.Hour), time.Now().Add(time.Minute))
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range found {
					for _, e := range s.Exemplars {
						ids = e.Labels
					}
				}
				return ids["trace_id"] != ""
			})
			tr, err := up.Traces.Await(ctx, ids["trace_id"], func(tr *jaeger.Trace) bool {
				return tr.Span(ids["span_id"]) != nil
			})
			if err != nil {
				t.Fatalf("want the span of the exemplar %v: %v", ids, err)
			}
			if s := tr.Span(ids["span_id"]); s.Kind != tc.kind || s.Name != "tools/call "+tc.tool {
				t.Errorf("want the exemplar to lead to %s tools/call %s, got %v", tc.kind, tc.tool, s)
			}
		})
	}
}
