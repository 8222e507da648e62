package mcpproxy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpproxy"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// addTasks adds tools that become tasks if the revision supports tasks. run records the ends of their handlers.
func addTasks(s *mcptest.Server, run *heard) {
	type sum struct{ Sum int }
	must(mcpserver.AddTool(s.Server,
		&mcp.Tool{Name: "compute", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskRequired}},
		func(ctx context.Context, in struct{ A, B int }) (sum, error) {
			time.Sleep(time.Minute)
			run.note("as a task: %v", mcpserver.RequestFrom(ctx).TaskID() != "")
			return sum{in.A + in.B}, nil
		}, mcpserver.TaskTool()))
	must(mcpserver.AddTool(s.Server, &mcp.Tool{Name: "fail"}, func(context.Context, struct{}) (sum, error) {
		return sum{}, errors.New("no disk")
	}, mcpserver.TaskTool()))
	must(mcpserver.AddTool(s.Server, &mcp.Tool{Name: "refuse"}, func(context.Context, struct{}) (sum, error) {
		return sum{}, &mcp.Error{Code: -31000, Message: "not today"}
	}, mcpserver.TaskTool()))
	must(mcpserver.AddTool(s.Server, &mcp.Tool{Name: "ask"}, func(ctx context.Context, _ struct{}) (string, error) {
		said, err := mcpserver.RequestFrom(ctx).Elicit(ctx, &mcp.ElicitParams{Message: "n?",
			RequestedSchema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)})
		if err != nil {
			return "", err
		}
		return fmt.Sprint(said.Action, said.Content["n"]), nil
	}, mcpserver.TaskTool()))
	must(mcpserver.AddTool(s.Server, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ struct{}) (string, error) {
		<-ctx.Done()
		run.note("ended")
		return "", ctx.Err()
	}, mcpserver.TaskTool()))
}

// eachTask runs f in a synctest bubble for a host of each revision, with a gateway whose only member has tasks.
func eachTask(t *testing.T, f func(t *testing.T, c *mcpclient.Client, run *heard, host mcp.Version)) {
	for _, member := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
		for _, host := range []mcp.Version{mcp.Version20250618, mcp.Version20251125, mcp.Version20260728} {
			t.Run(fmt.Sprintf("a server of %s, a host of %s", member, host), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					run := new(heard)
					s := mcptest.NewServer(t, &mcpserver.Options{Versions: []mcp.Version{member}, Telemetry: telemetry.Off()})
					addTasks(s, run)
					g, err := mcpproxy.NewGateway([]mcpclient.Member{{Name: "one", Transport: s}},
						&mcpproxy.GatewayOptions{Telemetry: telemetry.Off()})
					must(err)
					a := &around{t: t, gateway: g}
					defer a.end()
					c := a.host(host, able()...)
					defer leave(t, c)
					f(t, c, run, host)
				})
			})
		}
	}
}

func TestMemberTaskResultBecomesCallResult(t *testing.T) {
	eachTask(t, func(t *testing.T, c *mcpclient.Client, run *heard, _ mcp.Version) {
		r, err := c.CallTool(t.Context(), "one_compute", map[string]int{"A": 1, "B": 2}, mcpclient.WithTimeout(time.Hour))
		if err != nil || textOf(r) != `{"Sum":3}` || string(r.StructuredContent) != `{"Sum":3}` {
			t.Errorf("the host gets %+v, %v, want the sum", r, err)
		}
		if said := run.taken(); len(said) != 1 || said[0] != "as a task: true" {
			t.Errorf("the tool has run %q, want one task", said)
		}
		if r, err = c.CallTool(t.Context(), "one_fail", nil); err != nil || !r.IsError || textOf(r) != "no disk" {
			t.Errorf("a failed task is %+v, %v, want the tool's error", r, err)
		}
		_, err = c.CallTool(t.Context(), "one_refuse", nil)
		if e, ok := errors.AsType[*mcp.Error](err); !ok || e.Code != -31000 || e.Message != "not today" {
			t.Errorf("a refused task is %v, want the tool's error with its code", err)
		}
	})
}

// A host of 2026-07-28 accepts requests only in the answer to its call, which it gets after the end of the task. So the
// task's request fails.
func TestLegacyHostAnswersInputOfMemberTask(t *testing.T) {
	eachTask(t, func(t *testing.T, c *mcpclient.Client, _ *heard, host mcp.Version) {
		r, err := c.CallTool(t.Context(), "one_ask", nil, mcpclient.WithTimeout(time.Hour))
		said := fmt.Sprint(err)
		if err == nil {
			said = fmt.Sprint(textOf(r), r.IsError)
		}
		want := "accept7false"
		if host.Era() == mcp.Modern {
			want = "only in the answer to a call"
		}
		if !strings.Contains(said, want) {
			t.Errorf("the host gets %s, want %s", said, want)
		}
	})
}

func TestCancelledCallCancelsMemberTask(t *testing.T) {
	eachTask(t, func(t *testing.T, c *mcpclient.Client, run *heard, _ mcp.Version) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := c.CallTool(ctx, "one_wait", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the call answers %v, want a timeout", err)
		}
		synctest.Wait()
		time.Sleep(10 * time.Second)
		if said := run.taken(); len(said) != 1 || said[0] != "ended" {
			t.Errorf("the tool has recorded %q, want its end", said)
		}
	})
}
