package explain_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// fault is one way for a call to fail, with the expected explanation of its trace.
type fault struct {
	name    string
	cause   string // ID of the first cause
	says    string // part of the cause's text; distinguishes faults with the same cause
	real    bool   // needs a process or a network, which a synctest bubble cannot have
	provoke func(l *lab)
}

// lab is the environment of one fault.
type lab struct {
	*testing.T
	rec     *telemetrytest.Recording
	ctx     context.Context // of the agent's span, whose trace is explained
	span    trace.Span
	clients []*mcpclient.Client
	servers []*mcpserver.Server
}

// run provokes the fault and returns the facts about it.
func (f *fault) run(t *testing.T) explain.Facts { return f.watched(t, nil) }

// watched is like run, and also adds the emitted telemetry to seen unless seen is nil.
func (f *fault) watched(t *testing.T, seen *emissions) (facts explain.Facts) {
	t.Helper()
	in := func(t *testing.T) { facts = f.provoked(t, seen) }
	if f.real {
		in(t)
	} else {
		synctest.Test(t, in)
	}
	return facts
}

func (f *fault) provoked(t *testing.T, seen *emissions) explain.Facts {
	l := &lab{T: t, rec: telemetrytest.Recorder(t)}
	l.ctx, l.span = l.rec.TracerProvider().Tracer("agent").Start(t.Context(), "agent")
	f.provoke(l)
	l.span.End()
	if !f.real {
		synctest.Wait()
	}
	facts := l.facts()
	if seen != nil {
		seen.note(f.name, l.rec) // gauges of clients end with these
	}
	for _, c := range l.clients {
		_ = c.Close()
	}
	if seen != nil {
		seen.note(f.name, l.rec)
	}
	return facts
}

// facts returns the telemetry of the trace.
func (l *lab) facts() explain.Facts {
	id := l.span.SpanContext().TraceID()
	f := explain.Facts{TraceID: id.String()}
	var clients []inspect.Client
	var servers []inspect.Server
	for _, c := range l.clients {
		clients = append(clients, c.Inspect())
	}
	for _, s := range l.servers {
		servers = append(servers, s.Inspect())
	}
	for _, p := range explain.PeersOf("", clients, servers) {
		if p.Has(f.TraceID) {
			f.Peers = append(f.Peers, p)
		}
	}
	for _, s := range l.rec.Spans() {
		if s.SpanContext().TraceID() == id {
			f.Spans = append(f.Spans, spanOf(s))
		}
	}
	return f
}

// spanOf converts a recorded span.
func spanOf(s sdktrace.ReadOnlySpan) explain.Span {
	kinds := map[trace.SpanKind]string{trace.SpanKindClient: "CLIENT", trace.SpanKindServer: "SERVER"}
	span := explain.Span{
		ID: s.SpanContext().SpanID().String(), Name: s.Name(), Kind: kinds[s.SpanKind()], Service: "lab",
		Start: s.StartTime(), End: s.EndTime(), Failed: s.Status().Code == codes.Error, Message: s.Status().Description,
		Attributes: map[string]string{},
	}
	if s.Parent().IsValid() {
		span.Parent = s.Parent().SpanID().String()
	}
	for _, a := range s.Attributes() {
		span.Attributes[string(a.Key)] = a.Value.String()
	}
	return span
}

// server returns a server with a tool for each kind of failure.
func (l *lab) server(o mcpserver.Options) *mcptest.Server {
	o.Telemetry = l.rec.Telemetry()
	s := mcptest.NewServer(l, &o)
	l.servers = append(l.servers, s.Server)
	type city struct {
		City string `json:"city"`
	}
	err := errors.Join(
		mcpserver.AddTool(s.Server, &mcp.Tool{Name: "forecast"}, func(_ context.Context, in city) (string, error) {
			return "sun in " + in.City, nil
		}),
		mcpserver.AddTool(s.Server, &mcp.Tool{Name: "refuses"}, func(context.Context, struct{}) (string, error) {
			return "", errors.New("there is no forecast for the moon")
		}),
		mcpserver.AddTool(s.Server, &mcp.Tool{Name: "stuck"}, func(ctx context.Context, _ struct{}) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}),
		mcpserver.AddTool(s.Server, &mcp.Tool{Name: "panics"}, func(context.Context, struct{}) (string, error) {
			panic("no such sky")
		}),
	)
	if err != nil {
		l.Fatal(err)
	}
	return s
}

// client returns a client that is not ready yet.
func (l *lab) client(t transport.Transport, o mcpclient.Options) *mcpclient.Client {
	l.Helper()
	o.Telemetry = l.rec.Telemetry()
	c, err := mcpclient.New(t, &o)
	if err != nil {
		l.Fatal(err)
	}
	l.clients = append(l.clients, c)
	return c
}

// ready returns a client that is ready. The attempt to connect is not part of the trace.
func (l *lab) ready(t transport.Transport, o mcpclient.Options) *mcpclient.Client {
	l.Helper()
	c := l.client(t, o)
	if err := c.WaitForReady(l.Context()); err != nil {
		l.Fatal(err)
	}
	return c
}

// connect tries once to connect within the trace, and returns the error. A failed client is not inspected, so only
// its spans remain.
func (l *lab) connect(t transport.Transport, o mcpclient.Options) error {
	o.Backoff.Attempts, o.Telemetry = 1, l.rec.Telemetry()
	c, err := mcpclient.Connect(l.ctx, t, &o)
	if err == nil {
		l.clients = append(l.clients, c)
	}
	return err
}

// call calls a tool and returns the outcome.
func (l *lab) call(c *mcpclient.Client, tool string, args any, o ...mcpclient.CallOption) error {
	result, err := c.CallTool(l.ctx, tool, args, o...)
	if err == nil {
		err = result.Err()
	}
	return err
}

// fails calls a tool and requires an error.
func (l *lab) fails(c *mcpclient.Client, tool string, args any, o ...mcpclient.CallOption) {
	l.Helper()
	if err := l.call(c, tool, args, o...); err == nil {
		l.Errorf("%s: want an error", tool)
	}
}

// called calls a tool of the lab's server.
func called(tool string, args any, o ...mcpclient.CallOption) func(*lab) {
	return func(l *lab) { l.fails(l.ready(l.server(mcpserver.Options{}), mcpclient.Options{}), tool, args, o...) }
}

// answered makes a call to a server that the test scripts frame by frame.
func answered(answer func(c *mcptest.Conversation, call mcptest.Message), set ...func(*mcpclient.Options)) func(*lab) {
	return func(l *lab) {
		script := mcptest.NewScript(l)
		var o mcpclient.Options
		for _, s := range set {
			s(&o)
		}
		c := l.client(script, o)
		server := script.Accept().Handshake(mcp.Version20251125)
		if err := c.WaitForReady(l.Context()); err != nil {
			l.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- l.call(c, "forecast", nil, mcpclient.WithTimeout(5*time.Second)) }()
		answer(server, server.Expect(mcp.MethodCallTool))
		<-done
		synctest.Wait()
	}
}

// refused makes a call that the server answers with an error.
func refused(code int, message string) func(*lab) {
	return answered(func(c *mcptest.Conversation, call mcptest.Message) { c.Refuse(call, code, message) })
}

// sent makes a call that the server answers with the result of the function frame, which gets the call's id.
func sent(frame func(id string) string, set ...func(*mcpclient.Options)) func(*lab) {
	return answered(func(c *mcptest.Conversation, call mcptest.Message) { c.Send(frame(string(call.ID))) }, set...)
}
