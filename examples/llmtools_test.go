package examples

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// The code in docs/guides/llm-tools.md.

// docs:model

// Model is the API of a language model. Implement it for your vendor: an implementation posts messages and functions as
// JSON.
type Model interface {
	Complete(ctx context.Context, messages []Message, functions []Function) (Message, error)
}

// Function describes a tool to the model's API.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"` // a JSON Schema; input_schema in Anthropic's API
}

// Message is one entry of the conversation.
type Message struct {
	Role   string         // user, assistant or tool
	Text   string         // text for people, or the result of a tool
	Calls  []FunctionCall // calls of an assistant
	CallID string         // call that a tool's message answers
	Failed bool           // the tool failed
}

// FunctionCall is a call that the model requests.
type FunctionCall struct {
	ID, Name  string
	Arguments json.RawMessage // a JSON object; a string in OpenAI's API
}

// docs:end

// docs:functions

// functionsOf lists the tools of a server as functions.
func functionsOf(ctx context.Context, client *mcpclient.Client) (functions []Function, err error) {
	for tool, err := range client.Tools(ctx, mcpclient.WaitForReady()) {
		if err != nil {
			return nil, err
		}
		functions = append(functions, Function{tool.Name, tool.Description, tool.InputSchema})
	}
	return functions, nil
}

// docs:end

// docs:loop

// converse makes the tool calls that the model requests, until the model answers with text.
func converse(ctx context.Context, client *mcpclient.Client, model Model, question string) (string, error) {
	ctx, span := tracer.Start(ctx, "invoke_agent weather", trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("gen_ai.agent.name", "weather")))
	defer span.End()
	functions, err := functionsOf(ctx, client)
	if err != nil {
		return "", err
	}
	messages := []Message{{Role: "user", Text: question}}
	for range 10 { // bounds a model that repeats itself
		answer, err := complete(ctx, model, messages, functions)
		if err != nil || len(answer.Calls) == 0 {
			return answer.Text, err
		}
		messages = append(messages, answer)
		for _, call := range answer.Calls {
			messages = append(messages, run(ctx, client, call))
		}
	}
	return "", errors.New("no answer after 10 rounds")
}

// docs:end

// docs:complete

// complete calls the model, in a span of the GenAI conventions.
func complete(ctx context.Context, model Model, messages []Message, functions []Function) (Message, error) {
	ctx, span := tracer.Start(ctx, "chat large-1", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.request.model", "large-1")))
	defer span.End()
	answer, err := model.Complete(ctx, messages, functions)
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	return answer, err
}

// docs:end

// docs:run

// run calls a tool. It returns failures as messages too, so that the model can correct its arguments or explain the
// failure.
func run(ctx context.Context, client *mcpclient.Client, call FunctionCall) Message {
	report := func(p *mcp.ProgressParams) { slog.Info(p.Message, "tool", call.Name, "progress", p.Progress) }
	result, err := client.CallTool(ctx, call.Name, call.Arguments, mcpclient.WithProgress(report),
		mcpclient.WithTimeout(time.Minute), mcpclient.WaitForReady(), mcpclient.Retry(2))
	if err != nil {
		text := fmt.Sprintf("the call failed: %v; safe to retry: %t", err, mcpclient.SafeToRetry(err))
		return Message{Role: "tool", CallID: call.ID, Text: text, Failed: true}
	}
	return Message{Role: "tool", CallID: call.ID, Text: result.Text(), Failed: result.IsError}
}

// docs:end

// docs:consent

// harmless reports whether a tool changes nothing, according to its annotations. Ask the user before you call any other
// tool.
func harmless(tool *mcp.Tool) bool {
	hints := tool.Annotations
	return hints != nil && hints.ReadOnlyHint != nil && *hints.ReadOnlyHint
}

// docs:end

var tracer trace.Tracer

// scripted is a model that first asks for the weather of a city and then repeats the last message.
type scripted struct{ asked []string }

func (s *scripted) Complete(_ context.Context, messages []Message, functions []Function) (Message, error) {
	last := messages[len(messages)-1]
	if len(s.asked) == 0 {
		return Message{Role: "assistant", Text: last.Text}, nil
	}
	arguments := json.RawMessage(s.asked[0])
	s.asked = s.asked[1:]
	call := FunctionCall{ID: "1", Name: functions[0].Name, Arguments: arguments}
	return Message{Role: "assistant", Calls: []FunctionCall{call}}, nil
}

func TestAModelCallsTools(t *testing.T) {
	ended := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(ended))
	tracer = provider.Tracer("agent")
	tel := telemetry.New(telemetry.WithTracerProvider(provider))
	server := mcptest.NewServer(t, &mcpserver.Options{Telemetry: telemetry.Off()})
	yes := true
	tool := &mcp.Tool{Name: "forecast", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: &yes}}
	look := func(ctx context.Context, in Query) (Forecast, error) { return lookup(ctx, in.City) }
	if err := mcpserver.AddTool(server.Server, tool, look); err != nil {
		t.Fatal(err)
	}
	client, err := mcpclient.Connect(t.Context(), server, &mcpclient.Options{Telemetry: tel})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if !harmless(tool) || harmless(&mcp.Tool{}) {
		t.Error("want only the tool with the annotation harmless")
	}
	for _, test := range []struct{ arguments, want string }{
		{`{"city":"Oslo"}`, `{"Celsius":4}`},
		{`{"city":"Atlantis"}`, "ask for Oslo"},
		{`{"city":""}`, "city"},
	} {
		text, err := converse(t.Context(), client, &scripted{asked: []string{test.arguments}}, "Do I need a coat?")
		if err != nil || !strings.Contains(text, test.want) {
			t.Errorf("%s: got %q, %v, want %q", test.arguments, text, err, test.want)
		}
	}
	agents := map[trace.SpanID]bool{}
	for _, s := range ended.Ended() {
		if s.Name() == "invoke_agent weather" {
			agents[s.SpanContext().SpanID()] = true
		}
	}
	calls := 0
	for _, s := range ended.Ended() {
		if s.Name() == "tools/call forecast" && agents[s.Parent().SpanID()] {
			calls++
		}
	}
	if calls != 3 {
		t.Errorf("got %d calls below spans of the agent, want 3", calls)
	}
}
