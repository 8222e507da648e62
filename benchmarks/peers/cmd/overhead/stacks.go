//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// stacks are cheap calls, so that the overhead of telemetry is visible.
var stacks = []stack{
	{"otelgrpc (unary)", overGRPC},
	{"otelhttp (POST)", overHTTP},
	{"mcpotel (HTTP)", mcpOverHTTP},
	{"mcpotel (in memory)", mcpInMemory},
}

func overGRPC(ctx context.Context, in installation) (func() error, error) {
	var serving []grpc.ServerOption
	dialing := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	if !in.off {
		var opts []otelgrpc.Option
		if in.tracers != nil {
			opts = append(opts, otelgrpc.WithTracerProvider(in.tracers), otelgrpc.WithMeterProvider(in.meters),
				otelgrpc.WithPropagators(in.context))
		}
		serving = append(serving, grpc.StatsHandler(otelgrpc.NewServerHandler(opts...)))
		dialing = append(dialing, grpc.WithStatsHandler(otelgrpc.NewClientHandler(opts...)))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := grpc.NewServer(serving...)
	healthpb.RegisterHealthServer(s, health.NewServer())
	go s.Serve(l) // ends with the process
	conn, err := grpc.NewClient(l.Addr().String(), dialing...)
	if err != nil {
		return nil, err
	}
	c := healthpb.NewHealthClient(conn)
	return func() error {
		_, err := c.Check(ctx, &healthpb.HealthCheckRequest{})
		return err
	}, nil
}

func overHTTP(ctx context.Context, in installation) (func() error, error) {
	var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	})
	var t http.RoundTripper = http.DefaultTransport.(*http.Transport).Clone()
	if !in.off {
		var opts []otelhttp.Option
		if in.tracers != nil {
			opts = append(opts, otelhttp.WithTracerProvider(in.tracers), otelhttp.WithMeterProvider(in.meters),
				otelhttp.WithPropagators(in.context))
		}
		h, t = otelhttp.NewHandler(h, "echo", opts...), otelhttp.NewTransport(t, opts...)
	}
	url := httptest.NewServer(h).URL // ends with the process
	c := &http.Client{Transport: t}
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}`
	return func() error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			return err
		}
		resp, err := c.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}, nil
}

// telemetryOf returns the Telemetry of a client or a server.
func telemetryOf(in installation) *telemetry.Telemetry {
	switch {
	case in.off:
		return telemetry.Off()
	case in.tracers == nil:
		return telemetry.New()
	}
	return telemetry.New(telemetry.WithTracerProvider(in.tracers), telemetry.WithMeterProvider(in.meters),
		telemetry.WithPropagators(in.context))
}

type text struct {
	Text string `json:"text"`
}

func echo(in installation) (*mcpserver.Server, error) {
	s := mcpserver.New(mcp.Implementation{Name: "echo", Version: "1"}, &mcpserver.Options{Telemetry: telemetryOf(in)})
	return s, mcpserver.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, t text) (string, error) {
		return t.Text, nil
	})
}

func mcpOverHTTP(ctx context.Context, in installation) (func() error, error) {
	s, err := echo(in)
	if err != nil {
		return nil, err
	}
	h := httptest.NewServer(s.HTTPHandler(&mcpserver.HTTPOptions{Stateless: true, TrustTraceContext: true}))
	return mcpCalls(ctx, in, &transport.HTTP{URL: h.URL})
}

func mcpInMemory(ctx context.Context, in installation) (func() error, error) {
	s, err := echo(in)
	if err != nil {
		return nil, err
	}
	serve := func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) }
	return mcpCalls(ctx, in, transport.InMemory(serve))
}

func mcpCalls(ctx context.Context, in installation, t transport.Transport) (func() error, error) {
	c, err := mcpclient.Connect(ctx, t, &mcpclient.Options{Telemetry: telemetryOf(in)})
	if err != nil {
		return nil, err
	}
	arguments := text{"hello"}
	return func() error {
		r, err := c.CallTool(ctx, "echo", &arguments)
		if err == nil && r.IsError {
			err = fmt.Errorf("the tool failed: %v", r.Content)
		}
		return err
	}, nil
}
