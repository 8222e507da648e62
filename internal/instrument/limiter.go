package instrument

import (
	"log/slog"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/tokens"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// A peer can break the protocol, or make a request fail, with every frame, and each call fails while a server is down.
// Of the records of one kind, the log gets five at once and then one a second; the metrics count them all.
var recordLimit = tokens.Limit{PerSecond: 1, Burst: 5}

// limitKey is a kind of record: an event, its reason and what goes with them. All are of closed sets, which bounds the
// limiter. The reason of a failure is its error.type, and its method is as metrics have it.
type limitKey struct {
	event, method, reason string
	direction             telemetry.Direction
	level                 slog.Level
}

// limiter holds a bucket of tokens for each key. The time is its caller's. It is safe for concurrent use; the zero
// limiter is ready.
type limiter struct {
	mu      sync.Mutex
	buckets map[limitKey]*bucket
}

type bucket struct {
	tokens.Bucket
	suppressed int
}

// allow reports whether a record may be written now, and how many were not since the last one that was.
func (l *limiter) allow(k limitKey, now time.Time) (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[k]
	if b == nil {
		if l.buckets == nil {
			l.buckets = map[limitKey]*bucket{}
		}
		b = new(bucket)
		l.buckets[k] = b
	}
	if b.Take(recordLimit, now) > 0 {
		b.suppressed++
		return 0, false
	}
	suppressed, b.suppressed = b.suppressed, 0
	return suppressed, true
}

// flush returns how many records of each key were not written, and forgets them.
func (l *limiter) flush() map[limitKey]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := map[limitKey]int{}
	for k, b := range l.buckets {
		if b.suppressed > 0 {
			rest[k] = b.suppressed
		}
		b.suppressed = 0
	}
	return rest
}
