// Package tokens limits how often something may happen.
package tokens

import "time"

// Limit allows Burst times at once, and PerSecond times a second in the long run.
type Limit struct {
	PerSecond float64
	Burst     float64
}

// Bucket holds the tokens of one limit. The zero Bucket is full. Its user passes the time and guards it by a mutex.
type Bucket struct {
	used float64 // tokens of the burst, at the time of filled
	last time.Time
}

// rounding is the part of a token that sums of floating-point numbers may lack.
const rounding = 1e-6

// Take takes a token and returns zero. If there is none, Take returns the time until there will be one.
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

// fill gives back the tokens of the time since the last call. A clock that was set back gives none.
func (b *Bucket) fill(l Limit, now time.Time) {
	if passed := now.Sub(b.last); passed > 0 {
		b.used = max(0, b.used-passed.Seconds()*l.PerSecond)
		b.last = now
	}
}
