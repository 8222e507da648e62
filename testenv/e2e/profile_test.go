package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"net/http/httptest"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// burn uses the processor.
func burn(rounds int) {
	var block [4096]byte
	for range rounds {
		h := sha256.Sum256(block[:])
		copy(block[:], h[:])
	}
}

// Each handler has its own function, which identifies its samples.

//go:noinline
func burnQuick() { burn(12) }

//go:noinline
func burnSlow() { burn(1500) }

//go:noinline
func burnApart() { burn(1500) }

//go:noinline
func burnPrompt() { burn(1500) }

// page is a result that takes long to decode.
type page struct {
	Rows []map[string]float64 `json:"rows"`
}

// burner returns a server whose handlers use the processor: quick soon runs in the reading goroutine, apart works in a
// goroutine that its handler starts, and large has a large result.
func burner(tel *telemetry.Telemetry) *mcpserver.Server {
	s := mcpserver.New(mcp.Implementation{Name: "burner", Version: "1"}, &mcpserver.Options{Telemetry: tel})
	tool := func(name string, work func()) {
		must(mcpserver.AddTool(s, &mcp.Tool{Name: name}, func(context.Context, struct{}) (string, error) {
			work()
			return "done", nil
		}))
	}
	tool("quick", burnQuick)
	tool("slow", burnSlow)
	tool("apart", func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			burnApart()
		}()
		<-done
	})
	rows := page{make([]map[string]float64, 2000)}
	for i := range rows.Rows {
		rows.Rows[i] = map[string]float64{"a": 1.5, "b": float64(i), "c": 0.25}
	}
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "large"}, func(context.Context, struct{}) (page, error) {
		return rows, nil
	}))
	must(s.AddPrompt(&mcp.Prompt{Name: "prompt"},
		func(context.Context, *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
			burnPrompt()
			return nil, nil
		}))
	return s
}

// burnerOverPipe returns a transport to a server over a pair of pipes.
func burnerOverPipe(t *testing.T, s *mcpserver.Server) transport.Transport {
	t.Helper()
	fromClient, toServer, err := os.Pipe()
	must(err)
	fromServer, toClient, err := os.Pipe()
	must(err)
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), mcpserver.NewStreamConn(fromClient, toClient, 0)) }()
	t.Cleanup(func() {
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return transport.Streams(fromServer, toServer)
}

// burnerOverHTTP returns a transport to a server at a URL.
func burnerOverHTTP(t *testing.T, s *mcpserver.Server) transport.Transport {
	t.Helper()
	h := s.HTTPHandler(nil)
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	t.Cleanup(func() { must(h.Shutdown(context.Background())) })
	return &transport.HTTP{URL: web.URL}
}

// work calls every handler of a burner, again and again.
func work(t *testing.T, tel *telemetry.Telemetry, tr transport.Transport, version mcp.Version) {
	t.Helper()
	ctx := t.Context()
	c, err := mcpclient.Connect(ctx, tr, &mcpclient.Options{Telemetry: tel, Versions: []mcp.Version{version}})
	must(err)
	defer func() { must(c.Close()) }()
	for range 3000 {
		_, err := c.CallTool(ctx, "quick", nil)
		must(err)
	}
	for range 25 {
		for _, name := range []string{"slow", "apart"} {
			_, err := c.CallTool(ctx, name, nil)
			must(err)
		}
		_, err := c.GetPrompt(ctx, "prompt", nil)
		must(err)
		_, err = mcpclient.CallToolAs[page](ctx, c, "large", nil)
		must(err)
		for range 2 {
			var result any
			must(c.Call(ctx, mcp.MethodCallTool, &mcp.CallToolParams{Name: "large", Arguments: struct{}{}}, &result))
		}
	}
}

// TestProfileAttributesWorkToTools takes a CPU profile of servers over pipes and HTTP, in both eras, and of their
// clients. At least 95 % of the time in handlers and in decoding results must be attributed to the right tool or
// prompt.
func TestProfileAttributesWorkToTools(t *testing.T) {
	spans := sdktrace.NewTracerProvider()
	tel := telemetry.New(telemetry.WithTracerProvider(spans), telemetry.WithProfileLabels())
	var taken bytes.Buffer
	must(pprof.StartCPUProfile(&taken))
	for _, version := range []mcp.Version{mcp.SupportedVersions()[0], mcp.Version20251125} {
		work(t, tel, burnerOverPipe(t, burner(tel)), version)
		work(t, tel, burnerOverHTTP(t, burner(tel)), version)
	}
	pprof.StopCPUProfile()
	p, err := profile.Parse(&taken)
	must(err)
	for _, below := range []struct {
		function string
		labels   []string // alternating keys and values
	}{
		{"e2e.burnQuick", []string{"gen_ai.tool.name", "quick", "mcp.method.name", "tools/call"}},
		{"e2e.burnSlow", []string{"gen_ai.tool.name", "slow", "mcp.method.name", "tools/call"}},
		{"e2e.burnApart", []string{"gen_ai.tool.name", "apart", "mcp.method.name", "tools/call"}},
		{"e2e.burnPrompt", []string{"gen_ai.prompt.name", "prompt", "mcp.method.name", "prompts/get"}},
		{"conn.(*Request).Decode", []string{"mcp.method.name", "tools/call"}},
		{"mcpclient.readOutput", []string{"gen_ai.tool.name", "large", "mcp.method.name", "tools/call"}},
	} {
		samples, attributed, read := int64(0), int64(0), int64(0)
		for _, s := range p.Sample {
			if !onStack(s, below.function) {
				continue
			}
			samples += s.Value[0]
			if labelled(s, below.labels) {
				attributed += s.Value[0]
			}
			if onStack(s, "rpc.(*Reader).answer") {
				read += s.Value[0]
			}
		}
		t.Logf("below %s: %d samples, %d attributed, %d where requests are read", below.function, samples, attributed, read)
		if samples < 10 || attributed*100 < samples*95 {
			t.Errorf("below %s: %d of %d samples have the labels %q, want 95 %% of 10 at least", below.function, attributed,
				samples, below.labels)
		}
	}
}

// labelled reports whether a sample has labels, keys with their values.
func labelled(s *profile.Sample, labels []string) bool {
	for pair := range slices.Chunk(labels, 2) {
		if !s.HasLabel(pair[0], pair[1]) {
			return false
		}
	}
	return true
}

// onStack reports whether the stack of a sample contains a function with this suffix in its name.
func onStack(s *profile.Sample, function string) bool {
	for _, l := range s.Location {
		for _, line := range l.Line {
			if strings.HasSuffix(line.Function.Name, function) {
				return true
			}
		}
	}
	return false
}
