package otlp

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(env map[string]string, direct bool) (settings, error) {
	return readEnv(func(key string) string { return env[key] }, direct, map[signal][]string{traces: {"zipkin"}})
}

func TestVariablesSelectExportedSignals(t *testing.T) {
	for _, tc := range []struct {
		name   string
		env    map[string]string
		direct bool
		want   []signal
	}{
		{"nothing set", nil, false, []signal{logs, metrics, traces}},
		{"otlp in capitals", map[string]string{"OTEL_TRACES_EXPORTER": " OTLP "}, false, []signal{logs, metrics, traces}},
		{"no logs", map[string]string{"OTEL_LOGS_EXPORTER": "none"}, false, []signal{metrics, traces}},
		{"no metrics but direct", map[string]string{"OTEL_METRICS_EXPORTER": "none"}, true, []signal{logs, metrics, traces}},
		{"disabled", map[string]string{"OTEL_SDK_DISABLED": "True"}, false, nil},
		{"disabled and direct", map[string]string{"OTEL_SDK_DISABLED": "true"}, true, nil},
		{"disabled, rest wrong", map[string]string{"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "x"}, false, nil},
		{"not disabled", map[string]string{"OTEL_SDK_DISABLED": "false"}, false, []signal{logs, metrics, traces}},
		{"invalid protocol of a disabled signal",
			map[string]string{"OTEL_LOGS_EXPORTER": "none",
				"OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "http/json"}, false, []signal{metrics, traces}},
		{"invalid protocol of a signal with another exporter",
			map[string]string{"OTEL_LOGS_EXPORTER": "console",
				"OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "http/json"}, false, []signal{logs, metrics, traces}},
		{"a file, no exported signal", map[string]string{"OTEL_CONFIG_FILE": "otel.yaml", "OTEL_TRACES_EXPORTER": "none",
			"OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"}, false, nil},
		{"a file and an endpoint in the program", map[string]string{"OTEL_CONFIG_FILE": "otel.yaml"}, true,
			[]signal{logs, metrics, traces}},
		{"an exporter that the program adds", map[string]string{"OTEL_TRACES_EXPORTER": "zipkin"}, false,
			[]signal{logs, metrics, traces}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := read(tc.env, tc.direct)
			if err != nil {
				t.Fatalf("error = %v, want none", err)
			}
			maps.DeleteFunc(s.exporters, func(_ signal, to []string) bool { return len(to) == 0 })
			if got := slices.Sorted(maps.Keys(s.exporters)); !slices.Equal(got, tc.want) {
				t.Errorf("exported = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestInvalidVariablesAreNamedOnceWithoutSecrets(t *testing.T) {
	const secret = "hunter2"
	for _, tc := range []struct{ key, value string }{
		{"OTEL_TRACES_EXPORTER", "jaeger"},
		{"OTEL_TRACES_EXPORTER", "otlp,none"},
		{"OTEL_METRICS_EXPORTER", "prometheus"},
		{"OTEL_LOGS_EXPORTER", "zipkin"},
		{"OTEL_LOGS_EXPORTER", "otlp,,console"},
		{"OTEL_CONFIG_FILE", "otel.yaml"},
		{"OTEL_PROPAGATORS", "tracecontext,skywalking"},
		{"OTEL_PROPAGATORS", "none,baggage"},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "http"},
		{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "udp"},
		{"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json"},
		{"OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "http/json"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "unix:///run/collector"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://me:" + secret + "@host:x"},
		{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "ftp://me:" + secret + "@host"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "authorization: " + secret},
		{"OTEL_EXPORTER_OTLP_HEADERS", "ok=1,in valid=" + secret},
		{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "key=" + secret + "%zz"},
		{"OTEL_EXPORTER_OTLP_METRICS_HEADERS", "=" + secret},
		{"OTEL_EXPORTER_OTLP_LOGS_HEADERS", secret},
	} {
		_, err := read(map[string]string{tc.key: tc.value}, false)
		if err == nil {
			t.Errorf("%s=%s: no error, want one", tc.key, tc.value)
			continue
		}
		if got := strings.Count(err.Error(), tc.key); got != 1 {
			t.Errorf("%s=%s: the error names the variable %d times, want once: %v", tc.key, tc.value, got, err)
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error shows the secret: %v", tc.key, err)
		}
	}
}

func TestVariablesSelectExportersAndProtocols(t *testing.T) {
	for _, tc := range []struct {
		env       map[string]string
		exporters map[signal][]string
		protocols map[signal]protocol
	}{
		{nil, map[signal][]string{traces: {"otlp"}, metrics: {"otlp"}, logs: {"otlp"}},
			map[signal]protocol{traces: overGRPC, metrics: overGRPC, logs: overGRPC}},
		{map[string]string{"OTEL_TRACES_EXPORTER": "Console, otlp,console,zipkin", "OTEL_METRICS_EXPORTER": "console",
			"OTEL_LOGS_EXPORTER": "none"},
			map[signal][]string{traces: {"console", "otlp", "zipkin"}, metrics: {"console"}, logs: nil},
			map[signal]protocol{traces: overGRPC}},
		{map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "HTTP/protobuf", "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "grpc",
			"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"},
			map[signal][]string{traces: {"otlp"}, metrics: {"otlp"}, logs: {"otlp"}},
			map[signal]protocol{traces: overJSON, metrics: overHTTP, logs: overGRPC}},
	} {
		s, err := read(tc.env, false)
		if err != nil || !maps.EqualFunc(s.exporters, tc.exporters, slices.Equal) || !maps.Equal(s.protocols, tc.protocols) {
			t.Errorf("%v: got %v by %v, error %v; want %v by %v", tc.env, s.exporters, s.protocols, err, tc.exporters,
				tc.protocols)
		}
	}
}

func TestValidVariablesAreAccepted(t *testing.T) {
	env := map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT":         "http://localhost:4317",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT":  "https://[::1]:4317",
		"OTEL_EXPORTER_OTLP_PROTOCOL":         "GRPC",
		"OTEL_EXPORTER_OTLP_HEADERS":          "authorization=Bearer%20x, x-tenant=a=b",
		"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "grpc",
	}
	if _, err := read(env, false); err != nil {
		t.Errorf("error = %v, want none", err)
	}
}

func TestVariableSelectsPropagators(t *testing.T) {
	for list, want := range map[string][]string{
		"":                               {"baggage", "traceparent", "tracestate"},
		"tracecontext":                   {"traceparent", "tracestate"},
		" Baggage ,tracecontext,baggage": {"baggage", "traceparent", "tracestate"},
		"none":                           nil,
		"b3":                             {"b3"},
		"B3Multi":                        {"x-b3-flags", "x-b3-sampled", "x-b3-spanid", "x-b3-traceid"},
		"xray,tracecontext":              {"X-Amzn-Trace-Id", "traceparent", "tracestate"},
		"jaeger":                         {"uber-trace-id"},
		"ottrace":                        {"ot-tracer-sampled", "ot-tracer-spanid", "ot-tracer-traceid"},
	} {
		s, err := read(map[string]string{"OTEL_PROPAGATORS": list}, false)
		if err != nil {
			t.Errorf("%q: %v", list, err)
			continue
		}
		if got := slices.Sorted(slices.Values(s.propagator.Fields())); !slices.Equal(got, want) {
			t.Errorf("%q writes %q, want %q", list, got, want)
		}
	}
}

func TestInvalidSDKDisabledIsFalseWithWarning(t *testing.T) {
	s, err := read(map[string]string{"OTEL_SDK_DISABLED": "1"}, false)
	if err != nil || s.disabled || len(s.warnings) != 1 {
		t.Errorf("OTEL_SDK_DISABLED=1: disabled %v, warnings %v, error %v; want false, one warning, no error", s.disabled,
			s.warnings, err)
	}
}

func TestPackageCommentNamesEveryVariable(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	asked := make(map[string]bool)
	if _, err := readEnv(func(key string) string { asked[key] = true; return "" }, false, nil); err != nil {
		t.Fatal(err)
	}
	signals := regexp.MustCompile(`^OTEL_EXPORTER_OTLP(_TRACES|_METRICS|_LOGS)(_.*)$`)
	for key := range asked {
		named := strings.Contains(string(doc), key)
		if m := signals.FindStringSubmatch(key); m != nil && m[1] != "_TRACES" {
			named = strings.Contains(string(doc), " "+m[1]+m[2]) // after the variable of traces, on its line
		}
		if !named {
			t.Errorf("doc.go does not name %s", key)
		}
	}
	if len(asked) < 12 {
		t.Errorf("only %d variables are read, want at least 12", len(asked))
	}
}
