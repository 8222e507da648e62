//go:build unix

package ndjson_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/ndjson"
)

// waits collects the waits that a writer reports.
type waits struct {
	mu  sync.Mutex
	all []time.Duration
}

func (w *waits) add(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, d)
}

func (w *waits) reported() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.all)
}

func wantQueued(t *testing.T, w *ndjson.Writer, when string, want int) {
	t.Helper()
	if got := w.Queued(); got != want {
		t.Errorf("%s: %d frames queued, want %d", when, got, want)
	}
}

func TestQueuedFramesAreReportedAfterTheirWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, reports := newGate(), &waits{}
		w := ndjson.NewWriter(g, 0, ndjson.Waited(reports.add))
		wantQueued(t, w, "idle", 0)
		for i := range 3 { // the first is being written, the others leave together
			if err := w.Send([]byte("frame")); err != nil {
				t.Fatal(err)
			}
			wantQueued(t, w, "after Send", i+1)
			time.Sleep(time.Second)
		}
		if got := reports.reported(); len(got) != 0 {
			t.Errorf("reported %v before a frame has left, want nothing", got)
		}
		g.pass <- nil
		synctest.Wait()
		wantQueued(t, w, "after the first write", 2)
		time.Sleep(time.Minute)
		g.pass <- nil
		if err := w.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantQueued(t, w, "after Flush", 0)
		if got, want := reports.reported(),
			[]time.Duration{3 * time.Second, 62 * time.Second, 61 * time.Second}; !slices.Equal(got, want) {
			t.Errorf("reported %v, want %v", got, want)
		}
	})
}

func TestDroppedFramesAreNeitherCountedNorReported(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *ndjson.Writer, *gate){
		"the stream fails": func(_ *testing.T, _ *ndjson.Writer, g *gate) { g.pass <- errors.New("cause") },
		"the writer is closed": func(t *testing.T, w *ndjson.Writer, g *gate) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_ = w.Close(ctx) // drops queued frames; the write continues
			wantQueued(t, w, "closed", 1)
			g.pass <- errors.New("cause")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, reports := newGate(), &waits{}
				w := ndjson.NewWriter(g, 0, ndjson.Waited(reports.add))
				for range 3 {
					_ = w.Send([]byte("frame"))
				}
				end(t, w, g)
				synctest.Wait()
				wantQueued(t, w, "in the end", 0)
				if got := reports.reported(); len(got) != 0 {
					t.Errorf("reported %v, want nothing", got)
				}
			})
		})
	}
}

func TestFrameWrittenAtOnceIsNotReported(t *testing.T) {
	r, f := pipe(t)
	reports := &waits{}
	w := ndjson.NewWriter(f, 0, ndjson.Waited(reports.add))
	sent := 0
	for range 10 {
		frame := make([]byte, 400)
		if err := w.Send(frame); err != nil {
			t.Fatal(err)
		}
		sent += len(frame) + 1
	}
	if err := w.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantQueued(t, w, "all written", 0)
	if got := reports.reported(); len(got) != 0 {
		t.Errorf("reported %v, want nothing", got)
	}
	if _, err := io.CopyN(io.Discard, r, int64(sent)); err != nil {
		t.Error(err)
	}
}

func TestAFullPipeMakesFramesWait(t *testing.T) {
	for _, size := range []int{10, 5000, 100_000} {
		r, f := pipe(t)
		reports := &waits{}
		w := ndjson.NewWriter(f, 0, ndjson.Waited(reports.add))
		accepted := fill(t, w, make([]byte, size))
		start, queued := time.Now(), w.Queued()
		if queued == 0 || queued > accepted/(size+1) || len(reports.reported()) != 0 {
			t.Errorf("pipe full: %d frames of %d queued and %d reported, want some and none", queued, accepted/(size+1),
				len(reports.reported()))
		}
		least := time.Since(start)
		if _, err := io.CopyN(io.Discard, r, int64(accepted)); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantQueued(t, w, "drained", 0)
		got := reports.reported()
		if len(got) != queued || slices.Min(got) < least {
			t.Errorf("%d frames reported, want the %d that were queued, each with %v at least", len(got), queued, least)
		}
	}
}
