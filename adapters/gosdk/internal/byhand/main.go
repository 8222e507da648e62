// Command byhand does the same as examples/service, with the official SDK and hand-written OpenTelemetry: a trace and a
// duration for each call, a connection that reconnects, retries, readiness, and a graceful shutdown.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Forecast has the fields of the tool's output that this program uses.
type Forecast struct {
	Celsius int `json:"celsius"`
}

func main() {
	mcpURL := flag.String("mcp", "http://127.0.0.1:8080/mcp", "the MCP server's `URL`")
	address := flag.String("http", "127.0.0.1:8081", "serve HTTP on this `address`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *mcpURL, *address); err != nil {
		fmt.Fprintln(os.Stderr, "service:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, mcpURL, address string) (err error) {
	shutdown, err := telemetry(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shutdown(context.Background())) }()
	c, err := newConnection(mcpURL)
	if err != nil {
		return err
	}
	keeping, leave := context.WithCancel(context.Background())
	var kept sync.WaitGroup
	kept.Go(func() { c.keep(keeping) })

	mux := http.NewServeMux()
	mux.Handle("GET /wear", wear(c))
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		if c.current() == nil {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
		}
	})
	err = listen(ctx, address, mux) // returns when all requests are answered and no call is in flight
	leave()
	kept.Wait()
	return err
}

// telemetry sets up OpenTelemetry. shutdown flushes and ends it.
func telemetry(ctx context.Context) (shutdown func(context.Context) error, err error) {
	of, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithProcess(),
		resource.WithAttributes(attribute.String("service.name", "wear")), resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	spans, err := otlptracegrpc.New(ctx)
	if err != nil {
		return nil, err
	}
	metrics, err := otlpmetricgrpc.New(ctx)
	if err != nil {
		return nil, err
	}
	tracers := sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithResource(of))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metrics)),
		sdkmetric.WithResource(of))
	otel.SetTracerProvider(tracers)
	otel.SetMeterProvider(meters)
	otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{},
		propagation.Baggage{}))
	return func(ctx context.Context) error { return errors.Join(tracers.Shutdown(ctx), meters.Shutdown(ctx)) }, nil
}

// connection keeps a session with the server and reconnects when the session is lost.
type connection struct {
	url      string
	duration metric.Float64Histogram

	mu       sync.Mutex
	session  *mcp.ClientSession // nil without a session; guarded by mu
	readOnly map[string]bool    // tools that may be called twice; guarded by mu
	changed  chan struct{}      // closed and replaced when there is a new session; guarded by mu
	lost     chan struct{}      // a call has found that the session is gone
}

func newConnection(url string) (*connection, error) {
	duration, err := otel.Meter("byhand").Float64Histogram("mcp.client.operation.duration", metric.WithUnit("s"))
	return &connection{url: url, duration: duration, changed: make(chan struct{}), lost: make(chan struct{}, 1)}, err
}

// keep connects until ctx ends, with growing pauses between failed attempts.
func (c *connection) keep(ctx context.Context) {
	const least, most = 100 * time.Millisecond, 30 * time.Second
	pause := least
	for ctx.Err() == nil {
		session, readOnly, err := c.connect(ctx)
		if err != nil {
			slog.WarnContext(ctx, "no connection", "error", err, "pause", pause)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			pause = min(2*pause, most)
			continue
		}
		pause = least
		slog.InfoContext(ctx, "connected", "server", session.InitializeResult().ServerInfo.Name)
		c.set(session, readOnly)
		select {
		case <-ctx.Done():
		case <-c.lost:
		}
		c.set(nil, nil)
		_ = session.Close()
	}
}

// connect opens a session and lists which tools are read-only.
func (c *connection) connect(ctx context.Context) (*mcp.ClientSession, map[string]bool, error) {
	ctx, span := otel.Tracer("byhand").Start(ctx, "connect")
	defer span.End()
	client := mcp.NewClient(&mcp.Implementation{Name: "wear", Version: "1.0"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: c.url}, nil)
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
		return nil, nil, err
	}
	readOnly := map[string]bool{}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
			_ = session.Close()
			return nil, nil, err
		}
		readOnly[tool.Name] = tool.Annotations != nil && (tool.Annotations.ReadOnlyHint || tool.Annotations.IdempotentHint)
	}
	return session, readOnly, nil
}

func (c *connection) set(session *mcp.ClientSession, readOnly map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session, c.readOnly = session, readOnly
	if session != nil {
		close(c.changed)
		c.changed = make(chan struct{})
	}
}

func (c *connection) current() *mcp.ClientSession {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// wait waits for a session and returns it.
func (c *connection) wait(ctx context.Context) (session *mcp.ClientSession, readOnly map[string]bool, err error) {
	for {
		c.mu.Lock()
		session, readOnly, changed := c.session, c.readOnly, c.changed
		c.mu.Unlock()
		if session != nil {
			return session, readOnly, nil
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-changed:
		}
	}
}

// toolError is an error that the tool reports.
type toolError string

func (e toolError) Error() string { return string(e) }

// call calls a tool, and retries if the server cannot act twice.
func call[T any](ctx context.Context, c *connection, tool string, arguments any) (out T, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for try := 0; ; try++ {
		session, readOnly, err := c.wait(ctx)
		if err != nil {
			return out, err
		}
		err = once(ctx, c, session, tool, arguments, &out)
		if !isLost(err) {
			return out, err
		}
		select {
		case c.lost <- struct{}{}:
		default:
		}
		if try == 2 || !readOnly[tool] || ctx.Err() != nil {
			return out, err
		}
	}
}

// isLost reports whether an error may mean that the session is gone: it is neither a response nor caused by the caller.
// The SDK does not report a server that has gone away, and has no pings in the newest revision. Errors of its own
// transports look like responses, with the codes -32003 to -32005.
func isLost(err error) bool {
	var answered *jsonrpc.Error
	if errors.As(err, &answered) {
		return answered.Code <= -32003 && answered.Code >= -32005
	}
	_, refused := errors.AsType[toolError](err)
	return err != nil && !refused && !errors.Is(err, context.Canceled)
}

// once makes one request, with a span and a duration.
func once(ctx context.Context, c *connection, session *mcp.ClientSession, tool string, arguments, out any,
) (err error) {
	attrs := []attribute.KeyValue{attribute.String("mcp.method.name", "tools/call"),
		attribute.String("gen_ai.tool.name", tool), attribute.String("gen_ai.operation.name", "execute_tool")}
	ctx, span := otel.Tracer("byhand").Start(ctx, "tools/call "+tool, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attrs...))
	began := time.Now()
	defer func() {
		if err != nil {
			attrs = append(attrs, attribute.String("error.type", errorType(err)))
			span.SetAttributes(attrs[len(attrs)-1])
			span.SetStatus(codes.Error, err.Error())
		}
		c.duration.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(attrs...))
		span.End()
	}()
	carrier := propagation.MapCarrier{}
	otel.GetTextMapPropagator().Inject(ctx, carrier)
	meta := mcp.Meta{}
	for key, value := range carrier {
		meta[key] = value
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Meta: meta, Name: tool, Arguments: arguments})
	if err != nil {
		return err
	}
	if result.IsError {
		for _, content := range result.Content {
			if text, ok := content.(*mcp.TextContent); ok {
				return toolError(text.Text)
			}
		}
		return toolError("the tool failed")
	}
	structured, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return err
	}
	return json.Unmarshal(structured, out)
}

func errorType(err error) string {
	var answered *jsonrpc.Error
	switch _, refused := errors.AsType[toolError](err); {
	case refused:
		return "tool_error"
	case errors.As(err, &answered):
		return fmt.Sprint(answered.Code)
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	}
	return "_OTHER"
}

// wear calls the tool for an HTTP request: within its deadline and its trace.
func wear(c *connection) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx := otel.GetTextMapPropagator().Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := otel.Tracer("byhand").Start(ctx, "GET /wear")
		defer span.End()
		f, err := call[Forecast](ctx, c, "forecast", map[string]any{"city": r.FormValue("city")})
		refused, isRefused := errors.AsType[toolError](err)
		switch {
		case isRefused:
			http.Error(w, refused.Error(), http.StatusBadRequest)
		case err != nil:
			http.Error(w, "no forecast: "+err.Error(), http.StatusBadGateway)
		case f.Celsius < 10:
			_, _ = fmt.Fprintln(w, "a coat")
		default:
			_, _ = fmt.Fprintln(w, "a shirt")
		}
	}
}

// listen serves until ctx ends, and then until the requests in flight are answered.
func listen(ctx context.Context, address string, h http.Handler) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "http://%s/wear?city=Oslo\n", l.Addr())
	web := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() {
		<-ctx.Done()
		patience, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		done <- web.Shutdown(patience)
	}()
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-done
}
