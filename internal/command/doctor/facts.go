package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// facts are what an examination has found out about a server, for the checks to judge. What a failure kept it from
// finding out is zero.
type facts struct {
	limits      limits
	roomy       int  // how many names of tools metrics tell apart
	noListening bool // see Options

	tap       *tap
	witness   *witness
	session   *session // nil if the client was never ready
	err       error    // why it was not
	pings     []time.Duration
	pingErr   error
	offers    offers
	listening listenFacts
	trace     string // of the examination's requests; empty if it is not sampled
	took      time.Duration

	command *commandFacts // nil for a URL
	url     *urlFacts     // nil for a command
}

// commandFacts are about a server that is a child process.
type commandFacts struct {
	name    string
	path    string // of the executable
	lookErr error
	spans   []otlpsink.Span // that the process has exported
	sinkErr error           // why it could not
}

// urlFacts are about a server at a URL.
type urlFacts struct {
	url   *url.URL
	web   *web
	proxy string
	login *login // what the server said about authorization, nil if it wants none
}

// session is what client and server agreed on.
type session struct {
	ready        time.Duration // since the transport was asked to open a connection
	version      mcp.Version
	server       mcp.Implementation
	capabilities mcp.ServerCapabilities
	attempts     int
}

// limits divide the time of an examination.
type limits struct {
	whole   time.Duration
	connect time.Duration // until the client is ready
	attempt time.Duration // of one attempt to connect; a quarter of it is for the probe
	request time.Duration // of each request behind that
	end     time.Duration // of ending the connection
}

// newLimits divides the whole for a command: an attempt has the usual time, so that the probe has, too.
func newLimits(whole time.Duration) limits {
	whole = cmp.Or(whole, DefaultTimeout)
	part := func(percent time.Duration) time.Duration { return whole * percent / 100 }
	return limits{
		whole: whole, attempt: min(usualInit, whole), connect: part(80), request: part(20), end: min(part(15), 2*time.Second),
	}
}

// forURL leaves time for a second attempt: a server of testenv/quirks answers nothing before that.
func (l *limits) forURL() { l.attempt = min(usualInit, l.whole*7/10) }

// examination is one under way.
type examination struct {
	server  Server
	o       Options
	begun   time.Time
	facts   facts
	sink    *otlpsink.Sink // of a child process; nil for none
	stop    []func()       // what ends what the examination has started, the last first
	tracers trace.TracerProvider
}

func newExamination(s Server, o *Options) *examination {
	e := &examination{server: s, begun: time.Now()}
	if o != nil {
		e.o = *o
	}
	e.facts = facts{limits: newLimits(e.o.Timeout), witness: newWitness(e.o.Log), noListening: e.o.NoListening,
		roomy: cmp.Or(e.o.Roomy, telemetry.DefaultToolNameLimit)}
	if e.tracers = e.o.Tracers; e.tracers == nil {
		// a span that is not recorded has no id to send, and so there is a provider without exporters
		e.tracers = sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.AlwaysSample()))
	}
	return e
}

// gather does what there is to do with the server, and returns what that told.
func (e *examination) gather(ctx context.Context) *facts {
	f := &e.facts
	ctx, cancel := context.WithDeadline(ctx, e.begun.Add(f.limits.whole))
	defer cancel()
	defer func() {
		for _, stop := range slices.Backward(e.stop) {
			stop()
		}
	}()
	t, err := e.prepare(ctx)
	if err != nil {
		f.err = err
		return f
	}
	f.tap = &tap{Transport: t}
	spanCtx, span := e.tracers.Tracer("github.com/mcpotel/mcpotel/internal/command/doctor").Start(ctx, "mcpotel doctor")
	if span.SpanContext().IsSampled() {
		f.trace = span.SpanContext().TraceID().String()
	}
	e.visit(spanCtx)
	span.End()
	e.spans(ctx)
	f.took = time.Since(e.begun)
	return f
}

// prepare returns the transport with what watches it from below.
func (e *examination) prepare(ctx context.Context) (transport.Transport, error) {
	switch t := e.server.Transport.(type) {
	case transport.Stdio:
		return e.prepareCommand(t)
	case *transport.HTTP:
		return e.prepareURL(ctx, t)
	}
	return nil, errors.New("neither a command nor a URL")
}

// prepareCommand lets the process export to this one.
func (e *examination) prepareCommand(t transport.Stdio) (transport.Transport, error) {
	c := &commandFacts{name: t.Command}
	e.facts.command = c
	if c.path, c.lookErr = exec.LookPath(t.Command); c.lookErr != nil {
		return nil, c.lookErr
	}
	if e.sink, c.sinkErr = otlpsink.Listen("127.0.0.1:0"); c.sinkErr != nil {
		return t, nil
	}
	e.stop = append(e.stop, func() {
		ending, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_ = e.sink.Close(ending) // a process that is left has been cut off
	})
	if c.sinkErr = e.sink.ListenHTTP("127.0.0.1:0"); c.sinkErr == nil {
		t.Env = exporting(t.Env, e.sink)
	}
	return t, nil
}

// exporting returns the environment with the sink as the only Collector, by the protocol that the environment names,
// and soon.
func exporting(env []string, s *otlpsink.Sink) []string {
	if env == nil {
		env = os.Environ()
	}
	const prefix = "OTEL_EXPORTER_OTLP_"
	endpoint, protocol := "http://"+s.Endpoint(), "grpc"
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		key, value, _ := strings.Cut(kv, "=")
		if key == prefix+"PROTOCOL" && strings.HasPrefix(value, "http/") {
			endpoint, protocol = s.HTTPEndpoint(), value
		}
		return strings.HasPrefix(key, prefix)
	})
	return append(env, prefix+"ENDPOINT="+endpoint, prefix+"PROTOCOL="+protocol, "OTEL_BSP_SCHEDULE_DELAY=200")
}

// visit connects, asks and hangs up.
func (e *examination) visit(ctx context.Context) {
	f := &e.facts
	client, err := mcpclient.New(f.tap, &mcpclient.Options{
		ClientInfo: e.o.ClientInfo, Versions: e.o.Versions, Features: e.o.Features,
		InitTimeout: f.limits.attempt, StartTimeout: f.limits.connect, AuthTimeout: f.limits.attempt,
		InitialAttempts: 3, BackoffMin: 200 * time.Millisecond,
		RequestTimeout: f.limits.request, CloseTimeout: f.limits.end, NoCache: true,
		Telemetry: telemetry.New(telemetry.WithTracerProvider(e.tracers),
			telemetry.WithMeterProvider(metricnoop.NewMeterProvider()),
			telemetry.WithPropagators(propagation.TraceContext{}), telemetry.WithLogger(slog.New(f.witness))),
	})
	if err != nil {
		f.err = err
		return
	}
	defer client.Stop(context.WithoutCancel(ctx)) // bounded by CloseTimeout
	connecting, cancel := context.WithDeadline(ctx, e.begun.Add(f.limits.connect))
	defer cancel()
	if err := client.Await(connecting); err != nil {
		if f.err = cmp.Or(client.Status().Err, err); errors.Is(f.err, context.DeadlineExceeded) {
			f.err = fmt.Errorf("there was no session within %s", unit.Duration(f.limits.connect))
		}
		return
	}
	f.session = sessionOf(client, f.tap)
	asking, cancel := context.WithDeadline(ctx, e.begun.Add(f.limits.whole-f.limits.end))
	defer cancel()
	f.pings, f.pingErr = ping(asking, client)
	f.offers = ask(asking, client)
	f.listening = e.listen(asking, client)
}

func sessionOf(c *mcpclient.Client, t *tap) *session {
	s := &session{version: c.ProtocolVersion(), server: c.ServerInfo(), capabilities: c.ServerCapabilities()}
	if s.version == "" {
		return nil // it has been lost already
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s.ready = time.Since(t.dialed)
	if now := c.Status(); now.State == connstate.Ready {
		s.ready = now.Since.Sub(t.dialed)
	}
	s.attempts = t.dials
	return s
}

// maxPings is how often a server is pinged, within a second.
const maxPings = 5

// ping returns how long round trips took, in order of length.
func ping(ctx context.Context, c *mcpclient.Client) (took []time.Duration, err error) {
	for begun := time.Now(); len(took) < maxPings && time.Since(begun) < time.Second; {
		sent := time.Now()
		if err = c.Ping(ctx); err != nil {
			break
		}
		took = append(took, time.Since(sent))
	}
	slices.Sort(took)
	return took, err
}

// offers are what a server lists.
type offers struct {
	tools                         list[*mcp.Tool]
	resources, templates, prompts list[string] // names
}

// list is a list of a server.
type list[T any] struct {
	asked bool // the server says that it has such a list
	items []T
	bytes int // as JSON
	err   error
}

// ask asks for all lists that the server has.
func ask(ctx context.Context, c *mcpclient.Client) (o offers) {
	has := c.ServerCapabilities()
	same := func(t *mcp.Tool) *mcp.Tool { return t }
	if has.Tools != nil {
		o.tools = collect(c.Tools(ctx), same)
	}
	if has.Resources != nil {
		o.resources = collect(c.Resources(ctx), func(r *mcp.Resource) string { return r.URI })
		o.templates = collect(c.ResourceTemplates(ctx), func(t *mcp.ResourceTemplate) string { return t.URITemplate })
	}
	if has.Prompts != nil {
		o.prompts = collect(c.Prompts(ctx), func(p *mcp.Prompt) string { return p.Name })
	}
	return o
}

// collect reads a list and keeps of each item what keep returns.
func collect[I, T any](all iter.Seq2[I, error], keep func(I) T) list[T] {
	l := list[T]{asked: true}
	for item, err := range all {
		if err != nil {
			l.err = err
			break
		}
		l.items = append(l.items, keep(item))
		l.bytes += sizeOf(item)
	}
	return l
}

// sizeOf returns the size of an item as JSON.
func sizeOf(item any) int {
	text, err := json.Marshal(item)
	if err != nil {
		return 0 // it came as JSON, and so it cannot be
	}
	return len(text)
}

// spans waits for the spans of a child process, which has ended: they are there, or are about to be.
func (e *examination) spans(ctx context.Context) {
	if e.sink == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	now, _ := e.sink.WaitFor(ctx, func(s otlpsink.Snapshot) bool { return len(s.Trace(e.facts.trace)) > 0 })
	e.facts.command.spans = now.Spans
}
