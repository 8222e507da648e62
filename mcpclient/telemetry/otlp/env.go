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

// key is the signal as the variables name it.
func (s signal) key() string { return strings.ToUpper(string(s)) }

// settings is what the variables say that the SDK and its exporters do not read themselves.
type settings struct {
	disabled   bool
	exporters  map[signal][]string // each once; none for a signal that is not exported
	protocols  map[signal]protocol // of the exporter otlp
	propagator propagation.TextMapPropagator
	warnings   []error // the specification wants these values ignored, not refused
}

// The exporters of the specification that are here. A program may add more.
const (
	toOTLP    = "otlp"
	toConsole = "console"
	toNone    = "none"
)

// protocol is how the exporter otlp sends.
type protocol string

const (
	overGRPC protocol = "grpc"
	overHTTP protocol = "http/protobuf"
	overJSON protocol = "http/json"
)

// spoken are the protocols that the SDK has for a signal.
func (s signal) spoken() []protocol {
	if s == traces {
		return []protocol{overGRPC, overHTTP, overJSON}
	}
	return []protocol{overGRPC, overHTTP}
}

// readEnv reads the variables with getenv. If direct, an endpoint was given in the program and the variables that
// choose exporters and protocols have no say. added are the exporters that the program has beside those of this
// package. The error names every wrong variable at once.
func readEnv(getenv func(string) string, direct bool, added map[signal][]string) (settings, error) {
	env := func(key string) string { return strings.TrimSpace(getenv(key)) }
	s := settings{exporters: make(map[signal][]string), protocols: make(map[signal]protocol)}

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

// problems are errors, each said once: a variable for all signals is looked at for each.
type problems []error

func (p *problems) add(err error) {
	if err != nil && !slices.ContainsFunc(*p, func(e error) bool { return e.Error() == err.Error() }) {
		*p = append(*p, err)
	}
}

// configFile is the variable that names a file which takes the place of all others.
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
			return nil, fmt.Errorf("%s: %q is not known; %s and none are, prometheus in package otelsetup, and what the "+
				"program adds with an option", key, name, strings.Join(known, ", "))
		case !slices.Contains(chosen, name):
			chosen = append(chosen, name)
		}
	}
	return chosen, nil
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

func readProtocol(env func(string) string, sig signal) (protocol, error) {
	key, v := deciding(env, sig, "PROTOCOL")
	p := cmp.Or(protocol(strings.ToLower(v)), overGRPC)
	if !slices.Contains(sig.spoken(), p) {
		return "", fmt.Errorf("%s: %q is not supported; grpc and http/protobuf are, and http/json for traces", key, v)
	}
	return p, nil
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
