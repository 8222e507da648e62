package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"
	"golang.org/x/term"

	"github.com/mcpotel/mcpotel/internal/command/traceview"
	"github.com/mcpotel/mcpotel/internal/loopback"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/internal/waterfall"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/audit"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// observation is the telemetry of one run. Log records go to the console. OTLP carries the telemetry to the collector
// that the environment names, or to a receiver in this process. From the spans in this receiver, the command draws
// traces.
type observation struct {
	providers *otlp.Providers
	sink      *otlpsink.Sink // nil if a collector receives the telemetry, or if nothing is exported
	site      *loopback.Site // nil without --web
	audit     *audit.Log     // nil without --audit
	stderr    io.Writer
}

// exportsSoon makes a command export shortly after an event, because a person waits for the telemetry.
var exportsSoon = otlp.WithExportInterval(100 * time.Millisecond)

// signals are the kinds of telemetry, as they appear in the names of environment variables.
var signals = []string{"TRACES", "METRICS", "LOGS"}

// anyPort is the address of a receiver that only this process and its servers use.
const anyPort = "127.0.0.1:0"

// receiverIf returns anyPort if a receiver is wanted, otherwise no address.
func receiverIf(wanted bool) string {
	if wanted {
		return anyPort
	}
	return ""
}

// observe sets up the telemetry. If receiver is an address and the environment names neither a collector nor another
// exporter, a receiver at this address keeps the telemetry. An empty address means no receiver.
func observe(ctx context.Context, service string, console slog.Leveler, w io.Writer, receiver string,
	options ...otlp.Option) (*observation, error) {
	o := &observation{stderr: w}
	options = append(options, otlp.WithServiceName(service), otlp.WithServiceVersion(version()),
		otlp.WithConsole(w, console))
	switch {
	case hasCollector(os.Environ()):
	case receiver != "" && !hasExporter(os.Getenv):
		var err error
		if o.sink, err = otlpsink.Listen(receiver); err != nil {
			return nil, taken("grpc", receiver, err)
		}
		options = append(options, otlp.WithEndpoint(o.sink.Endpoint()), exportsSoon)
	default:
		for _, signal := range signals {
			os.Setenv("OTEL_"+signal+"_EXPORTER", cmp.Or(os.Getenv("OTEL_"+signal+"_EXPORTER"), "none"))
		}
	}
	var err error
	if o.providers, err = otlp.Setup(ctx, options...); err != nil {
		o.close(ctx)
		return nil, &exitError{exitUsage, err}
	}
	return o, nil
}

// auditTo audits the calls of tools. It must be called before telemetry.
func (o *observation) auditTo(a *auditFlags) (err error) {
	o.audit, err = a.open()
	return err
}

// publish opens the page with the telemetry that this process receives.
func (o *observation) publish(w webFlag) error {
	if !w.wanted {
		return nil
	}
	if o.sink == nil {
		return noSink("--web")
	}
	var err error
	o.site, err = openSite("web", w.address, withDebugPage(traceview.Options{Snapshot: o.sink.Snapshot}))
	return err
}

// noSink returns the error for pages without a receiver in this process.
func noSink(what string) error {
	return misuse("%s needs the telemetry in this process, but the environment names a collector or "+
		"an exporter (OTEL_EXPORTER_OTLP_…ENDPOINT, OTEL_…_EXPORTER): unset the variable", what)
}

// stay keeps the page open until ctx ends. Without a page it returns immediately.
func (o *observation) stay(ctx context.Context, w io.Writer) {
	if o.site == nil || ctx.Err() != nil {
		return
	}
	flushing, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_ = o.providers.ForceFlush(flushing) // on failure, the page lacks some spans
	_ = printText(w, "The traces are at "+o.site.URL+"\nCtrl-C ends the command.")
	<-ctx.Done()
}

// exporting returns t with environment variables that make the server export to this process. A command calls it for
// each of its transports. It returns t unchanged if this process has no receiver, if the server's environment names a
// collector, or if t does not start a process.
func (o *observation) exporting(t transport.Transport) transport.Transport {
	s, ok := t.(transport.Stdio)
	if !ok || o.sink == nil || hasCollector(s.Env) {
		return t
	}
	if s.Env == nil {
		s.Env = os.Environ()
	}
	s.Env = append(slices.Concat(hasty, s.Env), "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+o.sink.Endpoint(),
		"OTEL_EXPORTER_OTLP_PROTOCOL=grpc")
	return s
}

// hasty are environment variables that make a server export to this process without delay, because a person waits for
// the telemetry. The user's variables follow them in the environment, and therefore override them.
var hasty = []string{
	"OTEL_BSP_SCHEDULE_DELAY=100", "OTEL_BLRP_SCHEDULE_DELAY=100", "OTEL_METRIC_EXPORT_INTERVAL=100",
}

// hasCollector reports whether the environment names a collector, for all signals or for one signal.
func hasCollector(environ []string) bool {
	return slices.ContainsFunc(environ, func(kv string) bool {
		key, value, _ := strings.Cut(kv, "=")
		return value != "" && strings.HasPrefix(key, "OTEL_EXPORTER_OTLP_") && strings.HasSuffix(key, "ENDPOINT")
	})
}

// hasExporter reports whether the environment names an exporter other than OTLP, such as console.
func hasExporter(getenv func(string) string) bool {
	return slices.ContainsFunc(signals, func(signal string) bool {
		v := strings.ToLower(strings.TrimSpace(getenv("OTEL_" + signal + "_EXPORTER")))
		return v != "" && v != "otlp" && v != "none"
	})
}

// telemetry returns the telemetry for clients and servers of this process. Without providers it is disabled.
func (o *observation) telemetry() *telemetry.Telemetry {
	if o.providers == nil {
		return telemetry.Off()
	}
	return o.providers.Telemetry(telemetry.WithAudit(o.audit))
}

// logger returns the logger of the providers; nil without providers.
func (o *observation) logger() *slog.Logger {
	if o.providers == nil {
		return nil
	}
	return o.providers.Logger()
}

// start starts a trace with a span for the command itself. This span is the parent of the spans of the command's calls.
func (o *observation) start(ctx context.Context, name string) (context.Context, trace.Span) {
	return o.providers.TracerProvider().Tracer("github.com/mcpotel/mcpotel/cmd/mcpotel").Start(ctx, name,
		trace.WithNewRoot())
}

// exported is enough time for a running server to export its spans: see hasty.
const exported = 250 * time.Millisecond

// patience limits how long draw waits for the spans of other processes.
const patience = 3 * time.Second

// draw draws the trace of span, which has ended. It waits until complete reports that all spans have arrived. If
// another receiver has the spans, draw prints the id of the trace.
func (o *observation) draw(ctx context.Context, w io.Writer, span trace.Span,
	complete func([]otlpsink.Span) bool) error {
	id := span.SpanContext().TraceID().String()
	if o.sink == nil {
		to := "to the collector"
		if hasExporter(os.Getenv) {
			to = "by OTEL_…_EXPORTER"
		}
		return printLine(w, "trace "+id+" was exported "+to)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := o.providers.ForceFlush(ctx); err != nil {
		return err
	}
	snapshot, err := o.sink.WaitFor(ctx, func(s otlpsink.Snapshot) bool { return complete(s.Trace(id)) })
	if err != nil && len(snapshot.Trace(id)) == 0 {
		return fmt.Errorf("no span of trace %s arrived: %w", id, err)
	}
	return waterfall.Render(w, otlpsink.Waterfall(snapshot.Trace(id)), drawing(w))
}

// has returns a function that reports whether a trace has all these spans; a repeated name needs as many spans.
func has(names ...string) func([]otlpsink.Span) bool {
	return func(spans []otlpsink.Span) bool {
		missing := slices.Clone(names)
		for _, s := range spans {
			if i := slices.Index(missing, s.Kind+" "+s.Name); i >= 0 {
				missing = slices.Delete(missing, i, i+1)
			}
		}
		return len(missing) == 0
	}
}

// drawing returns the options for a drawing on w.
func drawing(w io.Writer) waterfall.Options {
	o := waterfall.Options{Width: 100, ASCII: !waterfall.UTF8(os.Getenv), Attributes: telling}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		o.Color = os.Getenv("NO_COLOR") == ""
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			o.Width = width
		}
	}
	return o
}

// telling returns the attributes to draw below a span, without the attributes that are part of the span's name.
func telling(s waterfall.Span) []waterfall.Attribute {
	return slices.DeleteFunc(waterfall.Selected(s), func(a waterfall.Attribute) bool {
		return a.Key == "method" || a.Key == "tool" || a.Key == "prompt"
	})
}

// close flushes and shuts down everything.
func (o *observation) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if o.providers != nil {
		o.providers.Shutdown(ctx)
	}
	if o.audit != nil {
		if err := o.audit.Close(); err != nil {
			_ = printLine(o.stderr, "mcpotel: "+err.Error())
		}
	}
	if o.site != nil {
		o.site.Close()
	}
	if o.sink != nil {
		o.sink.Close(ctx)
	}
}
