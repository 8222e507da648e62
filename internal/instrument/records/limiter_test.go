package records

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestLimiterAllowsBurstOfFiveThenOneASecond(t *testing.T) {
	var l Limiter
	key := Key{Event: "e", Reason: "r"}
	now := time.Unix(1000, 0)
	written := 0
	for range 20 {
		if _, ok := l.Allow(key, now); ok {
			written++
		}
	}
	if written != 5 {
		t.Errorf("a burst: got %d records, want 5", written)
	}
	if _, ok := l.Allow(key, now.Add(999*time.Millisecond)); ok {
		t.Error("got a record within a second after the burst, want none")
	}
	suppressed, ok := l.Allow(key, now.Add(time.Second))
	if !ok || suppressed != 16 {
		t.Errorf("after a second: got %v with %d suppressed, want true with 16", ok, suppressed)
	}
	if _, ok := l.Allow(Key{Event: "e", Reason: "other"}, now.Add(time.Second)); !ok {
		t.Error("got no record for another reason, want a separate burst")
	}
	l.Allow(key, now.Add(time.Second))
	if rest := l.Flush(); len(rest) != 1 || rest[key] != 1 {
		t.Errorf("suppressed records: got %v, want 1 of %v", rest, key)
	}
	if rest := l.Flush(); len(rest) != 0 {
		t.Errorf("suppressed records after a flush: got %v, want none", rest)
	}
	if _, ok := l.Allow(key, now.Add(-time.Hour)); ok {
		t.Error("got a record after the clock has gone back, want none")
	}
}

// For any sequence of events and times, written and suppressed records add up to all events. At most five records plus
// one a second are written.
func TestLimiterCountsEverySuppressedRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Limiter
		key := Key{Event: "e"}
		start := time.Unix(1000, 0)
		now, written, suppressed, all := start, 0, 0, 0
		for _, pause := range rapid.SliceOf(rapid.IntRange(0, 3000)).Draw(t, "pauses in ms") {
			now = now.Add(time.Duration(pause) * time.Millisecond)
			all++
			if n, ok := l.Allow(key, now); ok {
				written++
				suppressed += n
			}
		}
		suppressed += l.Flush()[key]
		if written+suppressed != all {
			t.Fatalf("of %d records: got %d written and %d suppressed", all, written, suppressed)
		}
		if most := 5 + int(now.Sub(start)/time.Second); written > most {
			t.Fatalf("in %v: got %d records, want at most %d", now.Sub(start), written, most)
		}
	})
}
