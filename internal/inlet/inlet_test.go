package inlet_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/inlet"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// open returns a Conn around a peer that sends these frames and then ends.
func open(t *testing.T, room int, frames ...string) *inlet.Conn {
	t.Helper()
	conn, err := transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		for _, f := range frames {
			if p.Send(ctx, []byte(f)) != nil {
				return
			}
		}
	}).Dial(t.Context(), transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c := &inlet.Conn{Conn: conn, Room: room}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func frame(s string) transport.Frame { return transport.Frame{Data: []byte(s)} }

// all receives frames until the connection ends.
func all(t *testing.T, c *inlet.Conn) (got []string, end error) {
	t.Helper()
	for {
		f, _, err := c.Next(t.Context())
		if err != nil {
			return got, err
		}
		got = append(got, string(f.Data))
	}
}

// wants checks that Next returns these frames and then the end of the peer.
func wants(t *testing.T, c *inlet.Conn, want ...string) {
	t.Helper()
	if got, err := all(t, c); !slices.Equal(got, want) || !errors.Is(err, io.EOF) {
		t.Errorf("got %q and %v, want %q and the end", got, err, want)
	}
}

func TestDeliveredFramesPrecedeFramesOfThePeer(t *testing.T) {
	c := open(t, 0, "theirs")
	c.Deliver(frame("1"))
	c.Deliver(frame("2"))
	wants(t, c, "1", "2", "theirs")
}

// TestDelayedFramesArriveAtTheirTime draws random delivery times; some of them are equal.
func TestDelayedFramesArriveAtTheirTime(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		at := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 10).Draw(rt, "seconds")
		synctest.Test(t, func(t *testing.T) {
			c, begun := open(t, 0), time.Now()
			for i, s := range at {
				c.DeliverAt(begun.Add(time.Duration(s)*time.Second), transport.Frame{Request: int64(i + 1)})
			}
			last := [2]int{}
			for range at {
				f, delivered, err := c.Next(t.Context())
				if err != nil || !delivered {
					t.Fatalf("delivered %v, %v", delivered, err)
				}
				now := [2]int{int(time.Since(begun) / time.Second), int(f.Request)}
				if due := at[f.Request-1]; due != now[0] || slices.Compare(last[:], now[:]) >= 0 {
					t.Errorf("frame %d, due at %d, came at %d behind %v", f.Request, due, now[0], last)
				}
				last = now
			}
			if _, _, err := c.Next(t.Context()); !errors.Is(err, io.EOF) {
				t.Errorf("then %v, want the end", err)
			}
		})
	})
}

func TestHeldFrameArrivesOnReleaseOrAtItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, begun := open(t, 0), time.Now()
		c.Hold(begun.Add(time.Minute), frame("held"))
		if !c.Release() || c.Release() {
			t.Error("want one frame released, once")
		}
		c.Hold(begun.Add(time.Hour), frame("late"))
		wants(t, c, "held", "late")
		if took := time.Since(begun); took != time.Hour {
			t.Errorf("it took %v, want an hour", took)
		}
	})
}

func TestNoFrameArrivesDuringAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, begun := open(t, 0, "theirs"), time.Now()
		c.Deliver(frame("ours"))
		c.Pause(begun.Add(time.Minute))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := c.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("within the pause: %v", err)
		}
		wants(t, c, "ours", "theirs")
		if took := time.Since(begun); took != time.Minute {
			t.Errorf("it took %v, want a minute", took)
		}
	})
}

func TestPeerIsNotReadWhileTheInletIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, 1, "theirs")
		c.DeliverAt(time.Now().Add(time.Minute), frame("ours"))
		if !c.Full() {
			t.Error("there is room")
		}
		wants(t, c, "ours", "theirs")
	})
}

func TestEndTakesEffectAtOnceAndPersists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, 0)
		c.Pause(time.Now().Add(time.Hour))
		c.Deliver(frame("ours"))
		over := errors.New("over")
		time.AfterFunc(time.Second, func() {
			c.End(over)
			c.End(errors.New("again"))
		})
		begun := time.Now()
		for range 2 {
			if got, err := all(t, c); got != nil || err != over {
				t.Errorf("got %q, %v", got, err)
			}
		}
		if took := time.Since(begun); took != time.Second || c.Over() != over {
			t.Errorf("it took %v, and Over is %v", took, c.Over())
		}
	})
}

func TestCloseInterruptsNextAndDropsFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, 0)
		c.Pause(time.Now().Add(time.Hour))
		c.Deliver(frame("ours"))
		time.AfterFunc(time.Second, func() { _ = c.Close(t.Context()) })
		if got, err := all(t, c); got != nil || err == nil {
			t.Errorf("got %q, %v", got, err)
		}
		c.Deliver(frame("late"))
		if got, err := all(t, c); got != nil || err == nil {
			t.Errorf("after Close: got %q, %v", got, err)
		}
	})
}

// TestInletsCanBeNested nests two inlets, as a test does that wraps a server of package mcptest in chaos.
func TestInletsCanBeNested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := open(t, 0, "theirs")
		outer := &inlet.Conn{Conn: receiver{inner}}
		inner.DeliverAt(time.Now().Add(2*time.Second), frame("inner"))
		outer.DeliverAt(time.Now().Add(time.Second), frame("outer"))
		wants(t, outer, "theirs", "outer", "inner")
	})
}

// receiver makes an inlet a transport.Conn.
type receiver struct{ *inlet.Conn }

func (r receiver) Receive(ctx context.Context) (transport.Frame, error) {
	f, _, err := r.Next(ctx)
	return f, err
}
