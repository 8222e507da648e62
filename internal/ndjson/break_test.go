//go:build unix

package ndjson_test

import (
	"bytes"
	"errors"
	"syscall"
	"testing"

	"github.com/mcpotel/mcpotel/internal/ndjson"
)

// The reader closes the pipe before the writer's first, second, ... attempt to write. The sender's result depends on
// whether a byte of its frame had left by then.
func TestErrorMeansNoByteOfTheFrameWasWritten(t *testing.T) {
	large := bytes.Repeat([]byte("L"), 1<<20) // larger than any pipe
	for _, tt := range []struct {
		name    string
		frame   []byte
		breaks  int    // the reader closes before this attempt
		other   string // frame that another sender queues in the meantime
		refused bool
	}{
		{name: "small, before the first byte", frame: []byte("mine"), breaks: 1, refused: true},
		{name: "large, before the first byte", frame: large, breaks: 1, refused: true},
		{name: "large, after a part of it", frame: large, breaks: 2},
		{name: "small, after it, before another's", frame: []byte("mine"), breaks: 2, other: "other"},
		{name: "empty, after it, before another's", frame: nil, breaks: 2, other: "other"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, f := pipe(t)
			e := &eager{File: f}
			w := ndjson.NewWriter(e, 0)
			attempts := 0
			e.meanwhile = func() {
				attempts++
				if attempts == tt.breaks {
					r.Close()
				}
				if attempts == 1 && tt.other != "" {
					if err := w.Send([]byte(tt.other)); err != nil {
						t.Errorf("Send of another: %v, want it to be accepted", err)
					}
				}
			}
			err := w.Send(tt.frame)
			if attempts != tt.breaks {
				t.Fatalf("%d attempts to write, want the last to be number %d", attempts, tt.breaks)
			}
			if tt.refused && !isBroken(err) || !tt.refused && err != nil {
				t.Errorf("Send: %v, want it refused: %v", err, tt.refused)
			}
			if err := w.Send([]byte("next")); !isBroken(err) {
				t.Errorf("Send after the break: %v, want %v and %v", err, ndjson.ErrClosed, syscall.EPIPE)
			}
			if err := w.Flush(t.Context()); !isBroken(err) {
				t.Errorf("Flush after the break: %v, want %v and %v", err, ndjson.ErrClosed, syscall.EPIPE)
			}
		})
	}
}

func isBroken(err error) bool {
	return errors.Is(err, ndjson.ErrClosed) && errors.Is(err, syscall.EPIPE)
}
