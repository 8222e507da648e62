package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/command/demoserver"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func newDemo(s streams) *cobra.Command {
	var web webFlag
	level := slog.LevelWarn
	cmd := &cobra.Command{
		Use: "demo [--web]", Short: "show a client, a server and their traces, with nothing to install",
		Example: "mcpotel demo\nmcpotel demo --web",
		Args:    refuseArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), s, web, level) },
	}
	web.flags(cmd.Flags())
	cmd.Flags().BoolFuncP("verbose", "v", "print all log records, not only warnings", func(string) error {
		level = slog.LevelDebug
		return nil
	})
	return cmd
}

// runDemo plays four scenes between a client and a server, and draws the trace of each scene. The server is a child
// process that runs this program.
func runDemo(ctx context.Context, s streams, web webFlag, level slog.Level) error {
	logs := &held{to: s.err}
	defer logs.flush()
	o, err := observe(ctx, "mcpotel-demo", level, logs, anyPort)
	if err != nil {
		return err
	}
	defer o.close(ctx)
	if err := o.publish(web); err != nil {
		return err
	}
	d := &demo{o: o, out: s.out, logs: logs}
	err = d.run(ctx)
	logs.flush()
	if o.site != nil && err == nil {
		url, end, err := s.inspect(o, mcpclient.Member{Name: "demo", Transport: d.server, Options: d.options()}, anyPort,
			[]string{"--", "mcpotel", "serve-demo"})
		if err != nil {
			return err
		}
		defer end()
		d.say("\nThe server runs again. Call its tools yourself at %s", url)
	}
	o.stay(ctx, s.out)
	return err
}

// run plays the scenes, for at most one minute.
func (d *demo) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	d.say("mcpotel demo: a client, and a server as its child process. Each scene ends with its trace and its log records.")
	if d.o.sink != nil {
		d.say("Both export OTLP/gRPC to a receiver in this process, at %s.", d.o.sink.Endpoint())
	} else {
		d.say("Both export OTLP/gRPC to the collector in the environment.")
	}
	if d.o.site != nil {
		d.say("Their telemetry is shown at %s", d.o.site.URL)
	}
	if err := d.connect(ctx); err != nil {
		return err
	}
	defer d.client.Close()
	for _, scene := range []func(context.Context) error{d.success, d.toolError, d.timeout, d.crash} {
		if err := scene(ctx); err != nil {
			return err
		}
	}
	if err := d.client.Close(); err != nil {
		return err
	}
	d.say("\nDone: every call was one trace, and the client reconnected by itself.")
	return nil
}

// demo is one run of the command "demo".
type demo struct {
	o      *observation
	out    io.Writer
	logs   *held
	server transport.Transport
	client *mcpclient.Client
}

func (d *demo) options() *mcpclient.Options {
	return &mcpclient.Options{
		Name:       "demo",
		ClientInfo: mcp.Implementation{Name: "mcpotel-demo", Version: version()},
		Timeouts:   mcpclient.Timeouts{Close: 2 * time.Second}, // gives the server time to export its last spans
		Telemetry:  d.o.telemetry(),
	}
}

func (d *demo) say(format string, args ...any) { _ = printText(d.out, fmt.Sprintf(format, args...)) }

// connect starts the server.
func (d *demo) connect(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	d.server = d.o.exporting(transport.Stdio{Command: self, Args: []string{"serve-demo"},
		Env: append(os.Environ(), "OTEL_SERVICE_NAME="+demoserver.Name)})
	spanCtx, span := d.o.start(ctx, "demo: connect")
	d.client, err = mcpclient.Connect(spanCtx, d.server, d.options())
	span.End()
	if err != nil {
		return err
	}
	d.say("\n== connected to %s, protocol %s", d.client.ServerInfo().Name, d.client.ProtocolVersion())
	return d.draw(ctx, span, "INTERNAL demo: connect", "INTERNAL mcp_client.connect", "SERVER server/discover")
}

// draw draws the trace of a scene, and prints the log records of the scene.
func (d *demo) draw(ctx context.Context, span trace.Span, spans ...string) error {
	err := d.o.draw(ctx, d.out, span, has(spans...))
	d.logs.flush()
	return err
}

// scene runs f under a span and draws the trace.
func (d *demo) scene(ctx context.Context, title string, f func(context.Context) error, spans ...string) error {
	d.say("\n== %s", title)
	spanCtx, span := d.o.start(ctx, "demo: "+title)
	err := f(spanCtx)
	span.End()
	if err != nil {
		return fmt.Errorf("%s: %w", title, err)
	}
	return d.draw(ctx, span, append(spans, "INTERNAL demo: "+title)...)
}

func (d *demo) success(ctx context.Context) error {
	return d.scene(ctx, "a call that succeeds", func(ctx context.Context) error {
		r, err := mcpclient.CallToolAs[demoserver.ForecastResult](ctx, d.client, "forecast",
			demoserver.ForecastArguments{City: "Oslo", Days: 2})
		if err != nil {
			return err
		}
		d.say("forecast for %s: %v", r.City, r.Days)
		return nil
	}, "CLIENT tools/call forecast", "SERVER tools/call forecast", "INTERNAL look up the weather")
}

func (d *demo) toolError(ctx context.Context) error {
	return d.scene(ctx, "a tool that reports an error", func(ctx context.Context) error {
		r, err := d.client.CallTool(ctx, "divide", demoserver.DivideArguments{A: 1, B: 0})
		if err != nil {
			return err
		}
		if !r.IsError {
			return errors.New("division by zero returned no error")
		}
		d.say("divide says: %s", r.Text())
		return nil
	}, "CLIENT tools/call divide", "SERVER tools/call divide")
}

func (d *demo) timeout(ctx context.Context) error {
	return d.scene(ctx, "a call that times out", func(ctx context.Context) error {
		_, err := d.client.CallTool(ctx, "wait", demoserver.WaitArguments{Seconds: 30},
			mcpclient.WithTimeout(300*time.Millisecond))
		if !errors.Is(err, mcpclient.ErrTimeout) {
			return fmt.Errorf("want a timeout, got %v", err)
		}
		d.say("the call: %v; the client then cancelled it at the server", err)
		return nil
	}, "CLIENT tools/call wait", "SERVER tools/call wait")
}

func (d *demo) crash(ctx context.Context) error {
	return d.scene(ctx, "a server that is killed during a call", func(ctx context.Context) error {
		_, err := d.client.CallTool(ctx, "crash", nil)
		if !errors.Is(err, mcpclient.ErrConnectionLost) {
			return fmt.Errorf("want a lost connection, got %w", err)
		}
		d.say("the call: %v", err)
		d.say("safe to retry: %v; the client reconnects by itself", mcpclient.SafeToRetry(err))
		begun := time.Now()
		if err := d.client.WaitForState(ctx, connstate.Ready); err != nil {
			return err
		}
		d.say("ready again after %v", time.Since(begun).Round(time.Millisecond))
		_, err = mcpclient.CallToolAs[demoserver.ForecastResult](ctx, d.client, "forecast",
			demoserver.ForecastArguments{City: "Rome"})
		return err
	}, "CLIENT tools/call crash", "CLIENT tools/call forecast", "SERVER tools/call forecast")
}

// held keeps output until flush, so that log records do not interrupt a drawing.
type held struct {
	to io.Writer

	mu   sync.Mutex
	text []byte // guarded by mu
}

func (h *held) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, p...)
	return len(p), nil
}

// Fd returns the descriptor of the output, so that a terminal gets colour; an invalid one without a descriptor.
func (h *held) Fd() uintptr {
	if f, ok := h.to.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// flush writes the output since the last call.
func (h *held) flush() {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = printBytes(h.to, h.text) // the console has escaped it
	h.text = h.text[:0]
}
