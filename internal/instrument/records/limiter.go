package records

import (
	"log/slog"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/tokens"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// limit bounds the records of one key: five at once, and then one a second. A peer can break the protocol, or make a
// request fail, with every frame, and each call fails while a server is down. The metrics count all of these.
var limit = tokens.Limit{PerSecond: 1, Burst: 5}

// Key is a kind of record: an event, its reason and what else distinguishes it. All fields are of closed sets, which
// bounds the Limiter. The reason of a failure is its error.type, and its method is as metrics have it.
type Key struct {
	Event, Method, Reason string
	Direction             telemetry.Direction
	Level                 slog.Level
}

// Limiter holds a bucket of tokens for each key. Its callers pass the time. It is safe for concurrent use; the zero
// Limiter is ready.
type Limiter struct {
	mu      sync.Mutex
	buckets map[Key]*bucket // guarded by mu
}

type bucket struct {
	tokens.Bucket
	suppressed int
}

// Allow reports whether a record may be written now, and how many were suppressed since the last written one.
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

// Flush returns how many records of each key were suppressed, and forgets them.
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
