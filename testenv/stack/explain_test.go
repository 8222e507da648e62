package stack_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
)

// explainedCall is a call with the expected explanation of its trace.
type explainedCall struct {
	calling
	want []string
	id   string // id of the trace
}

// explainedCalls returns the calls over a healthy connection, and the calls over a connection that a plan breaks. The
// last call of each list ends the connection.
func explainedCalls() (sound, broken []explainedCall) {
	seconds, bytes := map[string]any{"seconds": 30}, map[string]any{"bytes": 10}
	return []explainedCall{
			{calling: calling{tool: "fail", outcome: "tool_error"}, want: []string{"(tool_error, certain)"}},
			{calling: calling{tool: "refuse", outcome: "-31050"}, want: []string{"(server_error, certain)"}},
			{calling: calling{tool: "wait", arguments: seconds, timeout: time.Second, outcome: "timeout"},
				want: []string{"(server_slow, certain)", "when the call timed out"}},
			{calling: calling{tool: "crash", outcome: "connection_lost"}, want: []string{"(connection_closed, certain)"}},
		}, []explainedCall{
			{calling: calling{tool: "log", outcome: "ok"}, want: []string{"(injected_latency, certain)", "(slow_way, certain)"}},
			{calling: calling{tool: "big", arguments: bytes, outcome: "connection_lost"},
				want: []string{"(injected_cut, certain)", "(connection_closed, certain)"}},
		}
}

// TestAnAgentLearnsFromJaegerWhyACallFailed makes failing calls. "mcpotel mcp" must name the cause of each from its
// trace alone.
func TestAnAgentLearnsFromJaegerWhyACallFailed(t *testing.T) {
	ctx := limit(t, time.Minute)
	server := shopProcess(t, "server, explained")
	plan := &chaos.Plan{Faults: []chaos.Fault{
		{Kind: chaos.Cut, On: chaos.OnAnswer, Tool: "big"}, {Kind: chaos.Latency, Tool: "log", Delay: 600 * time.Millisecond},
	}}
	chaotic, err := chaos.Wrap(server, plan)
	if err != nil {
		t.Fatal(err)
	}
	sound, broken := explainedCalls()
	failAll(t, ctx, server, sound)
	failAll(t, ctx, chaotic, broken)
	agent := askingWhy(t, ctx)
	for _, f := range slices.Concat(sound, broken) {
		last := ""
		if !within(limit(t, 20*time.Second), func() bool {
			last = explained(t, ctx, agent, f.id)
			first, _, _ := strings.Cut(last, "\n   - ") // the evidence of the first cause
			return strings.Contains(first, f.want[0]) && containsAll(last, f.want)
		}) {
			t.Errorf("%s: want %q, got\n%s", f.tool, f.want, last)
		}
	}
}

// failAll makes the calls, and exports their traces.
func failAll(t *testing.T, ctx context.Context, server transport.Transport, calls []explainedCall) {
	t.Helper()
	providers := service(t, up, "client, explained")
	c, err := connectOurs(ctx, server, mcp.Version20260728, providers)
	if err != nil {
		t.Fatal(err)
	}
	for i := range calls {
		calls[i].name = calls[i].tool
		calls[i].id = makeOne(t, ctx, c, providers, &calls[i].calling)
	}
	if err := c.close(ctx); err != nil {
		t.Error(err)
	}
	flush(t, providers)
}

// askingWhy connects a client to "mcpotel mcp", whose only source is the stack's Jaeger.
func askingWhy(t *testing.T, ctx context.Context) *mcpclient.Client {
	t.Helper()
	jaeger := fmt.Sprintf("http://127.0.0.1:%d", up.Ports.JaegerUI)
	server := transport.Stdio{Command: mcpotelCommand(t, ctx), Args: []string{"mcp", "--jaeger", jaeger}}
	c, err := mcpclient.Connect(ctx, server, &mcpclient.Options{Telemetry: telemetry.Off(), CacheSize: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// mcpotelCommand builds the program mcpotel.
func mcpotelCommand(t *testing.T, ctx context.Context) string {
	t.Helper()
	command := filepath.Join(t.TempDir(), "mcpotel")
	build := exec.CommandContext(ctx, "go", "build", "-o", command, "./cmd/mcpotel")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return command
}

// explained returns the answer of the tool explain for a trace.
func explained(t *testing.T, ctx context.Context, agent *mcpclient.Client, trace string) string {
	t.Helper()
	r, err := agent.CallTool(ctx, "explain", map[string]any{"trace_id": trace})
	if err != nil {
		t.Fatal(err)
	}
	return r.Text()
}

func containsAll(text string, all []string) bool {
	for _, one := range all {
		if !strings.Contains(text, one) {
			return false
		}
	}
	return true
}
