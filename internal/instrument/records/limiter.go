package records

import (
	"log/slog"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/tokens"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// limit bounds the records of one key: five at once, then one a second. Without it, a peer could cause a record with
// every frame, and a server that is down with every call. Metrics count all of these events.
var limit = tokens.Limit{PerSecond: 1, Burst: 5}

// Key identifies a kind of record: an event, its reason and other distinctions. All fields have closed sets of values,
// which bounds the size of the Limiter. For a failure, Reason is its error.type, and Method is the metric label of its
// method.
type Key struct {
	Event, Method, Reason string
	Direction             telemetry.Direction
	Level                 slog.Level
}

// Limiter holds a token bucket for each key. Its callers pass the time. It is safe for concurrent use. The zero Limiter
// is ready for use.
type Limiter struct {
	mu      sync.Mutex
	buckets map[Key]*bucket // guarded by mu
}

type bucket struct {
	tokens.Bucket
	suppressed int
}

// Allow reports whether a record may be written now. suppressed is the number of records that were suppressed since the
// last written one.
func (l *Limiter) Allow(k Key, now time.Time) (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[k]
	if b == nil {
		if l.buckets == nil {
			l.buckets = map[Key]*bucket{}
		}
		b = new(bucket)
		l.buckets[k] = b
	}
	if b.Take(limit, now) > 0 {
		b.suppressed++
		return 0, false
	}
	suppressed, b.suppressed = b.suppressed, 0
	return suppressed, true
}

// Flush returns the number of suppressed records for each key, and resets the numbers.
func (l *Limiter) Flush() map[Key]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := map[Key]int{}
	for k, b := range l.buckets {
		if b.suppressed > 0 {
			rest[k] = b.suppressed
		}
		b.suppressed = 0
	}
	return rest
}
