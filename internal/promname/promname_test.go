package promname_test

import (
	"slices"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/internal/promname"
)

// TestSeriesNamesOfTheSchemaAreUnique covers every series of every metric: in Prometheus, the names mcp.client.x and
// mcp_client.x would collide, and so would a histogram's count and a counter with the same name.
func TestSeriesNamesOfTheSchemaAreUnique(t *testing.T) {
	whose := map[string]string{}
	for _, m := range schema.Current.Metrics {
		for _, series := range append(promname.Metric(m), promname.Base(m)) {
			if other, taken := whose[series]; taken && other != m.Name {
				t.Errorf("series %s belongs to both %s and %s, want a single metric", series, other, m.Name)
			}
			whose[series] = m.Name
		}
	}
}

// reserved are the labels that Prometheus and the Collector add to series.
var reserved = []string{
	"__name__", "le", "quantile", "job", "instance", "otel_scope_name", "otel_scope_version", "otel_scope_schema_url",
}

func TestLabelsOfTheSchemaAreUnique(t *testing.T) {
	whose := map[string]string{}
	for _, a := range schema.Current.Attributes {
		label := promname.Label(a.Key)
		if other, taken := whose[label]; taken {
			t.Errorf("label %s belongs to both %s and %s, want a single attribute", label, other, a.Key)
		}
		whose[label] = a.Key
		if slices.Contains(reserved, label) {
			t.Errorf("the label %s of attribute %s is reserved by Prometheus", label, a.Key)
		}
	}
}

func TestMetricNamesMatchTheCollector(t *testing.T) {
	for _, tt := range []struct {
		metric schema.Metric
		want   []string
	}{
		{schema.Metric{Name: "mcp.client.operation.duration", Instrument: schema.Histogram, Unit: "s"},
			[]string{
				"mcp_client_operation_duration_seconds_bucket", "mcp_client_operation_duration_seconds_sum",
				"mcp_client_operation_duration_seconds_count",
			}},
		{schema.Metric{Name: "mcp_client.message.size", Instrument: schema.Histogram, Unit: "By"},
			[]string{
				"mcp_client_message_size_bytes_bucket", "mcp_client_message_size_bytes_sum", "mcp_client_message_size_bytes_count",
			}},
		{schema.Metric{Name: "mcp_client.active_requests", Instrument: schema.UpDownCounter, Unit: "{request}"},
			[]string{"mcp_client_active_requests"}},
		{schema.Metric{Name: "mcp_client.connection.state", Instrument: schema.ObservableUpDownCounter, Unit: "{connection}"},
			[]string{"mcp_client_connection_state"}},
		{schema.Metric{Name: "mcp_client.protocol.violations", Instrument: schema.Counter, Unit: "{violation}"},
			[]string{"mcp_client_protocol_violations_total"}},
		{schema.Metric{Name: "mcp_server.client.requests", Instrument: schema.ObservableCounter, Unit: "{request}"},
			[]string{"mcp_server_client_requests_total"}},
		{schema.Metric{Name: "requests.total", Instrument: schema.Counter, Unit: "{request}"}, []string{"requests_total"}},
		{schema.Metric{Name: "wait.seconds", Instrument: schema.ObservableGauge, Unit: "s"}, []string{"wait_seconds"}},
	} {
		if got := promname.Metric(tt.metric); !slices.Equal(got, tt.want) {
			t.Errorf("series of %s: got %q, want %q", tt.metric.Name, got, tt.want)
		}
	}
}

func TestLabelsMatchTheCollector(t *testing.T) {
	for key, want := range map[string]string{
		"error.type": "error_type", "mcp_client.name": "mcp_client_name",
		"rpc.response.status_code": "rpc_response_status_code",
		"3rd-party":                "key_3rd_party", "": "",
	} {
		if got := promname.Label(key); got != want {
			t.Errorf("label of %q: got %q, want %q", key, got, want)
		}
	}
}
