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

// facts are the findings about a server, which the checks evaluate. A field is zero if a failure prevented its finding.
type facts struct {
	limits        limits
	toolNameLimit int  // number of distinct tool names in metrics
	noListening   bool // see Options

	tap       *tap
	witness   *witness
	session   *session // nil if the client was never ready
	err       error    // why session is nil
	pings     []time.Duration
	pingErr   error
	offers    offers
	listening listenFacts
	trace     string // trace id of the examination's requests; empty if the trace is not sampled
	took      time.Duration

	command *commandFacts // nil for a URL
	url     *urlFacts     // nil for a command
}

// commandFacts are findings about a server that is a child process.
type commandFacts struct {
	name    string
	path    string // path of the executable
	lookErr error
	spans   []otlpsink.Span // exported by the process
	sinkErr error           // why the process could not export spans
}

// urlFacts are findings about a server at a URL.
type urlFacts struct {
	url   *url.URL
	web   *web
	proxy string
	login *login // progress of the authorization; nil if the caller has an authorizer
}

// session is the result of the handshake.
type session struct {
	ready        time.Duration // time from the first Dial to ready
	version      mcp.Version
	server       mcp.Implementation
	capabilities mcp.ServerCapabilities
	attempts     int
}

// limits divides the time of an examination.
type limits struct {
	whole   time.Duration
	connect time.Duration // time until the client is ready
	attempt time.Duration // one attempt to connect; a quarter of it is for the probe
	request time.Duration // each request after the handshake
	end     time.Duration // closing the connection
}

// newLimits divides the whole time for a server that is a command. An attempt gets the client's default time, so that
// the probe gets its default time as well.
func newLimits(whole time.Duration) limits {
	whole = cmp.Or(whole, DefaultTimeout)
	part := func(percent time.Duration) time.Duration { return whole * percent / 100 }
	return limits{
		whole: whole, attempt: min(defaultInit, whole), connect: part(80), request: part(20),
		end: min(part(15), 2*time.Second),
	}
}

// forURL leaves time for a second attempt, because some servers answer only the second one.
func (l *limits) forURL() { l.attempt = min(defaultInit, l.whole*7/10) }

// examination is an examination in progress.
type examination struct {
	server  Server
	o       Options
	start   time.Time
	facts   facts
	sink    *otlpsink.Sink // receives spans of the child process; nil if there is none
	stop    []func()       // releases resources, in reverse order
	tracers trace.TracerProvider
}

func newExamination(s Server, o *Options) *examination {
	e := &examination{server: s, start: time.Now()}
	if o != nil {
		e.o = *o
	}
	e.facts = facts{limits: newLimits(e.o.Timeout), witness: newWitness(e.o.Log), noListening: e.o.NoListening,
		toolNameLimit: cmp.Or(e.o.ToolNameLimit, telemetry.DefaultToolNameLimit)}
	if e.tracers = e.o.Tracers; e.tracers == nil {
		// a provider without exporters: only recorded spans have a trace id, which the requests send to the server
		e.tracers = sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.AlwaysSample()))
	}
	return e
}

// collect connects to the server, sends the requests, and returns the facts.
func (e *examination) collect(ctx context.Context) *facts {
	f := &e.facts
	ctx, cancel := context.WithDeadline(ctx, e.start.Add(f.limits.whole))
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
	e.useServer(spanCtx)
	span.End()
	e.waitForSpans(ctx)
	f.took = time.Since(e.start)
	return f
}

// prepare returns the transport with recorders below it.
func (e *examination) prepare(ctx context.Context) (transport.Transport, error) {
	switch t := e.server.Transport.(type) {
	case transport.Stdio:
		return e.prepareCommand(t)
	case *transport.HTTP:
		return e.prepareURL(ctx, t)
	}
	return nil, errors.New("neither a command nor a URL")
}

// prepareCommand makes the child process export its telemetry to this process.
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
		_ = e.sink.Close(ending) // ends connections of processes that still run
	})
	if c.sinkErr = e.sink.ListenHTTP("127.0.0.1:0"); c.sinkErr == nil {
		t.Env = exporting(t.Env, e.sink)
	}
	return t, nil
}

// exporting returns the environment with the sink as its only Collector, and with a short export interval. It keeps the
// protocol that the environment names.
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

// useServer connects, sends the requests and disconnects.
func (e *examination) useServer(ctx context.Context) {
	f := &e.facts
	client, err := mcpclient.New(f.tap, &mcpclient.Options{
		ClientInfo: e.o.ClientInfo, Versions: e.o.Versions, Features: e.o.Features,
		Timeouts: mcpclient.Timeouts{Init: f.limits.attempt, Start: f.limits.connect, Auth: f.limits.attempt,
			Close: f.limits.end},
		Backoff:        mcpclient.Backoff{Attempts: 3, Min: 200 * time.Millisecond},
		RequestTimeout: f.limits.request, CacheSize: -1,
		Telemetry: telemetry.New(telemetry.WithTracerProvider(e.tracers),
			telemetry.WithMeterProvider(metricnoop.NewMeterProvider()),
			telemetry.WithPropagators(propagation.TraceContext{}), telemetry.WithLogger(slog.New(f.witness))),
	})
	if err != nil {
		f.err = err
		return
	}
	defer client.Close() // bounded by CloseTimeout
	connecting, cancel := context.WithDeadline(ctx, e.start.Add(f.limits.connect))
	defer cancel()
	if err := client.WaitForReady(connecting); err != nil {
		if f.err = cmp.Or(client.Status().Err, err); errors.Is(f.err, context.DeadlineExceeded) {
			f.err = fmt.Errorf("no session within %s", unit.Duration(f.limits.connect))
		}
		return
	}
	f.session = sessionOf(client, f.tap)
	asking, cancel := context.WithDeadline(ctx, e.start.Add(f.limits.whole-f.limits.end))
	defer cancel()
	f.pings, f.pingErr = ping(asking, client)
	f.offers = listAll(asking, client)
	f.listening = e.listen(asking, client)
}

func sessionOf(c *mcpclient.Client, t *tap) *session {
	s := &session{version: c.ProtocolVersion(), server: c.ServerInfo(), capabilities: c.ServerCapabilities()}
	if s.version == "" {
		return nil // the session has ended already
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

// maxPings bounds the number of pings, which are sent within one second.
const maxPings = 5

// ping returns the sorted round-trip times.
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

// offers are the lists of a server.
type offers struct {
	tools                         list[*mcp.Tool]
	resources, templates, prompts list[string] // URIs, URI templates and names
}

// list is one list of a server.
type list[T any] struct {
	asked bool // the server declares the list
	items []T
	bytes int // size as JSON
	err   error
}

// listAll reads all lists that the server declares.
func listAll(ctx context.Context, c *mcpclient.Client) (o offers) {
	has := c.ServerCapabilities()
	same := func(t *mcp.Tool) *mcp.Tool { return t }
	if has.Tools != nil {
		o.tools = readList(c.Tools(ctx), same)
	}
	if has.Resources != nil {
		o.resources = readList(c.Resources(ctx), func(r *mcp.Resource) string { return r.URI })
		o.templates = readList(c.ResourceTemplates(ctx), func(t *mcp.ResourceTemplate) string { return t.URITemplate })
	}
	if has.Prompts != nil {
		o.prompts = readList(c.Prompts(ctx), func(p *mcp.Prompt) string { return p.Name })
	}
	return o
}

// readList reads a list and stores keep(item) for each item.
func readList[I, T any](all iter.Seq2[I, error], keep func(I) T) list[T] {
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
		return 0 // unreachable: the item was decoded from JSON
	}
	return len(text)
}

// waitForSpans waits up to 100 ms for the last spans of the child process, which has ended.
func (e *examination) waitForSpans(ctx context.Context) {
	if e.sink == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	now, _ := e.sink.WaitFor(ctx, func(s otlpsink.Snapshot) bool { return len(s.Trace(e.facts.trace)) > 0 })
	e.facts.command.spans = now.Spans
}
