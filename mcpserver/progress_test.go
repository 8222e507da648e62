package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

const callWithProgress = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool",` +
	`"_meta":{"progressToken":"t"}}}`

func TestProgressOutsideOfARequestDoesNothing(t *testing.T) {
	r := mcpserver.RequestFrom(t.Context())
	if err := r.Progress(t.Context(), 1, 2, ""); err != nil {
		t.Errorf("Progress returned %v, want nil without a request for progress", err)
	}
	if c := r.Client(); c.Name != "" {
		t.Errorf("Client returned %+v, want no client", c)
	}
	if c := r.ClientCapabilities(); c.Roots != nil {
		t.Errorf("ClientCapabilities returned %+v, want none", c)
	}
}

func TestProgressEndsWithTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late func() error
		s := withTool(t, mcpserver.Options{}, "tool",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				late = func() error { return r.Progress(context.Background(), 2, 0, "late") }
				return nil, r.Progress(ctx, 1, 0, "")
			})
		w := opened(t, t.Context(), s)
		w.send(callWithProgress)
		want := []string{
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`,
		}
		if out := w.taken(); !slices.Equal(out, want) {
			t.Errorf("the server sent %q, want %q", out, want)
		}
		if err := late(); !errors.Is(err, mcpserver.ErrAnswered) {
			t.Errorf("Progress after the answer returned %v, want ErrAnswered", err)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
		if out := w.taken(); len(out) > 0 {
			t.Errorf("after the answer the server sent %q, want nothing", out)
		}
	})
}

func TestResponseWaitsForPendingProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{}, "tool",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				go func() { _ = r.Progress(context.WithoutCancel(ctx), 1, 0, "") }()
				time.Sleep(time.Second) // in this time, the report starts to wait for the client
				return nil, nil
			})
		w := opened(t, t.Context(), s)
		release := w.block()
		w.send(callWithProgress)
		time.Sleep(2 * time.Second)
		release()
		synctest.Wait()
		if out := w.taken(); len(out) != 2 || decoded(t, out[0]).Method != mcp.NotificationProgress {
			t.Errorf("the server sent %q, want the progress before the answer", out)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestProgressStopsTheHandlerOfACancelledRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var err error
		s := withTool(t, mcpserver.Options{}, "tool",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				err = r.Progress(context.WithoutCancel(ctx), 1, 0, "")
				return nil, nil
			})
		w := opened(t, t.Context(), s)
		w.send(callWithProgress)
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if err == nil || err.Error() != "cancelled by the client" {
			t.Errorf("Progress returned %v, want that the client cancelled", err)
		}
		if out := w.taken(); len(out) > 0 {
			t.Errorf("the server sent %q for a cancelled request, want nothing", out)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestProgressErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		var errs []error
		s := withTool(t, mcpserver.Options{}, "tool",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				errs = append(errs,
					r.Progress(cancelled, 1, 0, ""),
					r.Progress(ctx, math.Inf(1), 0, ""),
					r.Progress(ctx, math.NaN(), 0, ""),
					r.Progress(ctx, 1, math.Inf(1), ""),
				)
				return nil, nil
			})
		w := opened(t, t.Context(), s)
		w.send(callWithProgress)
		got := fmt.Sprint(errs[0] != nil, errs[1] != nil, errs[2] != nil, errs[3] != nil)
		if want := "true true true false"; got != want {
			t.Errorf("errors for a context that has ended, infinite, undefined, infinite total: %v, want %s", errs, want)
		}
		if out := w.taken(); len(out) != 2 {
			t.Errorf("the server sent %q, want one notification and the answer", out)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}
