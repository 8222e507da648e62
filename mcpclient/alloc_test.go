//go:build unix

package mcpclient_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// installations are the telemetry configurations of programs that use a client.
var installations = []installation{
	{"observer=absent", func(testing.TB) *telemetry.Telemetry { return telemetry.Off() }},
	{"observer=nosdk", func(testing.TB) *telemetry.Telemetry { return telemetry.New() }},
	{"observer=unsampled", func(t testing.TB) *telemetry.Telemetry { return withSDK(t, sdktrace.NeverSample()) }},
	{"observer=sampling", func(t testing.TB) *telemetry.Telemetry { return withSDK(t, sdktrace.AlwaysSample()) }},
}

type installation struct {
	name string
	new  func(testing.TB) *telemetry.Telemetry
}

// withSDK returns a Telemetry with the SDK as in a typical program: batched spans, metrics, W3C propagation, and logs
// at level Info.
func withSDK(t testing.TB, s sdktrace.Sampler) *telemetry.Telemetry {
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSampler(s), sdktrace.WithBatcher(nowhere{}))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	t.Cleanup(func() {
		_ = tracers.Shutdown(context.Background())
		_ = meters.Shutdown(context.Background())
	})
	return telemetry.New(
		telemetry.WithTracerProvider(tracers), telemetry.WithMeterProvider(meters),
		telemetry.WithPropagators(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{},
			propagation.Baggage{})),
		telemetry.WithLogger(slog.New(infoOnly{slog.DiscardHandler})),
	)
}

// nowhere is a span exporter that discards all spans.
type nowhere struct{}

func (nowhere) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (nowhere) Shutdown(context.Context) error                             { return nil }

// infoOnly is a handler that handles records of level Info and above.
type infoOnly struct{ slog.Handler }

func (infoOnly) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// addition holds the arguments of a tiny tool.
type addition struct {
	A int `json:"a"`
	B int `json:"b"`
}

// adder returns a function that calls a tiny tool. The server is another process, so all allocations are the client's.
func adder(t testing.TB, tel *telemetry.Telemetry, arguments any) func() {
	c := connect(t, roleServer, &mcpclient.Options{Telemetry: tel})
	ctx := t.Context()
	return func() {
		r, err := c.CallTool(ctx, "add", arguments)
		if err != nil || len(r.Content) != 1 {
			t.Fatalf("want one text, got %v, %v", r, err)
		}
	}
}

// cost returns the average number of objects and bytes that a call allocates, in all goroutines.
func cost(call func()) (allocs, bytes float64) {
	const warm, calls = 200, 3000
	for range warm {
		call()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		call()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / calls, float64(after.TotalAlloc-before.TotalAlloc) / calls
}

// The test checks the limit for a tiny tools/call over stdio, with the arguments in a struct or a map, without an SDK.
func TestATinyCallStaysWithinItsAllocationBudget(t *testing.T) {
	if heap.Raced {
		t.Skip("the race detector allocates")
	}
	const most, mostBytes = 8, 1 << 10
	for _, arguments := range []any{&addition{1, 2}, map[string]any{"a": 1, "b": 2}} {
		for _, in := range installations {
			allocs, bytes := cost(adder(t, in.new(t), arguments))
			t.Logf("%T, %s: %.2f allocations, %.0f bytes", arguments, in.name, allocs, bytes)
			bare := in.name == "observer=absent" || in.name == "observer=nosdk"
			if bare && (allocs > most+0.5 || bytes > mostBytes) {
				t.Errorf("%T, %s: want at most %d allocations and %d bytes, got %.2f and %.0f",
					arguments, in.name, most, mostBytes, allocs, bytes)
			}
		}
	}
}

// httpAdder is like adder, over HTTP.
func httpAdder(t testing.TB, tel *telemetry.Telemetry, arguments any) func() {
	c, err := mcpclient.Connect(t.Context(), &transport.HTTP{URL: elsewhere(t)}, &mcpclient.Options{Telemetry: tel})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	ctx := t.Context()
	return func() {
		if _, err := c.CallTool(ctx, "add", arguments); err != nil {
			t.Fatal(err)
		}
	}
}

// elsewhere starts a server in another process and returns its URL. The server ends with the test.
func elsewhere(t testing.TB) string {
	t.Helper()
	child := server(t, roleHTTP)
	cmd := exec.Command(child.Command)
	cmd.Env = child.Env
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server writes its URL, got %v", err)
	}
	return strings.TrimSpace(url)
}

// playHTTP is a server process over HTTP that runs until its standard input ends.
func playHTTP() int {
	s := mcpserver.New(mcp.Implementation{Name: "adder", Version: "1"}, &mcpserver.Options{Telemetry: telemetry.Off()})
	err := s.AddTool(&mcp.Tool{Name: "add"},
		func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text("3")}}, nil
		})
	if err != nil {
		return 1
	}
	srv := httptest.NewServer(s.HTTPHandler(nil))
	fmt.Println(srv.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// The test checks the allocations that telemetry may add to a call, on each path. Of the 10 allocations of a sampled
// call, 9 are the SDK's, and one is the propagator's traceparent. The test uses one processor, because with more
// processors net/http allocates a timer now and then.
func TestTelemetryStaysWithinItsAllocationBudget(t *testing.T) {
	if heap.Raced {
		t.Skip("the race detector allocates")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const noise = 0.5 // allocations of concurrent code, and allocations that serve several calls
	for path, adder := range map[string]func(testing.TB, *telemetry.Telemetry, any) func(){
		"stdio": adder, "http": httpAdder,
	} {
		t.Run(path, func(t *testing.T) {
			absent, _ := cost(adder(t, telemetry.Off(), nil))
			for name, most := range map[string]float64{"observer=nosdk": 3, "observer=unsampled": 4, "observer=sampling": 10} {
				in := installations[slices.IndexFunc(installations, func(in installation) bool { return in.name == name })]
				allocs, _ := cost(adder(t, in.new(t), nil))
				more := allocs - absent
				t.Logf("%s: %.2f allocations more than without, which takes %.2f", name, more, absent)
				if more > most+noise {
					t.Errorf("%s: want at most %v allocations more than without, got %.2f", name, most, more)
				}
			}
		})
	}
}

func BenchmarkTinyCallOverStdio(b *testing.B) {
	for _, arguments := range []struct {
		name string
		v    any
	}{{"arguments=struct", &addition{1, 2}}, {"arguments=raw", json.RawMessage(`{"a":1,"b":2}`)}} {
		for _, in := range installations {
			b.Run(arguments.name+"/"+in.name, func(b *testing.B) {
				call := adder(b, in.new(b), arguments.v)
				call()
				b.ReportAllocs()
				for b.Loop() {
					call()
				}
			})
		}
	}
}
