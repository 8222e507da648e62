// Package tokens limits how often something may happen.
package tokens

import "time"

// Limit allows Burst events at once, and PerSecond events a second in the long run.
type Limit struct {
	PerSecond float64
	Burst     float64
}

// Bucket holds the tokens of one limit. The zero Bucket is full. The caller passes the time and guards the Bucket by a
// mutex.
type Bucket struct {
	used float64 // missing tokens at the time last
	last time.Time
}

// rounding is the fraction of a token that may be missing due to floating-point rounding.
const rounding = 1e-6

// Take takes a token and returns zero. If no token is left, Take returns the time until the next one.
func (b *Bucket) Take(l Limit, now time.Time) (wait time.Duration) {
	b.fill(l, now)
	if missing := b.used + 1 - l.Burst; missing > rounding {
		return max(1, time.Duration(missing/l.PerSecond*float64(time.Second)))
	}
	b.used++
	return 0
}

// Full reports whether no token is missing.
func (b *Bucket) Full(l Limit, now time.Time) bool {
	b.fill(l, now)
	return b.used == 0
}

// fill adds the tokens for the time since the last call. It adds none if the clock was set back.
func (b *Bucket) fill(l Limit, now time.Time) {
	if passed := now.Sub(b.last); passed > 0 {
		b.used = max(0, b.used-passed.Seconds()*l.PerSecond)
		b.last = now
	}
}
