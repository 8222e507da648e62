package otlp

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.opentelemetry.io/contrib/propagators/autoprop"
	"go.opentelemetry.io/otel/propagation"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// A signal is one of the three kinds of telemetry.
type signal string

const (
	traces  signal = "traces"
	metrics signal = "metrics"
	logs    signal = "logs"
)

// key is the signal as the variables name it.
func (s signal) key() string { return strings.ToUpper(string(s)) }

// settings is what the variables say that the SDK and its exporters do not read themselves.
type settings struct {
	disabled   bool
	exported   map[signal]bool
	propagator propagation.TextMapPropagator
	warnings   []error // the specification wants these values ignored, not refused
}

// readEnv reads the variables with getenv. If direct, an endpoint was given in the program and the variables that
// choose exporters and protocols have no say. The error names every wrong variable at once.
func readEnv(getenv func(string) string, direct bool) (settings, error) {
	env := func(key string) string { return strings.TrimSpace(getenv(key)) }
	s := settings{exported: make(map[signal]bool)}

	switch v := strings.ToLower(env("OTEL_SDK_DISABLED")); v {
	case "true":
		s.disabled = true
	case "", "false":
	default:
		s.warnings = append(s.warnings, fmt.Errorf("OTEL_SDK_DISABLED: %q is neither true nor false, taken as false", v))
	}

	var wrong problems
	var err error
	s.propagator, err = readPropagators(env("OTEL_PROPAGATORS"))
	wrong.add(err)
	if s.disabled {
		return s, errors.Join(wrong...)
	}
	for _, sig := range []signal{traces, metrics, logs} {
		s.exported[sig] = true
		if direct {
			continue
		}
		s.exported[sig], err = readExporter(env, sig)
		wrong.add(err)
		if s.exported[sig] {
			wrong.add(checkProtocol(env, sig))
			wrong.add(checkEndpoint(env, sig))
		}
	}
	for _, key := range []string{"", "TRACES_", "METRICS_", "LOGS_"} {
		wrong.add(checkHeaders(env, otlpPrefix+key+"HEADERS"))
	}
	return s, errors.Join(wrong...)
}

// problems are errors, each said once: a variable for all signals is looked at for each.
type problems []error

func (p *problems) add(err error) {
	if err != nil && !slices.ContainsFunc(*p, func(e error) bool { return e.Error() == err.Error() }) {
		*p = append(*p, err)
	}
}

// readExporter reports whether the signal is exported.
func readExporter(env func(string) string, sig signal) (bool, error) {
	key := "OTEL_" + sig.key() + "_EXPORTER"
	switch v := env(key); strings.ToLower(v) {
	case "", "otlp":
		return true, nil
	case "none":
		return false, nil
	default:
		return false, fmt.Errorf("%s: %q is not supported, only otlp and none are", key, v)
	}
}

const otlpPrefix = "OTEL_EXPORTER_OTLP_"

// deciding is the variable that decides for the signal: its own, else the one for all.
func deciding(env func(string) string, sig signal, what string) (key, value string) {
	key = otlpPrefix + sig.key() + "_" + what
	if env(key) == "" {
		key = otlpPrefix + what
	}
	return key, env(key)
}

func checkProtocol(env func(string) string, sig signal) error {
	key, v := deciding(env, sig, "PROTOCOL")
	if v != "" && !strings.EqualFold(v, "grpc") {
		return fmt.Errorf("%s: %q is not supported, only grpc is", key, v)
	}
	return nil
}

// checkEndpoint finds what the three exporters would each understand in another way, "localhost:4317" above all. The
// value is not shown, since a URL can hold a password.
func checkEndpoint(env func(string) string, sig signal) error {
	key, v := deciding(env, sig, "ENDPOINT")
	if v == "" {
		return nil
	}
	if u, err := url.Parse(v); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%s: not a URL that begins with http:// (plain text) or https:// (TLS) and names a host", key)
	}
	return nil
}

// checkHeaders finds malformed headers before an exporter does, because the exporters print the value, and the value
// is usually a secret.
func checkHeaders(env func(string) string, key string) error {
	v := env(key)
	if v == "" {
		return nil
	}
	for pair := range strings.SplitSeq(v, ",") {
		name, value, found := strings.Cut(pair, "=")
		if _, err := url.PathUnescape(value); !found || err != nil || !hostname.Token(strings.TrimSpace(name)) {
			return fmt.Errorf("%s: not a list of key=value pairs with percent-encoded values (value not shown)", key)
		}
	}
	return nil
}

// readPropagators makes the propagator of a list of names, those of contrib's package autoprop: the ones that the
// specification lists, and what the program has registered there.
func readPropagators(list string) (propagation.TextMapPropagator, error) {
	if list == "" {
		list = "tracecontext,baggage"
	}
	names := strings.Split(list, ",")
	for i := range names {
		names[i] = strings.ToLower(strings.TrimSpace(names[i]))
	}
	var chosen []propagation.TextMapPropagator
	for i, name := range names {
		switch {
		case slices.Contains(names[:i], name):
			continue
		case name == "none" && len(names) > 1:
			return nil, fmt.Errorf("OTEL_PROPAGATORS: none cannot be combined with others in %q", list)
		}
		p, err := autoprop.TextMapPropagator(name)
		if err != nil {
			return nil, fmt.Errorf("OTEL_PROPAGATORS: %q is not known; tracecontext, baggage, b3, b3multi, jaeger, xray, "+
				"ottrace and none are, and what the program registers with autoprop", name)
		}
		chosen = append(chosen, p)
	}
	return propagation.NewCompositeTextMapPropagator(chosen...), nil
}
