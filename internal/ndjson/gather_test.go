//go:build unix

package ndjson_test

import (
	"bytes"
	"runtime"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/internal/ndjson"
)

// echo sends frames of one size from this number of senders. Like a caller, each sender waits for the arrival of its
// frame before it sends the next. echo returns the number of writes.
func echo(t *testing.T, w *ndjson.Writer, e *eager, r interface{ Read([]byte) (int, error) }, senders, each,
	size int) int {
	t.Helper()
	writes := 0
	e.meanwhile = func() { writes++ }
	arrived := make([]chan struct{}, senders)
	var all sync.WaitGroup
	for i := range senders {
		arrived[i] = make(chan struct{}, 1)
		frame := bytes.Repeat([]byte{byte('A' + i)}, size)
		all.Go(func() {
			for range each {
				if err := w.Send(frame); err != nil {
					t.Error(err)
					return
				}
				<-arrived[i]
			}
		})
	}
	in := ndjson.NewReader(r, roomy, false)
	for range senders * each {
		frame, err := in.Next()
		if err != nil {
			t.Fatal(err)
		}
		arrived[frame[0]-'A'] <- struct{}{}
	}
	all.Wait()
	return writes
}

func TestManySendersShareTheirWrites(t *testing.T) {
	for _, procs := range []int{1, 2, 8} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		r, f := pipe(t)
		e := &eager{File: f}
		w := ndjson.NewWriter(e, 0)
		if alone := echo(t, w, e, r, 1, 100, 400); alone != 100 {
			t.Errorf("%d processors: the frames of one sender went in %d writes, want 100", procs, alone)
		}
		const frames = 26 * 100
		if together := echo(t, w, e, r, 26, 100, 400); together > frames/2 {
			t.Errorf("%d processors: %d frames of 26 senders went in %d writes, want half as many or fewer", procs, frames,
				together)
		}
	}
}
