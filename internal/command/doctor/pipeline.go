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

// Pipeline is the telemetry export of this process, as configured by its environment.
type Pipeline struct {
	providers *otlp.Providers // nil if the environment names no Collector or is invalid
	err       error           // why the environment is invalid
}

// endpointKeys are the environment variables that name a Collector.
var endpointKeys = []string{
	"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
	"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
}

// OpenPipeline starts the same export that a program of this module starts, if the environment names a Collector. The
// caller must call [Pipeline.Close].
func OpenPipeline(ctx context.Context, service, version string) *Pipeline {
	p := &Pipeline{}
	if endpoint() == "" {
		return p
	}
	p.providers, p.err = otlp.Setup(ctx, otlp.WithServiceName(service), otlp.WithServiceVersion(version),
		otlp.WithConsole(nil, nil), otlp.WithGlobals(false))
	return p
}

// endpoint returns the first Collector that the environment names.
func endpoint() string {
	for _, key := range endpointKeys {
		if v := os.Getenv(key); v != "" {
			return v
		}
	}
	return ""
}

// Tracers returns a provider of spans that go to the Collector, or nil if there is no Collector.
func (p *Pipeline) Tracers() trace.TracerProvider {
	if p.providers == nil {
		return nil
	}
	return p.providers.TracerProvider()
}

// Close exports a span, a measurement and a log record, flushes and ends the pipeline, and returns the checks of the
// pipeline. ctx limits the duration of Close.
func (p *Pipeline) Close(ctx context.Context) []Check {
	return []Check{named("collector", p.collector(ctx)), named("exemplars", p.exemplars())}
}

func (p *Pipeline) collector(ctx context.Context) answer {
	switch {
	case p.err != nil:
		return answer{Fail, p.err.Error(), "correct these variables: programs of this module do not start with them"}
	case p.providers == nil:
		return answer{Skipped, "OTEL_EXPORTER_OTLP_ENDPOINT is not set: nothing is exported", "set it, or --otlp, to the " +
			"URL of a Collector, for example http://localhost:4317"}
	}
	sent, off := exported()
	if len(sent) == 0 {
		return answer{Warn, "a Collector is configured, but OTEL_SDK_DISABLED or OTEL_*_EXPORTER disables the export",
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
		found := fmt.Sprintf("%s accepted %s within %s", host, strings.Join(sent, ", "), unit.Duration(time.Since(begun)))
		if len(off) > 0 {
			return answer{Note, found + "; not exported: " + strings.Join(off, ", "), "unset OTEL_*_EXPORTER to export all " +
				"signals"}
		}
		return answer{OK, found, ""}
	}
	if errors.Is(reachable(ctx, host), syscall.ECONNREFUSED) {
		return answer{Fail, "nothing listens at " + host, "start the Collector, or correct the port: OTLP over gRPC uses " +
			"4317"}
	}
	return answer{Fail, host + " does not accept telemetry: " + strings.ReplaceAll(err.Error(), "\n", "; "),
		"check that it is an OTLP/gRPC receiver, usually at port 4317; http:// means plain text, https:// TLS"}
}

// exported returns the signals that the environment enables and disables.
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

// hostOf returns the host and port of a URL, without its user.
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

// reachable tries to connect to host, and returns the error or nil. It waits for up to two seconds, even if ctx has
// ended: on a busy machine, the refusal of a connection may take more than 200 ms.
func reachable(ctx context.Context, host string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	return c.Close()
}

// exemplars checks whether metrics link to traces.
func (p *Pipeline) exemplars() answer {
	if p.providers == nil {
		return answer{Skipped, "there are no metrics without a Collector", ""}
	}
	const key = "OTEL_METRICS_EXEMPLAR_FILTER"
	switch sampler := os.Getenv("OTEL_TRACES_SAMPLER"); {
	case os.Getenv(key) == "always_off":
		return answer{Warn, "off: histograms do not link to traces", "unset " + key}
	case os.Getenv(key) == "always_on":
		return answer{Note, "on for all measurements, including measurements in traces that are not sampled", "unset " + key}
	case strings.HasSuffix(sampler, "always_off"):
		return answer{Warn, "traces are not sampled, so histograms cannot link to traces", "unset OTEL_TRACES_SAMPLER"}
	}
	return answer{OK, "recorded for measurements in sampled spans; Prometheus keeps them with " +
		"--enable-feature=exemplar-storage", ""}
}
