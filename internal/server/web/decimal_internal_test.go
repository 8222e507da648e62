package web

import (
	"strconv"
	"testing"
)

func TestDecimalFormatsNumbers(t *testing.T) {
	for n := -1200; n < 12_000; n++ {
		if got := decimal(n); got != strconv.Itoa(n) {
			t.Fatalf("%d: got %q", n, got)
		}
	}
	if n := testing.AllocsPerRun(10, func() {
		for n := range 1000 {
			decimal(n)
		}
	}); n > 0 {
		t.Errorf("formatting a number below 1000 takes %v allocations, want none", n)
	}
}
