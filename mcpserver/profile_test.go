package mcpserver_test

import (
	"context"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/testsupport/labels"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// ofTool is the beginning of the labels of the goroutine that runs the tool.
const ofTool = `{"gen_ai.tool.name":"tool", "mcp.method.name":"tools/call", "span_id":"`

// reads is a function on the stack of each goroutine that reads a connection.
const reads = "rpc.(*Reader).Run"

// TestReadingGoroutineIsLabelledDuringQuickTool checks the labels of the reading goroutines during and after a quick
// tool. The tool occupies one of the goroutines, by taking time or by asking the client.
func TestReadingGoroutineIsLabelledDuringQuickTool(t *testing.T) {
	const served = `{"team":"a"}` // the labels of the context of Serve
	for name, tt := range map[string]struct {
		then  func(ctx context.Context) // the tool, which takes a second
		after time.Duration             // time until another goroutine takes over reading
	}{
		"for long": {func(context.Context) { time.Sleep(time.Second) }, mcpserver.Patience},
		"with a question": {then: func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, _ = mcpserver.RequestFrom(ctx).ListRoots(ctx)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := telemetrytest.Recorder(t, telemetry.WithProfileLabels())
				ctx := pprof.WithLabels(t.Context(), pprof.Labels("team", "a"))
				s := withTool(t, mcpserver.Options{Telemetry: rec.Telemetry()}, "tool",
					(&turning{func(ctx context.Context) (*mcp.CallToolResult, error) {
						tt.then(ctx)
						return nil, nil
					}}).call)
				must(t, s.AddTool(&mcp.Tool{Name: "slow"},
					func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
						time.Sleep(time.Minute)
						return nil, nil
					}))
				w := serve(t, ctx, s)
				w.send(initializeAble, initialized)
				w.taken()
				w.practise(t, mcpserver.FirstTrust)
				w.later(callOf(2, "slow", "{}")) // occupies the idle goroutine, so that the next task gets a new goroutine
				synctest.Wait()
				if got := labels.Of(t, reads); !slices.Equal(got, []string{served}) {
					t.Errorf("between calls the goroutine that reads has the labels %q, want %q", got, served)
				}
				w.later(callOf(1, "tool", turn))
				time.Sleep(tt.after)
				synctest.Wait()
				got := labels.Of(t, reads)
				slices.Sort(got)
				if len(got) != 2 || !strings.HasPrefix(got[0], ofTool) || got[1] != served {
					t.Errorf("goroutines that read have the labels %q, want the tool's for the one that runs it, and %q", got, served)
				}
				time.Sleep(time.Hour)
				if got := labels.Of(t, reads); !slices.Equal(got, []string{served}) {
					t.Errorf("after the call the goroutine that reads has the labels %q, want %q", got, served)
				}
				w.taken()
				if err := w.finish(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestHandlerContextHasProfileLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t, telemetry.WithProfileLabels())
		method := ""
		w := opened(t, t.Context(), withTool(t, mcpserver.Options{Telemetry: rec.Telemetry()}, "tool",
			func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				method, _ = pprof.Label(ctx, "mcp.method.name")
				return nil, nil
			}))
		w.send(callOf(1, "tool", "{}"))
		w.taken()
		if method != mcp.MethodCallTool {
			t.Errorf("the context of the handler has the method %q, want %q", method, mcp.MethodCallTool)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}
