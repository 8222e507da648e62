package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
)

// Pipeline is where the telemetry of this process goes, by its environment.
type Pipeline struct {
	providers *otlp.Providers // nil if the environment names no Collector, or says what cannot be
	err       error           // why there are none
}

// endpointKeys are the variables that name a Collector.
var endpointKeys = []string{
	"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
	"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
}

// OpenPipeline sets up what a program of this module sets up, if the environment names a Collector. The caller must
// call [Pipeline.Close].
func OpenPipeline(ctx context.Context, service, version string) *Pipeline {
	p := &Pipeline{}
	if endpoint() == "" {
		return p
	}
	p.providers, p.err = otlp.Setup(ctx, otlp.WithServiceName(service), otlp.WithServiceVersion(version),
		otlp.WithConsole(nil, nil), otlp.WithGlobals(false))
	return p
}

// endpoint returns the first of the Collectors that the environment names.
func endpoint() string {
	for _, key := range endpointKeys {
		if v := os.Getenv(key); v != "" {
			return v
		}
	}
	return ""
}

// Tracers make spans that go to the Collector; nil if there is none.
func (p *Pipeline) Tracers() trace.TracerProvider {
	if p.providers == nil {
		return nil
	}
	return p.providers.TracerProvider()
}

// Close exports what there is, with a span, a measurement and a log record of its own, ends the pipeline and returns
// its checks. ctx bounds it.
func (p *Pipeline) Close(ctx context.Context) []Check {
	return []Check{named("collector", p.collector(ctx)), named("exemplars", p.exemplars())}
}

func (p *Pipeline) collector(ctx context.Context) answer {
	switch {
	case p.err != nil:
		return answer{Fail, p.err.Error(), "correct these variables: a program of this module does not start with them"}
	case p.providers == nil:
		return answer{Skipped, "OTEL_EXPORTER_OTLP_ENDPOINT is not set: nothing is exported", "set it, or --otlp, to the " +
			"URL of a Collector, such as http://localhost:4317"}
	}
	sent, off := exported()
	if len(sent) == 0 {
		return answer{Warn, "a Collector is named, and nothing is exported: OTEL_SDK_DISABLED or OTEL_*_EXPORTER says so",
			"unset these variables"}
	}
	const scope = "github.com/mcpotel/mcpotel/internal/command/doctor"
	spanCtx, span := p.providers.TracerProvider().Tracer(scope).Start(ctx, "mcpotel doctor collector")
	counter, err := p.providers.MeterProvider().Meter(scope).Int64Counter("mcpotel.doctor.runs")
	if err == nil {
		counter.Add(spanCtx, 1)
	}
	p.providers.Logger().InfoContext(spanCtx, "mcpotel doctor")
	span.End()
	begun := time.Now()
	err = errors.Join(err, p.providers.Shutdown(ctx))
	host := hostOf(endpoint())
	if err == nil {
		found := fmt.Sprintf("%s took %s within %s", host, strings.Join(sent, ", "), unit.Duration(time.Since(begun)))
		if len(off) > 0 {
			return answer{Note, found + "; not exported: " + strings.Join(off, ", "), "unset OTEL_*_EXPORTER if all is wanted"}
		}
		return answer{OK, found, ""}
	}
	if errors.Is(reachable(ctx, host), syscall.ECONNREFUSED) {
		return answer{Fail, "nothing listens at " + host, "start the Collector, or correct the port: 4317 is that of OTLP " +
			"over gRPC"}
	}
	return answer{Fail, host + " does not take telemetry: " + strings.ReplaceAll(err.Error(), "\n", "; "),
		"is it a receiver of OTLP over gRPC, mostly at port 4317? http:// means plain text, https:// TLS"}
}

// exported returns which signals the environment wants exported, and which not.
func exported() (sent, off []string) {
	disabled := strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true")
	for _, signal := range []string{"traces", "metrics", "logs"} {
		if disabled || strings.EqualFold(os.Getenv("OTEL_"+strings.ToUpper(signal)+"_EXPORTER"), "none") {
			off = append(off, signal)
		} else {
			sent = append(sent, signal)
		}
	}
	return sent, off
}

// hostOf returns host and port of a URL, and without its user.
func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "the Collector"
	}
	if u.Port() == "" {
		return net.JoinHostPort(u.Hostname(), "4317")
	}
	return u.Host
}

// reachable returns why no connection can be made, nil if it can. It takes two seconds at most, also if ctx has ended:
// a busy machine may need more than a fifth of one to hear that it is refused.
func reachable(ctx context.Context, host string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	return c.Close()
}

// exemplars judges whether metrics lead to traces.
func (p *Pipeline) exemplars() answer {
	if p.providers == nil {
		return answer{Skipped, "there are no metrics without a Collector", ""}
	}
	const key = "OTEL_METRICS_EXEMPLAR_FILTER"
	switch sampler := os.Getenv("OTEL_TRACES_SAMPLER"); {
	case os.Getenv(key) == "always_off":
		return answer{Warn, "off: no bucket of a histogram leads to a trace", "unset " + key}
	case os.Getenv(key) == "always_on":
		return answer{Note, "on for all measurements, those whose trace is not kept included", "unset " + key}
	case strings.HasSuffix(sampler, "always_off"):
		return answer{Warn, "no trace is sampled, and so no bucket of a histogram leads to one", "unset OTEL_TRACES_SAMPLER"}
	}
	return answer{OK, "recorded for measurements in sampled spans; Prometheus keeps them with " +
		"--enable-feature=exemplar-storage", ""}
}
