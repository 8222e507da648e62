package tokens_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/tokens"
)

// TestRateLimitAppliesInEveryWindow takes tokens at random times. No window of time has more tokens than the burst plus
// the rate allows, and a token is available after the wait that Take returns.
func TestRateLimitAppliesInEveryWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := tokens.Limit{
			PerSecond: rapid.Float64Range(0.1, 100).Draw(t, "per second"),
			Burst:     float64(rapid.IntRange(1, 20).Draw(t, "burst")),
		}
		var b tokens.Bucket
		now := time.Unix(1_000_000, 0)
		var taken []time.Time
		for _, pause := range rapid.SliceOfN(rapid.IntRange(-100, 2000), 1, 200).Draw(t, "pauses") {
			now = now.Add(time.Duration(max(0, pause)) * time.Millisecond)
			if pause < 0 {
				b.Full(l, now.Add(-time.Hour)) // setting the clock back adds no tokens
			}
			if wait := b.Take(l, now); wait > 0 {
				if after := b; after.Take(l, now.Add(wait+1)) != 0 {
					t.Fatalf("no token %v after %v, want one", wait, now)
				}
				if before := b; before.Take(l, now.Add(wait/2)) == 0 {
					t.Fatalf("a token %v after %v, want none before %v", wait/2, now, wait)
				}
				continue
			}
			taken = append(taken, now)
			for i, first := range taken {
				most := l.Burst + now.Sub(first).Seconds()*l.PerSecond
				if n := float64(len(taken) - i); n > most+1e-3 {
					t.Fatalf("%v tokens in %v, want %v at most", n, now.Sub(first), most)
				}
			}
		}
		if b.Full(l, now) && len(taken) > 0 && taken[len(taken)-1].Equal(now) {
			t.Fatal("the bucket is full right after a token was taken")
		}
		if !b.Full(l, now.Add(time.Duration((l.Burst+1)/l.PerSecond*float64(time.Second)))) {
			t.Fatal("the bucket is not full after the time of its burst")
		}
	})
}
