package chaos

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// dial opens a connection with a plan of faults. accept runs the server.
func dial(t *testing.T, p *Plan, accept func(ctx context.Context, p *transport.Peer)) *conn {
	t.Helper()
	w, err := Wrap(transport.InMemory(accept), p)
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.Dial(t.Context(), transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c.(*conn)
}

// ask returns a request with this method.
func ask(id int64, method string, data []byte) transport.Message {
	return transport.Message{Kind: transport.KindRequest, ID: id, Method: method, Data: data}
}

// TestDelayedMessagesAreBounded sends and receives more delayed messages than the bound allows.
func TestDelayedMessagesAreBounded(t *testing.T) {
	large := []byte(`{"jsonrpc":"2.0","method":"x","params":{"x":"` + strings.Repeat("x", 64<<10) + `"}}`)
	const most = leastRoom/(64<<10) + 1
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64 // by the server
		c := dial(t, &Plan{Faults: []Fault{
			{Kind: Latency, On: OnRequest, Delay: time.Hour}, {Kind: Latency, On: OnNotification, Delay: time.Hour},
		}}, func(ctx context.Context, p *transport.Peer) {
			for p.Send(ctx, large) == nil {
				sent.Add(1)
			}
		})
		accepted := 0
		for ; accepted <= most && c.Send(t.Context(), ask(int64(accepted), "x", large)) == nil; accepted++ {
		}
		if n := c.Info().Queued; n != accepted {
			t.Errorf("%d messages have not left, of %d", n, accepted)
		}
		if err := c.Send(t.Context(), ask(0, "x", large)); accepted == 0 || accepted > most ||
			!errors.Is(err, transport.ErrBusy) {
			t.Errorf("%d messages accepted, and then %v; want %d at most, and ErrBusy", accepted, err, most)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := c.Receive(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("received %v", err)
		}
		if n := sent.Load(); n < most/2 || n > most+1 { // one is in the pipe
			t.Errorf("%d messages read, want about %d", n, most)
		}
		_ = c.Close(t.Context())
	})
}

func TestRetainedRequestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, &Plan{Faults: []Fault{{Kind: Drop}}}, func(ctx context.Context, p *transport.Peer) {
			for {
				if _, err := p.Receive(ctx); err != nil {
					return
				}
			}
		})
		long := ask(0, mcp.MethodCallTool, []byte("{}"))
		long.Name = strings.Repeat("x", 1000)
		for long.ID = range 2000 {
			if err := c.Send(t.Context(), long); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if n := len(c.asked); n == 0 || n > mostAsked/1000 || c.askedBytes > mostAsked {
			t.Errorf("%d requests are stored, with %d bytes", n, c.askedBytes)
		}
		for id := range int64(2000) {
			c.Cancel(id, transport.Message{Data: []byte("{}")})
			synctest.Wait()
		}
		if len(c.asked) != 0 || c.askedBytes != 0 {
			t.Errorf("%d requests are stored after all were cancelled, with %d bytes", len(c.asked), c.askedBytes)
		}
		_ = c.Close(t.Context())
	})
}

// TestDelayedMessagesAreSentInTimeOrder sends a slow message, a quick message and a cancellation.
func TestDelayedMessagesAreSentInTimeOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := make(chan string, 10)
		c := dial(t, &Plan{Faults: []Fault{
			{Kind: Latency, On: OnRequest, Method: "slow", Delay: 2 * time.Second},
			{Kind: Latency, On: OnRequest, Method: "quick", Delay: time.Second},
		}}, func(ctx context.Context, p *transport.Peer) {
			for {
				f, err := p.Receive(ctx)
				if err != nil {
					return
				}
				heard <- string(f)
			}
		})
		for id, method := range []string{"slow", "quick", "slow", "at once"} {
			if err := c.Send(t.Context(), ask(int64(id), method, []byte(method))); err != nil {
				t.Fatal(err)
			}
		}
		c.Cancel(2, transport.Message{Data: []byte("a notice of what was never sent")})
		time.Sleep(time.Minute)
		_ = c.Close(t.Context())
		close(heard)
		var got []string
		for s := range heard {
			got = append(got, s)
		}
		if want := "at once, quick, slow"; strings.Join(got, ", ") != want {
			t.Errorf("got %q, want %s", got, want)
		}
	})
}
