package mcpclient_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// countingPropagator counts how often it writes a trace context.
type countingPropagator struct {
	propagation.TraceContext
	n atomic.Int32
}

func (c *countingPropagator) Inject(ctx context.Context, into propagation.TextMapCarrier) {
	c.n.Add(1)
	c.TraceContext.Inject(ctx, into)
}

// Servers read the headers or _meta. Each writing of the trace context takes an allocation.
func TestTraceContextIsInjectedOnceForHeadersAndMeta(t *testing.T) {
	s := mcpserver.New(mcp.Implementation{Name: "adder", Version: "1"}, &mcpserver.Options{Telemetry: telemetry.Off()})
	err := s.AddTool(&mcp.Tool{Name: "add"},
		func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text("3")}}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	serve := s.HTTPHandler(nil)
	var calls atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct {
			Method string
			Params struct {
				Meta struct{ Traceparent string } `json:"_meta"`
			}
		}
		if _ = json.Unmarshal(body, &m); m.Method == mcp.MethodCallTool {
			calls.Add(1)
			if header := r.Header.Get("Traceparent"); header == "" || header != m.Params.Meta.Traceparent {
				t.Errorf("want one trace context in headers and _meta, got %q and %q", header, m.Params.Meta.Traceparent)
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		serve.ServeHTTP(w, r)
	}))
	defer web.Close()

	tracers, propagator := sdktrace.NewTracerProvider(), new(countingPropagator)
	defer tracers.Shutdown(context.Background())
	c, err := mcpclient.Connect(t.Context(), &transport.HTTP{URL: web.URL}, &mcpclient.Options{
		Telemetry: telemetry.New(telemetry.WithTracerProvider(tracers), telemetry.WithPropagators(propagator)),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	before := propagator.n.Load()
	if _, err := c.CallTool(t.Context(), "add", nil); err != nil {
		t.Fatal(err)
	}
	if n := propagator.n.Load() - before; calls.Load() != 1 || n != 1 {
		t.Errorf("want one request and one written trace context, got %d and %d", calls.Load(), n)
	}
}

// A server over HTTP gets only the baggage whose keys the program allows, in headers and in _meta.
func TestHTTPServerGetsOnlyConfiguredBaggageKeys(t *testing.T) {
	bag, err := baggage.Parse("tenant=acme,user=alice")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		keys []string
		want string
	}{{nil, ""}, {[]string{"tenant"}, "tenant=acme"}} {
		s := mcpserver.New(mcp.Implementation{Name: "adder", Version: "1"}, &mcpserver.Options{Telemetry: telemetry.Off()})
		serve := s.HTTPHandler(nil)
		var mu sync.Mutex
		told := map[string]bool{}
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			var m struct {
				Params struct {
					Meta struct{ Baggage string } `json:"_meta"`
				}
			}
			_ = json.Unmarshal(body, &m)
			mu.Lock()
			told[m.Params.Meta.Baggage], told[r.Header.Get("Baggage")] = true, true
			mu.Unlock()
			r.Body = io.NopCloser(bytes.NewReader(body))
			serve.ServeHTTP(w, r)
		}))
		propagator := propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
		tel := telemetry.New(telemetry.WithPropagators(propagator), telemetry.WithBaggageKeys(tt.keys...))
		ctx := baggage.ContextWithBaggage(t.Context(), bag)
		c, err := mcpclient.Connect(ctx, &transport.HTTP{URL: web.URL}, &mcpclient.Options{Telemetry: tel})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Call(ctx, mcp.MethodDiscover, nil, nil); err != nil {
			t.Error(err)
		}
		c.Close()
		web.Close()
		for got := range told {
			if got != "" && got != tt.want {
				t.Errorf("keys %v: the server got %q, want %q", tt.keys, got, tt.want)
			}
		}
		if !told[tt.want] {
			t.Errorf("keys %v: the server got %v, want %q", tt.keys, told, tt.want)
		}
	}
}
