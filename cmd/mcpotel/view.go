package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/command/traceview"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

// viewer is one run of the command "view".
type viewer struct {
	grpc, http, web string
	jaeger          service
	from            string // the URL of the Jaeger, without credentials
	trace           string
	sink            *otlpsink.Sink // nil if the command receives nothing
}

func newView(s streams) *cobra.Command {
	var v viewer
	cmd := &cobra.Command{
		Use: "view [flags] [TRACEID]", Short: "receive telemetry, and show it on a page",
		Example: "mcpotel view\n" +
			"mcpotel view --jaeger http://127.0.0.1:16686 4bf92f3577b34da6a3ce929d0e0e4736",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := v.check(cmd.Flags(), args); err != nil {
				return err
			}
			return v.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&v.grpc, "grpc", "127.0.0.1:4317", "receive OTLP/gRPC at this `ADDRESS`, on loopback")
	f.StringVar(&v.http, "http", "127.0.0.1:4318", "receive OTLP/HTTP at this `ADDRESS`, on loopback; empty disables it")
	f.StringVar(&v.web, "web", "127.0.0.1:4320", "serve the page at this `ADDRESS`, on loopback")
	v.jaeger.flags(f, "jaeger", jaegerExample, "look up traces in the Jaeger at this `URL`, such as "+jaegerExample+
		"; the command then receives telemetry only if --grpc or --http is given")
	return cmd
}

// jaegerPatience limits the check of a Jaeger.
const jaegerPatience = 2 * time.Second

// run receives telemetry and shows it on a page, until it is interrupted.
func (v *viewer) run(ctx context.Context, s streams) (err error) {
	options := traceview.Options{}
	jaeger, err := v.jaeger.open()
	if err != nil {
		return err
	}
	if jaeger != nil {
		options.Jaeger, v.from = traceview.NewJaeger(jaeger), jaeger.String()
		checking, cancel := context.WithTimeoutCause(ctx, jaegerPatience,
			fmt.Errorf("no answer within %v", jaegerPatience))
		defer cancel()
		if err := options.Jaeger.Check(checking); err != nil {
			return &exitError{exitConnection, fmt.Errorf("--jaeger: %w", err)}
		}
	}
	if err := v.receive(); err != nil {
		return err
	}
	if v.sink != nil {
		defer v.end()
		options.Snapshot, options.GRPC, options.HTTP = v.sink.Snapshot, v.sink.Endpoint(), v.sink.HTTPEndpoint()
	}
	site, err := openSite("web", v.web, traceview.New(options))
	if err != nil {
		return err
	}
	defer site.Close()
	if err := v.explain(s.out, site.URL); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// check validates the arguments and the combination of flags.
func (v *viewer) check(f *pflag.FlagSet, args []string) error {
	if v.jaeger.url != "" && !f.Changed("grpc") && !f.Changed("http") {
		v.grpc = ""
	}
	switch len(args) {
	case 0:
	case 1:
		if v.trace = args[0]; v.jaeger.url == "" {
			return misuse("cannot look up trace %q without a Jaeger: give --jaeger URL", v.trace)
		}
	default:
		return misuse("unexpected argument %q", args[1])
	}
	return nil
}

// receive starts the receiver.
func (v *viewer) receive() (err error) {
	if v.grpc == "" {
		return nil
	}
	if v.sink, err = otlpsink.Listen(v.grpc); err != nil {
		return taken("grpc", v.grpc, err)
	}
	if v.http == "" {
		return nil
	}
	if err := v.sink.ListenHTTP(v.http); err != nil {
		v.end()
		return taken("http", v.http, err)
	}
	return nil
}

// end stops the receiver. It waits only briefly for senders.
func (v *viewer) end() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	v.sink.Close(ctx)
}

// explain prints the URL of the page and how to export to the receiver.
func (v *viewer) explain(w io.Writer, url string) error {
	text := "The traces are at " + url + "\n"
	switch {
	case v.trace != "":
		text = "The trace is at " + url + "trace/" + v.trace + "\n"
	case v.sink == nil:
		text = "Look up traces of " + v.from + " at " + url + "\n"
	}
	if v.sink != nil {
		text += fmt.Sprintf(`
To export there, with any OpenTelemetry SDK:

    export OTEL_EXPORTER_OTLP_ENDPOINT=http://%s
`, v.sink.Endpoint())
		if v.sink.HTTPEndpoint() != "" {
			text += fmt.Sprintf(`
or, over HTTP:

    export OTEL_EXPORTER_OTLP_ENDPOINT=%s OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
`, v.sink.HTTPEndpoint())
		}
	}
	return printText(w, text+"\nCtrl-C ends the command.")
}
