// Package shop is an MCP server with tools that produce, on request, everything that the telemetry distinguishes:
// results, errors of every kind, waits, panics, questions to the client, tasks, notifications.
//
// Start with [New]; [Serve] is for a separate process.
package shop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Name is the name of the server.
const Name = "shop"

// RefuseCode is the code of the JSON-RPC error that the tool refuse returns.
const RefuseCode = -31050

// PriceURI is the URI of a resource, and Pitch is the name of a prompt.
const (
	PriceURI = "shop://price"
	Pitch    = "pitch"
)

// InnerSpan is the name of a span inside the tool add. It shows that a tool's work is part of the caller's trace.
const InnerSpan = "look up the price"

// arguments are the arguments of all tools. Each tool uses some of them.
type arguments struct {
	A       float64 `json:"a,omitzero"`
	B       float64 `json:"b,omitzero"`
	Seconds float64 `json:"seconds,omitzero" jsonschema:"how long it takes"`
	Times   int     `json:"times,omitzero" jsonschema:"how many"`
	Bytes   int     `json:"bytes,omitzero" jsonschema:"how large the answer is"`
}

type sum struct {
	Sum float64 `json:"sum"`
}

type shop struct {
	*mcpserver.Server
	tracer trace.Tracer
	calls  openCalls
	flush  func(context.Context) error
}

// New returns a shop that exports through p. opts are further options of its telemetry.
func New(p *otlp.Providers, opts ...telemetry.Option) *mcpserver.Server {
	s := &shop{tracer: p.TracerProvider().Tracer("shop"), flush: p.ForceFlush}
	if sdk, ok := p.TracerProvider().(*sdktrace.TracerProvider); ok { // not if no spans are exported
		sdk.RegisterSpanProcessor(&s.calls)
	}
	s.Server = mcpserver.New(mcp.Implementation{Name: Name, Version: "1.0.0"}, &mcpserver.Options{
		Logging: true, Cache: mcpserver.Cache{TTL: time.Minute}, Telemetry: p.Telemetry(opts...),
		Tasks: &mcpserver.TaskOptions{PollInterval: 20 * time.Millisecond},
	})
	for name, tool := range map[string]func(context.Context, arguments) (string, error){
		"fail": fail, "refuse": refuse, "panic": breakDown, "wait": wait, "order": order, "hurry": hurry,
		"progress": progress, "log": log, "big": big, "hang_up": hangUp, "touch": s.touch, "change": s.change,
		"crash": s.crash,
	} {
		must(mcpserver.AddTool(s.Server, &mcp.Tool{Name: name}, tool))
	}
	must(mcpserver.AddTool(s.Server, &mcp.Tool{Name: "add", Description: "adds two numbers"}, s.add))
	must(mcpserver.AddTool(s.Server, &mcp.Tool{Name: "brew", Description: "takes its time"}, wait, mcpserver.TaskTool(),
		mcpserver.TaskAfter(time.Millisecond)))
	must(mcpserver.AddTool(s.Server, &mcp.Tool{Name: "spill", Description: "takes its time and fails"}, spill,
		mcpserver.TaskTool(),
		mcpserver.TaskAfter(time.Millisecond)))
	must(s.AddResource(&mcp.Resource{URI: PriceURI, Name: "price"}, price))
	must(s.AddPrompt(&mcp.Prompt{Name: Pitch}, pitch))
	return s.Server
}

// must panics on an error that only a mistake in this package can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Serve implements a program: it serves standard input and output, exports under a service name to the endpoint in the
// environment, and returns when the client has disconnected.
func Serve(ctx context.Context, service string) error {
	p, err := otlp.Setup(ctx, otlp.WithServiceName(service), otlp.WithConsole(nil, nil),
		otlp.WithExportInterval(100*time.Millisecond), otlp.WithBaggageAttributes(telemetry.ConversationKeys()...))
	if err != nil {
		return err
	}
	s := New(p)
	err = s.ServeStdio(ctx)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(err, s.Shutdown(ctx), p.Shutdown(ctx))
}

func (s *shop) add(ctx context.Context, in arguments) (sum, error) {
	_, span := s.tracer.Start(ctx, InnerSpan)
	defer span.End()
	return sum{in.A + in.B}, nil
}

func fail(context.Context, arguments) (string, error) { return "", errors.New("sold out") }

func refuse(context.Context, arguments) (string, error) {
	return "", &mcp.Error{Code: RefuseCode, Message: "closed today"}
}

func breakDown(context.Context, arguments) (string, error) { panic("the shelf has fallen over") }

func wait(ctx context.Context, in arguments) (string, error) {
	t := time.NewTimer(time.Duration(in.Seconds * float64(time.Second)))
	defer t.Stop()
	select {
	case <-t.C:
		return "waited", nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func spill(ctx context.Context, in arguments) (string, error) {
	if _, err := wait(ctx, in); err != nil {
		return "", err
	}
	return "", &mcp.Error{Code: mcp.CodeInternalError, Message: "spilt"}
}

type name struct {
	Name string `json:"name"`
}

// order asks the user the requested number of times, one question after the other.
func order(ctx context.Context, in arguments) (string, error) {
	var names []string
	for range max(in.Times, 1) {
		answer, action, err := mcpserver.ElicitAs[name](ctx, fmt.Sprintf("Name %d?", len(names)+1))
		switch {
		case err != nil:
			return "", err
		case action != mcp.ElicitAccept:
			return "no order", nil
		}
		names = append(names, answer.Name)
	}
	return "for " + strings.Join(names, " and "), nil
}

// hurry asks the user and waits for the answer no longer than requested.
func hurry(ctx context.Context, in arguments) (string, error) {
	asking, cancel := context.WithTimeout(ctx, time.Duration(in.Seconds*float64(time.Second)))
	defer cancel()
	_, _, err := mcpserver.ElicitAs[name](asking, "Quick?")
	if err != nil && asking.Err() == nil {
		return "", err
	}
	return "too late", nil
}

func progress(ctx context.Context, in arguments) (string, error) {
	for i := range in.Times {
		if err := mcpserver.RequestFrom(ctx).Progress(ctx, float64(i+1), float64(in.Times), "step"); err != nil {
			return "", err
		}
	}
	return "done", nil
}

func log(ctx context.Context, _ arguments) (string, error) {
	return "logged", mcpserver.RequestFrom(ctx).Log(ctx, mcp.LevelWarning, Name, "running low")
}

func big(_ context.Context, in arguments) (string, error) { return strings.Repeat("x", in.Bytes), nil }

// hangUp sends something on the stream on which the client waits, closes the stream and continues.
func hangUp(ctx context.Context, _ arguments) (string, error) {
	r := mcpserver.RequestFrom(ctx)
	if err := r.Progress(ctx, 1, 2, ""); err != nil {
		return "", err
	}
	if err := mcpserver.RequestFrom(ctx).CloseStream(ctx, time.Millisecond); err != nil &&
		!errors.Is(err, mcpserver.ErrNotResumable) {
		return "", err
	}
	return "still here", r.Progress(ctx, 2, 2, "")
}

func (s *shop) touch(_ context.Context, in arguments) (string, error) {
	for range max(in.Times, 1) {
		s.ResourceUpdated(PriceURI)
	}
	return "touched", nil
}

func (s *shop) change(context.Context, arguments) (string, error) {
	s.ToolsChanged()
	return "changed", nil
}

// crash ends the process like kill -9, after the spans of earlier calls have been exported.
func (s *shop) crash(ctx context.Context, _ arguments) (string, error) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return "", err
	}
	if err := errors.Join(s.calls.awaitLast(ctx), s.flush(ctx)); err != nil {
		return "", err
	}
	return "", self.Kill()
}

func price(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: PriceURI, Text: "3"}}}, nil
}

func pitch(context.Context, *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{
		Messages: []*mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("Sell me this pen.")}}}, nil
}
