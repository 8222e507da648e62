package ndjson

import (
	"slices"
	"testing"
)

func TestLoneSenderChecksForContentionLessOften(t *testing.T) {
	var c contention
	looks := func(frames int) (at []int) {
		for i := range frames {
			if c.likely() {
				at = append(at, i+1)
			}
		}
		return at
	}
	if at, want := looks(1100), []int{16, 48, 112, 240, 496, 752, 1008}; !slices.Equal(at, want) {
		t.Errorf("a sender without company looks at the frames %v, want %v", at, want)
	}
	c.found()
	if at := looks(lookAfter); len(at) != lookAfter {
		t.Errorf("after there was company, %d of %d senders look for more, want all", len(at), lookAfter)
	}
	if at, want := looks(50), []int{16, 48}; !slices.Equal(at, want) {
		t.Errorf("a sender without company again looks at the frames %v, want %v", at, want)
	}
}
