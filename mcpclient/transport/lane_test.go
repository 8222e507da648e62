package transport

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// The test compares a lane with a slice.
func TestLaneIsABoundedQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &lane{
			maxFrames: rapid.IntRange(0, 4).Draw(t, "frames"),
			maxBytes:  rapid.IntRange(1, 4*laneOverhead).Draw(t, "bytes"),
		}
		var model []string
		var closed, final bool
		var end error
		done, cancel := context.WithCancel(context.Background())
		cancel()
		t.Repeat(map[string]func(*rapid.T){
			"offer": func(t *rapid.T) {
				data := rapid.StringMatching(`a{0,25}`).Draw(t, "data")
				size := len(data) + laneOverhead
				for _, f := range model {
					size += len(f) + laneOverhead
				}
				var want error
				switch {
				case closed:
					want = ErrClosed
				case len(model) > 0 && (len(model) == l.maxFrames || size > l.maxBytes):
					want = ErrBusy
				default:
					model = append(model, data)
				}
				if _, got := l.offer([]byte(data)); got != want {
					t.Fatalf("offer: want %v, got %v", want, got)
				}
			},
			"take": func(t *rapid.T) {
				if len(model) == 0 && !closed {
					t.Skip("put would wait")
				}
				got, err := l.take(context.Background())
				if len(model) == 0 {
					final = true
					if err != end || got != nil {
						t.Fatalf("take: want %v, got %q and %v", end, got, err)
					}
					return
				}
				if err != nil || string(got) != model[0] {
					t.Fatalf("take: want %q, got %q and %v", model[0], got, err)
				}
				model = slices.Delete(model, 0, 1)
			},
			"take nothing": func(t *rapid.T) {
				if got, err := l.take(done); err != context.Canceled || got != nil {
					t.Fatalf("take: want the cause of the context, got %q and %v", got, err)
				}
			},
			"finish": func(t *rapid.T) {
				l.finish(io.EOF)
				if !closed {
					closed, end = true, io.EOF
				}
			},
			"abandon": func(t *rapid.T) {
				l.abandon(ErrClosed)
				if !final {
					end = ErrClosed
				}
				model, closed, final = nil, true, true
			},
			"": func(t *rapid.T) {
				if got := l.len(); got != len(model) {
					t.Fatalf("want %d frames in the lane, got %d", len(model), got)
				}
			},
		})
	})
}

func TestLaneWaitsForSpaceAndReportsQueueWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waited []time.Duration
		l := &lane{maxFrames: 1, maxBytes: 10, waited: func(d time.Duration) { waited = append(waited, d) }}
		results := make(chan error, 1)
		put := func(ctx context.Context, data string) { results <- l.put(ctx, []byte(data)) }

		go put(t.Context(), "one")
		if err := <-results; err != nil {
			t.Errorf("put: want it accepted, got %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go put(ctx, "too late")
		if err := <-results; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("put: want the cause of the context, got %v", err)
		}
		go put(t.Context(), "two")
		synctest.Wait()
		for _, want := range []string{"one", "two"} {
			if got, err := l.take(t.Context()); err != nil || string(got) != want {
				t.Errorf("take: want %q, got %q and %v", want, got, err)
			}
			if want == "one" {
				if err := <-results; err != nil {
					t.Errorf("put: want it accepted once there is space, got %v", err)
				}
			}
		}
		if want := []time.Duration{time.Second, 0}; !slices.Equal(waited, want) {
			t.Errorf("want the frames to have waited %v, got %v", want, waited)
		}
	})
}
