// Package waits computes all delays that a peer suggests: the HTTP header Retry-After, the field retry of an event
// stream, the interval between two polls of a task. A suggestion is bounded from below and above, and repeated
// failures lengthen the delay.
//
// A possible surprise: no delay is shorter than the suggested one, up to [Most]; jitter only adds to it. Jitter
// shortens the default delays instead, so they stay below the documented values.
package waits

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Default bounds of suggested delays.
const (
	Least = 100 * time.Millisecond // for streams and polls; a Retry-After may be 0
	Most  = 10 * time.Minute
)

// Delays before a stream is reopened if the server has suggested none; each is twice as long as the previous one.
const (
	firstReopen = time.Second
	lastReopen  = 30 * time.Second
)

// lastPoll is the maximum of a poll delay that failures have lengthened.
const lastPoll = time.Minute

// longestLeast is the maximum of the minimum delay for streams that end soon, if the server suggests a shorter
// delay.
const longestLeast = time.Second

// RetryAfter parses a header field Retry-After: seconds, or a date, which may have passed. The delay is at most
// [Most]. ok is false if the value is invalid. (RFC 9110, section 10.2.3)
func RetryAfter(value string, now time.Time) (wait time.Duration, ok bool) {
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(Most/time.Second))) * time.Second, true
	}
	if digits(value) {
		return Most, true // too large for ParseUint
	}
	at, err := http.ParseTime(value)
	return within(at.Sub(now), 0, Most), err == nil
}

// digits reports whether value is a decimal number of any size.
func digits(value string) bool {
	for i := range len(value) {
		if value[i] < '0' || value[i] > '9' {
			return false
		}
	}
	return value != ""
}

// Reopen returns the delay before a stream is reopened. suggested is the delay that the server suggests, negative
// for none; useless counts how many times in a row the stream brought nothing or did not open, brief how many
// times it ended soon.
//
// A suggestion is bounded by [Least] and [Most], plus up to a fifth; for brief streams the minimum doubles up to 1
// s. Without a suggestion the delay is 1 s, doubles with each useless attempt up to 30 s, minus up to a fifth.
func Reopen(suggested time.Duration, useless, brief int) time.Duration {
	if suggested < 0 {
		own := doubled(firstReopen, useless, lastReopen)
		return own - chance(own/5)
	}
	wait := within(suggested, doubled(Least, brief, longestLeast), Most)
	return wait + chance(wait/5)
}

// Poll returns the delay before the next poll of a peer that suggests suggestedMs milliseconds; if nil, usual
// applies. The delay is between least and most. Each failure in a row doubles it up to a minute, unless it is
// longer already. Up to a tenth is added.
func Poll(suggestedMs *int64, usual, least, most time.Duration, failures int) time.Duration {
	d := usual
	if suggestedMs != nil {
		d = time.Duration(within(*suggestedMs, 0, most.Milliseconds()+1)) * time.Millisecond
	}
	d = within(d, least, most)
	d = doubled(d, failures, max(d, min(most, lastPoll)))
	return d + chance(d/10)
}

// doubled returns d after times doublings; most is their upper bound.
func doubled(d time.Duration, times int, most time.Duration) time.Duration {
	for ; times > 0 && d < most; times-- {
		d = min(2*d, most)
	}
	return d
}

func within[N ~int64](n, least, most N) N { return min(max(n, least), most) }

// chance returns a random duration from 0 to below d.
func chance(d time.Duration) time.Duration { return time.Duration(rand.Float64() * float64(d)) }
