// Package waits computes every wait that a peer suggests: the HTTP header Retry-After, the field retry of an event
// stream, the interval between two polls of a task. A suggestion is followed between a least and a most, and what a
// peer gets wrong again and again is waited for longer and longer.
//
// What may surprise: no wait is shorter than the peer's own, up to [Most]; chance only adds to it. Waits of our own
// choice are shortened by chance, so they stay below what is documented.
package waits

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// The bounds of what a peer suggests, unless others are named.
const (
	Least = 100 * time.Millisecond // for streams and polls; a Retry-After may be 0
	Most  = 10 * time.Minute
)

// The waits before a stream is opened again for which the server has suggested none: twice as long each time.
const (
	firstReopen = time.Second
	lastReopen  = 30 * time.Second
)

// lastPoll is what the wait before a poll grows to by failures.
const lastPoll = time.Minute

// longestLeast is what the least wait grows to behind streams that end soon, where the server suggests a shorter one.
const longestLeast = time.Second

// RetryAfter returns how long a header field Retry-After wants one to wait, at most [Most], and whether it says so at
// all: in seconds, or as a date, which may have passed. (RFC 9110, section 10.2.3)
func RetryAfter(value string, now time.Time) (wait time.Duration, ok bool) {
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(Most/time.Second))) * time.Second, true
	}
	if digits(value) {
		return Most, true // beyond any number
	}
	at, err := http.ParseTime(value)
	return within(at.Sub(now), 0, Most), err == nil
}

// digits reports whether value is a number, however large.
func digits(value string) bool {
	for i := range len(value) {
		if value[i] < '0' || value[i] > '9' {
			return false
		}
	}
	return value != ""
}

// Reopen returns how long to wait before a stream is opened again. suggested is what the server says, negative for
// nothing; useless is how many times in a row the stream brought nothing or was not opened, brief how many times it
// ended soon.
//
// What the server says is followed within [Least] and [Most], with up to a fifth more; the least wait of brief streams
// doubles until it is 1 s. Where it says nothing, the wait is 1 s, doubled by each useless try until it is 30 s, less
// up to a fifth.
func Reopen(suggested time.Duration, useless, brief int) time.Duration {
	if suggested < 0 {
		own := doubled(firstReopen, useless, lastReopen)
		return own - chance(own/5)
	}
	wait := within(suggested, doubled(Least, brief, longestLeast), Most)
	return wait + chance(wait/5)
}

// Poll returns how long to wait before a peer is asked again that suggests so many milliseconds, nil for nothing; then
// it is usual. It is within least and most. Each failure in a row doubles it until it is a minute, if it is not more
// already. Up to a tenth is added.
func Poll(suggestedMs *int64, usual, least, most time.Duration, failures int) time.Duration {
	d := usual
	if suggestedMs != nil {
		d = time.Duration(within(*suggestedMs, 0, most.Milliseconds()+1)) * time.Millisecond
	}
	d = within(d, least, most)
	d = doubled(d, failures, max(d, min(most, lastPoll)))
	return d + chance(d/10)
}

// doubled returns d doubled so many times, at most most.
func doubled(d time.Duration, times int, most time.Duration) time.Duration {
	for ; times > 0 && d < most; times-- {
		d = min(2*d, most)
	}
	return d
}

func within[N ~int64](n, least, most N) N { return min(max(n, least), most) }

// chance returns something from 0 to below d.
func chance(d time.Duration) time.Duration { return time.Duration(rand.Float64() * float64(d)) }
