package workload

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestLatencyCountsFromTheTimeWhenACallIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		got, err := onTime(2*callsPerSecond, func(context.Context) error {
			calls.Add(1)
			return nil
		})
		if err != nil || calls.Load() != 2*callsPerSecond || got[len(got)-1] != 0 {
			t.Errorf("immediate answers: got %d calls, at most %v, %v", calls.Load(), got[len(got)-1], err)
		}
		begin := time.Now()
		stalled := func(context.Context) error { // as in a server that answers nothing in the first second
			time.Sleep(time.Until(begin.Add(time.Second)))
			return nil
		}
		got, err = onTime(callsPerSecond, stalled)
		// A tenth of the calls is due at once, and the others wait less and less: for half a second on average.
		if p50, p99 := Percentile(got, 50), Percentile(got, 99); err != nil || p50 < 500*time.Millisecond ||
			p50 > 600*time.Millisecond || p99 != time.Second {
			t.Errorf("a stall of a second: got p50 %v, p99 %v, %v", p50, p99, err)
		}
	})
}

func TestErrorOfACallIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := errors.New("no")
		if _, err := onTime(10, func(context.Context) error { return want }); err != want {
			t.Errorf("want %v, got %v", want, err)
		}
	})
}

func TestPercentileIsTheNearestRank(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for q, want := range map[float64]time.Duration{50: 50, 99: 99, 99.9: 100, 100: 100} {
		if got := Percentile(hundred, q); got != want {
			t.Errorf("percentile %v of 1 to 100: want %d, got %d", q, want, got)
		}
	}
	if got := Percentile([]time.Duration{7}, 50); got != 7 {
		t.Errorf("one value: want 7, got %d", got)
	}
}
