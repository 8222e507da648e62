// Package waits computes all delays that a peer suggests: the HTTP header Retry-After, the field retry of an event
// stream, the interval between two polls of a task. The package limits each suggestion to a minimum and a maximum, and
// lengthens the delay after repeated failures.
//
// A possible surprise: jitter only adds to a suggested delay, so a delay is never shorter than the suggestion, unless
// the suggestion exceeds [Most]. Default delays are different: jitter shortens them, so they stay below the documented
// values.
package waits

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Default limits of suggested delays.
const (
	Least = 100 * time.Millisecond // for streams and polls; a Retry-After may be 0
	Most  = 10 * time.Minute
)

// First and longest delay before a stream is reopened, if the server has suggested none. Each delay is twice as long as
// the previous one.
const (
	firstReopen = time.Second
	lastReopen  = 30 * time.Second
)

// lastPoll bounds the poll delay after failures, unless the peer's suggestion is longer.
const lastPoll = time.Minute

// longestLeast is the upper end of the minimum delay for brief streams. The minimum starts at [Least] and doubles with
// each brief stream; it replaces a shorter suggestion of the server. See [Reopen].
const longestLeast = time.Second

// RetryAfter parses a Retry-After header field, which contains seconds or a date. The date may have passed. The delay
// is at most [Most]. ok is false if the value is invalid. (RFC 9110, section 10.2.3)
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

// Reopen returns the delay before a stream is reopened. suggested is the delay that the server suggests; a negative
// value means none. useless counts how often in a row the stream delivered nothing or did not open. brief counts how
// often in a row the stream ended soon.
//
// A suggestion is limited to the range from [Least] to [Most], and up to a fifth is added. For brief streams, the
// minimum doubles up to 1 s. Without a suggestion, the delay is 1 s and doubles with each useless attempt up to 30 s,
// and up to a fifth is subtracted.
func Reopen(suggested time.Duration, useless, brief int) time.Duration {
	if suggested < 0 {
		own := doubled(firstReopen, useless, lastReopen)
		return own - chance(own/5)
	}
	wait := within(suggested, doubled(Least, brief, longestLeast), Most)
	return wait + chance(wait/5)
}

// Poll returns the delay before the next poll of a peer. suggestedMs is the peer's suggestion in milliseconds; if it is
// nil, usual applies. The delay is between least and most. Each consecutive failure doubles it, up to a minute or up to
// the suggestion if that is longer. Up to a tenth is added.
func Poll(suggestedMs *int64, usual, least, most time.Duration, failures int) time.Duration {
	d := usual
	if suggestedMs != nil {
		d = time.Duration(within(*suggestedMs, 0, most.Milliseconds()+1)) * time.Millisecond
	}
	d = within(d, least, most)
	d = doubled(d, failures, max(d, min(most, lastPoll)))
	return d + chance(d/10)
}

// doubled returns d after a number of doublings, but never more than limit.
func doubled(d time.Duration, times int, limit time.Duration) time.Duration {
	for ; times > 0 && d < limit; times-- {
		d = min(2*d, limit)
	}
	return d
}

func within[N ~int64](n, least, most N) N { return min(max(n, least), most) }

// chance returns a random duration of at least 0 and less than d.
func chance(d time.Duration) time.Duration { return time.Duration(rand.Float64() * float64(d)) }
