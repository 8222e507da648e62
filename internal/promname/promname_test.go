package promname_test

import (
	"slices"
	"testing"

	"github.com/mcpotel/mcpotel/internal/promname"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func TestNamesAreThoseOfTheTranslation(t *testing.T) {
	for _, c := range []struct {
		m    telemetry.Metric
		want []string
	}{
		{telemetry.Metric{Name: "mcp.client.operation.duration", Unit: "s", Instrument: telemetry.Histogram}, []string{
			"mcp_client_operation_duration_seconds_bucket", "mcp_client_operation_duration_seconds_sum", "mcp_client_operation_duration_seconds_count",
		}},
		{telemetry.Metric{Name: "mcp_client.message.size", Unit: "By", Instrument: telemetry.Histogram}, []string{
			"mcp_client_message_size_bytes_bucket", "mcp_client_message_size_bytes_sum", "mcp_client_message_size_bytes_count",
		}},
		{telemetry.Metric{Name: "mcp_client.protocol.violations", Unit: "{violation}", Instrument: telemetry.Counter}, []string{"mcp_client_protocol_violations_total"}},
		{telemetry.Metric{Name: "mcp_client.active_requests", Unit: "{request}", Instrument: telemetry.UpDownCounter}, []string{"mcp_client_active_requests"}},
		{telemetry.Metric{Name: "mcp_client.send.queue.length", Unit: "{message}", Instrument: telemetry.ObservableGauge}, []string{"mcp_client_send_queue_length"}},
	} {
		if got := promname.Series(c.m); !slices.Equal(got, c.want) {
			t.Errorf("Series(%s) = %q, want %q", c.m.Name, got, c.want)
		}
	}
}

// mcp.client.x and mcp_client.x would be one in Prometheus, as would be the labels of two attributes.
func TestNothingOfTheSchemaCollides(t *testing.T) {
	from := map[string]string{}
	for _, m := range telemetry.Schema.Metrics {
		for _, name := range append(promname.Series(m), promname.Metric(m)) {
			if other, taken := from[name]; taken && other != m.Name {
				t.Errorf("%s and %s are both %s in Prometheus", m.Name, other, name)
			}
			from[name] = m.Name
		}
		labels := map[string]string{"job": "the service", "instance": "its instance", "le": "the bucket"}
		for _, u := range m.Attrs {
			label := promname.Label(u.Key)
			if other, taken := labels[label]; taken {
				t.Errorf("%s: %s and %s are both the label %s", m.Name, u.Key, other, label)
			}
			labels[label] = u.Key
		}
	}
}

func TestAnUnknownUnitIsNoted(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a unit without a suffix was passed over, want a panic that names it")
		}
	}()
	promname.Metric(telemetry.Metric{Name: "x", Unit: "furlong"})
}
