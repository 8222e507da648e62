package oversize_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/oversize"
)

func TestEndsKeepHeadAndTailOfAFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e oversize.Ends
		var frame []byte
		for _, size := range rapid.SliceOf(rapid.IntRange(0, 2*oversize.Kept+1)).Draw(t, "sizes") {
			part := make([]byte, size)
			for i := range part {
				part[i] = "abc\r"[(len(frame)+i)%4]
			}
			frame = append(frame, part...)
			if n, err := e.Write(part); n != size || err != nil {
				t.Fatalf("Write of %d bytes: got %d, %v", size, n, err)
			}
		}
		if rapid.Bool().Draw(t, "line") {
			frame = bytes.TrimSuffix(frame, []byte{'\r'})
			e.Chomp()
		}
		kept := min(len(frame), oversize.Kept)
		for _, skipped := range []bool{false, true} {
			err := e.Over(7, skipped)
			if err.Size != len(frame) || err.Limit != 7 || !bytes.Equal(err.Head, frame[:kept]) {
				t.Errorf("got %+v, want size %d, limit 7 and the first KiB", err, len(frame))
			}
			if skipped && !bytes.Equal(err.Tail, frame[len(frame)-kept:]) || !skipped && err.Tail != nil {
				t.Errorf("skipped %v: got %d bytes of the end, want the last KiB if it was", skipped, len(err.Tail))
			}
		}
	})
}

func TestErrorNamesSizeAndLimit(t *testing.T) {
	e := &oversize.Error{Size: 7, Limit: 5}
	if got, want := e.Error(), "frame of 7 bytes or more is above the limit of 5"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}
