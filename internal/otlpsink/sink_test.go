package otlpsink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
)

// patience bounds how long a test waits for a broken sink.
const patience = 20 * time.Second

func start(t *testing.T, limit int) *Sink {
	t.Helper()
	s, err := listen("", limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("Close: %v, want a graceful end", err)
		}
	})
	return s
}

func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// tracer returns a provider that exports each span when it ends.
func tracer(t *testing.T, s *Sink) *sdktrace.TracerProvider {
	t.Helper()
	e, err := otlptracegrpc.New(t.Context(), otlptracegrpc.WithEndpoint(s.Endpoint()), otlptracegrpc.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	tp := sdktrace.NewTracerProvider(sdktrace.WithSyncer(e))
	t.Cleanup(func() { tp.Shutdown(context.Background()) })
	return tp
}

// dial returns a bare client, for requests that no exporter makes.
func dial(t *testing.T, s *Sink) coltrace.TraceServiceClient {
	t.Helper()
	conn, err := grpc.NewClient(s.Endpoint(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return coltrace.NewTraceServiceClient(conn)
}

func request(names ...string) *coltrace.ExportTraceServiceRequest {
	scope := &trace.ScopeSpans{}
	for _, n := range names {
		scope.Spans = append(scope.Spans, &trace.Span{Name: n})
	}
	return &coltrace.ExportTraceServiceRequest{
		ResourceSpans: []*trace.ResourceSpans{{ScopeSpans: []*trace.ScopeSpans{scope}}},
	}
}

func TestOldestSpansAreDroppedAndCounted(t *testing.T) {
	s := start(t, 10)
	c := dial(t, s)
	for i := range 5 {
		names := make([]string, 5)
		for j := range names {
			names[j] = fmt.Sprintf("span %d", 5*i+j)
		}
		if _, err := c.Export(patient(t), request(names...)); err != nil {
			t.Fatal(err)
		}
	}
	got := s.Snapshot()
	if len(got.Spans) != 10 || got.Spans[0].Name != "span 15" || got.Spans[9].Name != "span 24" {
		t.Errorf("kept %v, want span 15 to span 24", got.Spans)
	}
	if want := (Dropped{Spans: 15}); got.Dropped != want {
		t.Errorf("Dropped = %+v, want %+v", got.Dropped, want)
	}
}

func TestOldestSpansAreDroppedAboveTheByteLimit(t *testing.T) {
	s := newStore(defaultLimit)
	for i := range 5 {
		s.addSpans([]Span{{Name: fmt.Sprint(2 * i)}, {Name: fmt.Sprint(2*i + 1)}}, maxBytes/2-1)
	}
	got, _ := s.look()
	if len(got.Spans) != 4 || got.Spans[0].Name != "6" || got.Dropped.Spans != 6 {
		t.Errorf("want the last two messages kept and 6 spans dropped, got %v and %d", got.Spans, got.Dropped.Spans)
	}
	s.addSpans([]Span{{Name: "huge"}}, 2*maxBytes)
	if got, _ = s.look(); len(got.Spans) != 1 || got.Spans[0].Name != "huge" {
		t.Errorf("want what came last kept, however large, got %v", got.Spans)
	}
	s.addSpans([]Span{{Name: "next"}}, 1)
	if got, _ = s.look(); len(got.Spans) != 1 || got.Spans[0].Name != "next" {
		t.Errorf("want the large one dropped for the next, got %v", got.Spans)
	}
}

func TestASnapshotDoesNotChange(t *testing.T) {
	s := start(t, 3)
	c := dial(t, s)
	export := func(names ...string) {
		t.Helper()
		if _, err := c.Export(patient(t), request(names...)); err != nil {
			t.Fatal(err)
		}
	}
	export("a", "b")
	before := s.Snapshot()
	export("c", "d", "e", "f")
	if len(before.Spans) != 2 || before.Spans[0].Name != "a" || before.Spans[1].Name != "b" {
		t.Errorf("a snapshot of a and b has become %v", before.Spans)
	}
}

func TestAppendingToASnapshotDoesNotReachTheSink(t *testing.T) {
	s := newStore(defaultLimit)
	for range 10 {
		s.addSpans([]Span{{Name: "received"}}, 1)
		s.addPoints([]Point{{Metric: "received"}}, 1)
		s.addRecords([]Record{{EventName: "received"}}, 1)
		now, _ := s.look()
		if len(now.Spans) < cap(now.Spans) || len(now.Points) < cap(now.Points) || len(now.Records) < cap(now.Records) {
			t.Fatalf("a snapshot has room for more, in which an append would meet the sink's own")
		}
	}
}

func TestWaitForSeesNewSpans(t *testing.T) {
	s := start(t, defaultLimit)
	tp := tracer(t, s)
	go func() {
		for i := range 3 {
			_, span := tp.Tracer("test").Start(context.Background(), fmt.Sprintf("span %d", i))
			span.End()
		}
	}()
	got, err := s.WaitFor(patient(t), func(now Snapshot) bool { return len(now.SpansNamed("span 2")) == 1 })
	if err != nil {
		t.Fatalf("WaitFor: %v", err)
	}
	if len(got.Spans) != 3 {
		t.Errorf("got %d spans, want the 3 that were sent by then", len(got.Spans))
	}
}

func TestWaitForReturnsASnapshotWhenItsContextEnds(t *testing.T) {
	s := start(t, defaultLimit)
	if _, err := dial(t, s).Export(patient(t), request("only")); err != nil {
		t.Fatal(err)
	}
	want := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	got, err := s.WaitFor(ctx, func(Snapshot) bool { cancel(want); return false })
	if err != want || len(got.Spans) != 1 {
		t.Errorf("WaitFor = %d spans and error %v, want 1 span and %v", len(got.Spans), err, want)
	}
}

func TestWaitForPrefersAResultToAContextThatIsDone(t *testing.T) {
	s := start(t, defaultLimit)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.WaitFor(ctx, func(Snapshot) bool { return true }); err != nil {
		t.Errorf("WaitFor with a true condition and a cancelled context: %v, want no error", err)
	}
}

func TestWaitForEndsWhenTheSinkIsClosed(t *testing.T) {
	s := start(t, defaultLimit)
	waiting := make(chan struct{})
	result := make(chan error)
	go func() {
		once := false
		_, err := s.WaitFor(context.Background(), func(Snapshot) bool {
			if !once {
				once = true
				close(waiting)
			}
			return false
		})
		result <- err
	}()
	<-waiting
	if err := s.Close(patient(t)); err != nil {
		t.Fatal(err)
	}
	if err := <-result; err != ErrClosed {
		t.Errorf("WaitFor = %v, want ErrClosed", err)
	}
}

func TestCloseLeavesNoGoroutineAndNoPort(t *testing.T) {
	s := start(t, defaultLimit)
	_, span := tracer(t, s).Tracer("test").Start(t.Context(), "before")
	span.End()
	if err := s.Close(patient(t)); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if err := s.Close(patient(t)); err != nil {
		t.Errorf("second Close: %v, want nil", err)
	}
	if got := len(s.Snapshot().SpansNamed("before")); got != 1 {
		t.Errorf("after Close the sink shows %d spans, want the 1 it received", got)
	}
	awaitNone(t, "grpc.(*Server)", "http2Server")
	l, err := net.Listen("tcp", s.Endpoint())
	if err != nil {
		t.Fatalf("the port is still taken after Close: %v", err)
	}
	l.Close()
}

// awaitNone waits until no goroutine runs these functions: a goroutine that a library has ended may not have returned
// yet.
func awaitNone(t *testing.T, functions ...string) {
	t.Helper()
	all := make([]byte, 1<<20)
	for ctx := patient(t); ; runtime.Gosched() {
		stacks := string(all[:runtime.Stack(all, true)])
		if !slices.ContainsFunc(functions, func(f string) bool { return strings.Contains(stacks, f) }) {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("a goroutine of the server is left after Close:\n%s", stacks)
		}
	}
}

func TestCloseCutsConnectionsWhenItsContextIsDone(t *testing.T) {
	s := start(t, defaultLimit)
	conn, err := net.Dial("tcp", s.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// A client that sends nothing blocks a graceful end, which waits for the client's handshake.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan error)
	go func() { done <- s.Close(ctx) }()
	select {
	case err := <-done:
		if err != nil && err != context.Canceled {
			t.Errorf("Close = %v, want nil or context.Canceled", err)
		}
	case <-patient(t).Done():
		t.Fatal("Close still waits for a connection though its context is done")
	}
}

func TestListenAcceptsOnlyLoopback(t *testing.T) {
	for _, addr := range []string{":0", "0.0.0.0:0", "192.0.2.1:0", "nonsense", "127.0.0.1:notaport"} {
		if s, err := Listen(addr); err == nil {
			s.Close(t.Context())
			t.Errorf("Listen(%q) succeeds, want an error", addr)
		}
	}
	taken := start(t, 1)
	if s, err := Listen(taken.Endpoint()); err == nil {
		s.Close(t.Context())
		t.Errorf("Listen on a port in use succeeds, want an error")
	}
}
