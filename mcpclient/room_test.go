package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// The send queue of a transport is limited in bytes: any number of concurrent calls has room if their bytes fit.
func TestManyConcurrentSmallCallsFitInSendQueue(t *testing.T) {
	calls := 20_000
	if heap.Raced {
		calls = 2000
	}
	params := json.RawMessage(`{"x":"` + strings.Repeat("x", 200) + `"}`)
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		var failed atomic.Int64
		var callers sync.WaitGroup
		for range calls {
			callers.Go(func() {
				if err := c.Call(t.Context(), "x/small", params, nil); err != nil {
					failed.Add(1)
				}
			})
		}
		time.Sleep(time.Second) // the server reads nothing during this time
		for range calls {
			v.Answer(v.Expect("x/small"), "{}")
		}
		callers.Wait()
		if n := failed.Load(); n > 0 {
			t.Errorf("of %d concurrent small calls, %d failed", calls, n)
		}
	})
}

// narrow runs f with a client whose transport is busy unless room is positive. Each accepted message lowers room by
// one.
func narrow(t *testing.T, o *mcpclient.Options, f func(t *testing.T, v *conversation, c *mcpclient.Client,
	room *atomic.Int64)) {
	t.Helper()
	var room atomic.Int64
	room.Store(1 << 30)
	rig := &rigged{send: func(transport.Message) (error, bool) {
		for {
			switch left := room.Load(); {
			case left <= 0:
				return transport.ErrBusy, true
			case room.CompareAndSwap(left, left-1):
				return nil, false
			}
		}
	}}
	bubbleWith(t, o, func(s *script) transport.Transport {
		rig.Transport = s
		return rig
	}, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).modern()
		await(t, c)
		room.Store(0)
		f(t, v, c, &room)
	})
}

// lineUp makes the calls x/0, x/1 and so on, one after the other in the line, and returns channels for their errors.
func lineUp(t *testing.T, c *mcpclient.Client, n int, options ...mcpclient.CallOption) (done []<-chan error) {
	t.Helper()
	for i := range n {
		done = append(done,
			background(func() error { return c.Call(t.Context(), fmt.Sprint("x/", i), nil, nil, options...) }))
		synctest.Wait()
	}
	return done
}

func TestCallsWaitingForRoomAreSentInOrder(t *testing.T) {
	for name, tt := range map[string]struct {
		o       *mcpclient.Options
		options []mcpclient.CallOption
	}{
		"call":   {nil, []mcpclient.CallOption{mcpclient.WaitForRoom()}},
		"client": {&mcpclient.Options{CallOptions: []mcpclient.CallOption{mcpclient.WaitForRoom()}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			narrow(t, tt.o, func(t *testing.T, v *conversation, c *mcpclient.Client, room *atomic.Int64) {
				done := lineUp(t, c, 20, tt.options...)
				time.Sleep(10 * time.Second)
				for i, d := range done {
					room.Store(1)
					begun := time.Now()
					v.Answer(v.Expect(fmt.Sprint("x/", i)), "{}")
					if err := <-d; err != nil || time.Since(begun) > conn.RoomEvery {
						t.Errorf("call %d: %v after %v, want its answer within %v after there is room", i, err,
							time.Since(begun), conn.RoomEvery)
					}
				}
				if n := mcpclient.ProbeOf(c).Figures().InLine; n != 0 {
					t.Errorf("%d calls are still in line", n)
				}
			})
		})
	}
}

func TestWaitForRoomEndsWithItsCall(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(ctx context.Context, c *mcpclient.Client) error // ends the call x/1, the second of the three waiting calls
		want error
		took time.Duration
	}{
		"timeout": {func(ctx context.Context, c *mcpclient.Client) error {
			return c.Call(ctx, "x/1", nil, nil, mcpclient.WithTimeout(3*time.Second))
		}, mcpclient.ErrTimeout, 3 * time.Second},
		"default timeout": {func(ctx context.Context, c *mcpclient.Client) error {
			return c.Call(ctx, "x/1", nil, nil)
		}, mcpclient.ErrTimeout, 30 * time.Second},
		"deadline": {func(ctx context.Context, c *mcpclient.Client) error {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			return c.Call(ctx, "x/1", nil, nil)
		}, mcpclient.ErrTimeout, 2 * time.Second},
		"cancelled": {func(ctx context.Context, c *mcpclient.Client) error {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return c.Call(ctx, "x/1", nil, nil)
		}, context.Canceled, time.Second},
		"connection lost": {func(ctx context.Context, c *mcpclient.Client) error {
			time.AfterFunc(time.Second, func() { mcpclient.ProbeOf(c).Lose(errors.New("broken")) })
			return c.Call(ctx, "x/1", nil, nil)
		}, mcpclient.ErrConnectionLost, time.Second},
		"stopped": {func(ctx context.Context, c *mcpclient.Client) error {
			time.AfterFunc(time.Second, func() { go c.Close() })
			return c.Call(ctx, "x/1", nil, nil)
		}, mcpclient.ErrShutdown, time.Second},
	} {
		for _, first := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", first in line: ", first), func(t *testing.T) {
				o := &mcpclient.Options{CallOptions: []mcpclient.CallOption{mcpclient.WaitForRoom()},
					Backoff: mcpclient.Backoff{Min: time.Hour, Max: time.Hour}}
				narrow(t, o, func(t *testing.T, v *conversation, c *mcpclient.Client, room *atomic.Int64) {
					patient := mcpclient.WithTimeout(time.Hour)
					var others []<-chan error
					if !first {
						others = append(others, background(func() error { return c.Call(t.Context(), "x/0", nil, nil, patient) }))
						synctest.Wait()
					}
					begun := time.Now()
					ended := background(func() error { return tt.end(t.Context(), c) })
					synctest.Wait()
					others = append(others, background(func() error { return c.Call(t.Context(), "x/2", nil, nil, patient) }))
					err := <-ended
					if took := time.Since(begun); !errors.Is(err, tt.want) || !mcpclient.SafeToRetry(err) || took != tt.took {
						t.Errorf("got %v after %v (safe to retry: %v), want %v after %v, safe", err, took, mcpclient.SafeToRetry(err),
							tt.want,
							tt.took)
					}
					if name == "connection lost" || name == "stopped" {
						for _, d := range others {
							if err := <-d; !errors.Is(err, tt.want) || !mcpclient.SafeToRetry(err) {
								t.Errorf("another in line: got %v, want %v, safe to retry", err, tt.want)
							}
						}
						return
					}
					for i, d := range others {
						room.Store(1)
						v.Answer(v.Receive(), "{}")
						if err := <-d; err != nil {
							t.Errorf("call %d of the others: %v", i, err)
						}
					}
				})
			})
		}
	}
}

// A call that does not wait for room must not overtake waiting calls. Otherwise a large frame would never find room.
func TestCallWithoutWaitForRoomDoesNotOvertakeWaitingCalls(t *testing.T) {
	narrow(t, nil, func(t *testing.T, v *conversation, c *mcpclient.Client, room *atomic.Int64) {
		done := lineUp(t, c, 2, mcpclient.WaitForRoom())
		room.Store(1)
		if err := c.Call(t.Context(), "x/impatient", nil, nil); !errors.Is(err, mcpclient.ErrBackpressure) {
			t.Errorf("with waiting calls: want %v, got %v", mcpclient.ErrBackpressure, err)
		}
		for i, d := range done {
			v.Answer(v.Expect(fmt.Sprint("x/", i)), "{}")
			if err := <-d; err != nil {
				t.Errorf("call %d in line: %v", i, err)
			}
			room.Store(100)
		}
		v.exchange(c)
	})
}

// The options of an operation also apply to the list before its call.
func TestToolListBeforeCallWaitsForRoom(t *testing.T) {
	narrow(t, nil, func(t *testing.T, v *conversation, c *mcpclient.Client, room *atomic.Int64) {
		done := background(func() error {
			_, err := mcpclient.CallToolAs[struct{}](t.Context(), c, "tool", nil, mcpclient.WaitForRoom())
			return err
		})
		time.Sleep(10 * time.Second)
		room.Store(2)
		v.Answer(v.Expect(mcp.MethodListTools), `{"tools":[]}`)
		v.Answer(v.Expect(mcp.MethodCallTool), `{"content":[],"structuredContent":{}}`)
		if err := <-done; err != nil {
			t.Errorf("want the call to succeed when there is room, got %v", err)
		}
	})
}
