package examples

import (
	"context"
	"errors"
	"net/http/httptest"
	"slices"
	"testing"

	"go.opentelemetry.io/contrib/processors/baggagecopy"
	"go.opentelemetry.io/otel/baggage"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// The code in docs/guides/conversations.md.

// docs:turn

// turn is one turn of an agent. All calls with its context belong to the conversation.
func turn(ctx context.Context, client *mcpclient.Client, thread, user string, key []byte) error {
	ctx, err := telemetry.ContextWithConversation(ctx, telemetry.Conversation{
		ID: thread, Agent: "travel-agent", User: user, UserKey: key, // the user's id is hashed
	})
	if err != nil {
		return err
	}
	_, err = client.CallTool(ctx, "forecast", map[string]any{"city": "Oslo"})
	return err
}

// docs:end

// docs:setup

// observe sets up the telemetry of the agent, and likewise of its servers.
func observe(ctx context.Context, service string, opts ...otlp.Option) (*otlp.Providers, *telemetry.Telemetry, error) {
	keys := telemetry.ConversationKeys()
	providers, err := otlp.Setup(ctx, append(opts, otlp.WithServiceName(service), otlp.WithBaggageAttributes(keys...))...)
	if err != nil {
		return nil, nil, err
	}
	return providers, providers.Telemetry(
		telemetry.WithBaggageKeys(keys...),                   // also across the network
		telemetry.WithBaggageLabel("gen_ai.agent.name")), nil // record durations for each agent
}

// docs:end

// docs:own

// copying returns the options for a program that sets up the SDK itself.
func copying() ([]sdktrace.TracerProviderOption, []sdklog.LoggerProviderOption) {
	keys := telemetry.ConversationKeys()
	copied := func(m baggage.Member) bool { return slices.Contains(keys, m.Key()) }
	return []sdktrace.TracerProviderOption{sdktrace.WithSpanProcessor(baggagecopy.NewSpanProcessor(copied))},
		[]sdklog.LoggerProviderOption{sdklog.WithProcessor(baggagecopy.NewLogProcessor(copied))} // before the exporting one
}

// docs:end

// docs:loops

// watched returns the options of a client that stops agents in a loop.
func watched() *mcpclient.Options {
	return &mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.UseLoopDetection(&mcpclient.LoopOptions{
			Break:  true,               // refuse further repetitions; without Break, the client only reports them
			Exempt: []string{"append"}, // always answers "ok", and has no annotations
		}),
	}}
}

// docs:end

func TestTheGuideStopsALoop(t *testing.T) {
	server := mcptest.NewServer(t, &mcpserver.Options{Telemetry: telemetry.Off()})
	calls := 0
	if err := mcpserver.AddTool(server.Server, &mcp.Tool{Name: "search"}, func(context.Context, struct {
		Try int `json:"try"`
	}) (string, error) {
		calls++
		return "[]", nil
	}); err != nil {
		t.Fatal(err)
	}
	client, err := mcpclient.Connect(t.Context(), server, watched())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for i := range 277 {
		_, err := client.CallTool(t.Context(), "search", map[string]any{"try": i})
		if errors.Is(err, mcpclient.ErrLoop) != (i >= 5) {
			t.Fatalf("call %d: got %v", i+1, err)
		}
	}
	if calls != 5 {
		t.Errorf("the server was called %d times, want 5", calls)
	}
}

func TestConversationGuideWorks(t *testing.T) {
	sink, err := otlpsink.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close(t.Context())
	to := []otlp.Option{otlp.WithEndpoint(sink.Endpoint()), otlp.WithGlobals(false), otlp.WithConsole(nil, nil)}
	served, forServer, err := observe(t.Context(), "weather", to...)
	if err != nil {
		t.Fatal(err)
	}
	providers, forClient, err := observe(t.Context(), "agent", to...)
	if err != nil {
		t.Fatal(err)
	}
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1"}, &mcpserver.Options{Telemetry: forServer})
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: "forecast"}, func(context.Context, struct {
		City string `json:"city"`
	}) (string, error) {
		return "rain", nil
	}); err != nil {
		t.Fatal(err)
	}
	h := s.HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: true})
	defer h.Shutdown(context.Background())
	web := httptest.NewServer(h)
	defer web.Close()
	client, err := mcpclient.Connect(t.Context(), &transport.HTTP{URL: web.URL},
		&mcpclient.Options{Name: "weather", Telemetry: forClient})
	if err != nil {
		t.Fatal(err)
	}
	if err := turn(t.Context(), client, "thread-17", "ada@example.com", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	client.Close()
	for _, p := range []*otlp.Providers{served, providers} {
		if err := p.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
	}

	got := sink.Snapshot()
	spans := got.SpansNamed("tools/call forecast")
	if len(spans) != 2 {
		t.Fatalf("got %d spans of the call, want the client's and the server's", len(spans))
	}
	for _, span := range spans {
		if span.Attributes["gen_ai.conversation.id"] != "thread-17" || span.Attributes["user.hash"] == nil {
			t.Errorf("the span of %s: got %v, want the conversation and the user", span.Service(), span.Attributes)
		}
	}
	for _, metric := range []string{"mcp.client.operation.duration", "mcp.server.operation.duration"} {
		if !slices.ContainsFunc(got.PointsOf(metric), func(p otlpsink.Point) bool {
			return p.Attributes["gen_ai.agent.name"] == "travel-agent"
		}) {
			t.Errorf("%s: got no point of the agent", metric)
		}
	}
}

func TestCustomSDKCopiesTheConversationID(t *testing.T) {
	ended := tracetest.NewSpanRecorder()
	opts, _ := copying()
	tracers := sdktrace.NewTracerProvider(append(opts, sdktrace.WithSpanProcessor(ended))...)
	ctx, err := telemetry.ContextWithConversation(t.Context(), telemetry.Conversation{ID: "thread-17"})
	if err != nil {
		t.Fatal(err)
	}
	_, span := tracers.Tracer("test").Start(ctx, "work")
	span.End()
	if got := ended.Ended()[0].Attributes(); len(got) != 1 || got[0].Value.AsString() != "thread-17" {
		t.Errorf("got the attributes %v, want the conversation", got)
	}
}
