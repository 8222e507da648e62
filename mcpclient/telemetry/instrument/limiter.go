package instrument

import (
	"log/slog"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// A peer can break the protocol, or make a request fail, with every frame, and each call fails while a server is down.
// Of the records of one kind, the log gets limitBurst at once and then one per limitEvery; the metrics count them all.
const (
	limitBurst = 5
	limitEvery = time.Second
)

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
	tokens     float64
	filled     time.Time
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
		b = &bucket{tokens: limitBurst, filled: now}
		l.buckets[k] = b
	}
	if since := now.Sub(b.filled); since > 0 {
		b.tokens = min(limitBurst, b.tokens+float64(since)/float64(limitEvery))
		b.filled = now
	}
	if b.tokens < 1 {
		b.suppressed++
		return 0, false
	}
	b.tokens--
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
