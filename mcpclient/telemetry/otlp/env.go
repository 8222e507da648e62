package otlp

import (
	"cmp"
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

// key returns the signal's name in the variables.
func (s signal) key() string { return strings.ToUpper(string(s)) }

// settings holds the values of the variables that the SDK and its exporters do not read themselves.
type settings struct {
	disabled   bool
	exporters  map[signal][]string // without duplicates; empty for a signal that is not exported
	protocols  map[signal]protocol // protocols of the exporter otlp
	propagator propagation.TextMapPropagator
	warnings   []error // problems that the specification tells programs to ignore
}

// Exporters of the specification that this package has. A program may add others.
const (
	toOTLP    = "otlp"
	toConsole = "console"
	toNone    = "none"
)

// protocol is the protocol of the exporter otlp.
type protocol string

const (
	overGRPC protocol = "grpc"
	overHTTP protocol = "http/protobuf"
	overJSON protocol = "http/json"
)

// spoken returns the protocols that the SDK supports for a signal.
func (s signal) spoken() []protocol {
	if s == traces {
		return []protocol{overGRPC, overHTTP, overJSON}
	}
	return []protocol{overGRPC, overHTTP}
}

// readEnv reads the variables with getenv. direct is true if the program has set an endpoint; then the variables for
// exporters and protocols are ignored. added lists the exporters that the program has added. The error names all
// invalid variables.
func readEnv(getenv func(string) string, direct bool, added map[signal][]string) (settings, error) {
	env := func(key string) string { return strings.TrimSpace(getenv(key)) }
	s := settings{exporters: make(map[signal][]string), protocols: make(map[signal]protocol)}

	switch v := strings.ToLower(env("OTEL_SDK_DISABLED")); v {
	case "true":
		s.disabled = true
	case "", "false":
	default:
		s.warnings = append(s.warnings, fmt.Errorf("OTEL_SDK_DISABLED: %q is neither true nor false; false is assumed", v))
	}

	var wrong problems
	var err error
	s.propagator, err = readPropagators(env("OTEL_PROPAGATORS"))
	wrong.add(err)
	if s.disabled {
		return s, errors.Join(wrong...)
	}
	for _, sig := range []signal{traces, metrics, logs} {
		if direct {
			s.exporters[sig], s.protocols[sig] = []string{toOTLP}, overGRPC
			_, err = readTimeout(env, sig)
			wrong.add(err)
			continue
		}
		s.exporters[sig], err = readExporters(env, sig, added[sig])
		wrong.add(err)
		if len(s.exporters[sig]) > 0 && env(configFile) != "" {
			wrong.add(fmt.Errorf("%s: package otlp reads no configuration file; use Setup of package otelsetup", configFile))
		}
		if slices.Contains(s.exporters[sig], toOTLP) {
			s.protocols[sig], err = readProtocol(env, sig)
			wrong.add(err)
			wrong.add(checkEndpoint(env, sig))
			_, err = readTimeout(env, sig)
			wrong.add(err)
		}
	}
	wrong = append(wrong, s.checkNumbers(getenv)...)
	for _, key := range []string{"", "TRACES_", "METRICS_", "LOGS_"} {
		wrong.add(checkHeaders(env, otlpPrefix+key+"HEADERS"))
	}
	return s, errors.Join(wrong...)
}

// problems holds errors without duplicates: a variable for all signals is checked for each signal.
type problems []error

func (p *problems) add(err error) {
	if err != nil && !slices.ContainsFunc(*p, func(e error) bool { return e.Error() == err.Error() }) {
		*p = append(*p, err)
	}
}

// configFile is the variable that names a configuration file. The file replaces all other variables.
const configFile = "OTEL_CONFIG_FILE"

// readExporters returns the exporters of a signal.
func readExporters(env func(string) string, sig signal, added []string) (chosen []string, err error) {
	key := "OTEL_" + sig.key() + "_EXPORTER"
	known := append([]string{toOTLP, toConsole}, added...)
	list := cmp.Or(env(key), toOTLP)
	for name := range strings.SplitSeq(list, ",") {
		switch name = strings.ToLower(strings.TrimSpace(name)); {
		case name == toNone && !strings.Contains(list, ","):
		case name == toNone:
			return nil, fmt.Errorf("%s: none cannot be combined with others in %q", key, list)
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("%s: %q is unknown; use %s or none, prometheus with package otelsetup, or an exporter "+
				"that the program adds with an option", key, name, strings.Join(known, ", "))
		case !slices.Contains(chosen, name):
			chosen = append(chosen, name)
		}
	}
	return chosen, nil
}

const otlpPrefix = "OTEL_EXPORTER_OTLP_"

// deciding returns the variable that applies to the signal: its own, else the general one.
func deciding(env func(string) string, sig signal, what string) (key, value string) {
	key = otlpPrefix + sig.key() + "_" + what
	if env(key) == "" {
		key = otlpPrefix + what
	}
	return key, env(key)
}

func readProtocol(env func(string) string, sig signal) (protocol, error) {
	key, v := deciding(env, sig, "PROTOCOL")
	p := cmp.Or(protocol(strings.ToLower(v)), overGRPC)
	if !slices.Contains(sig.spoken(), p) {
		return "", fmt.Errorf("%s: %q is not supported; grpc and http/protobuf are, and http/json for traces", key, v)
	}
	return p, nil
}

// checkEndpoint finds endpoints that the three exporters would interpret differently, above all "localhost:4317". The
// error omits the value, since a URL can hold a password.
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

// checkHeaders finds malformed headers before an exporter does, because exporters print the value, which is usually a
// secret.
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

// readPropagators makes the propagator for a list of names of contrib's package autoprop: the names of the
// specification, and names that the program has registered there.
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
			return nil, fmt.Errorf("OTEL_PROPAGATORS: %q is unknown; use tracecontext, baggage, b3, b3multi, jaeger, xray, "+
				"ottrace, none, or a propagator that the program registers with autoprop", name)
		}
		chosen = append(chosen, p)
	}
	return propagation.NewCompositeTextMapPropagator(chosen...), nil
}
