// Package rates limits how often a client may send requests. A client has a [Book] with a token bucket for each [Kind].
package rates

import (
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/tokens"
)

// Rate limits how often something may happen: Burst times at once, and PerSecond times a second on average. A negative
// PerSecond means no limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

func (r *Rate) tokens() tokens.Limit {
	return tokens.Limit{PerSecond: r.PerSecond, Burst: float64(r.Burst)}
}

// Kind is a kind of request or notification with a rate.
type Kind uint8

// The kinds of requests and notifications.
const (
	None Kind = iota // has no limit
	ToolCalls
	Completions
	Tasks
	Progress
	Logs
	kinds
)

// Limits are the limits in force, indexed by Kind.
type Limits [kinds]Rate

// Book holds the token bucket of one client for each rate. Buckets are full when they are created.
type Book struct {
	mu      sync.Mutex
	buckets [kinds]tokens.Bucket
}

// Allow takes a token. It reports false if the bucket is empty. A nil Book has no limits.
func (b *Book) Allow(what Kind, limits *Limits, now time.Time) bool {
	limit := &limits[what]
	if b == nil || limit.PerSecond < 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buckets[what].Take(limit.tokens(), now) == 0
}

// untouched reports whether all buckets are full. The caller may delete such a Book.
func (b *Book) untouched(limits *Limits, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for what := range b.buckets {
		if limits[what].PerSecond < 0 {
			continue // no limit, so no tokens are used
		}
		if !b.buckets[what].Full(limits[what].tokens(), now) {
			return false
		}
	}
	return true
}

// maxBooks is the maximum number of Books that an HTTP handler keeps.
const maxBooks = 10_000

// Books holds the Books of the accounts of an HTTP handler.
type Books struct {
	mu    sync.Mutex
	books map[quota.Account]*Book // guarded by mu
}

// Of returns the Book of an account. At the limit of Books it first deletes untouched Books, or arbitrary ones if none
// is untouched.
func (r *Books) Of(who quota.Account, limits *Limits, now time.Time) *Book {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.books[who]; b != nil {
		return b
	}
	if len(r.books) >= maxBooks {
		r.clear(limits, now)
	}
	if r.books == nil {
		r.books = map[quota.Account]*Book{}
	}
	b := new(Book)
	r.books[who] = b
	return b
}

// clear makes room for one more Book. mu is held.
func (r *Books) clear(limits *Limits, now time.Time) {
	for who, b := range r.books {
		if b.untouched(limits, now) {
			delete(r.books, who)
		}
	}
	for who := range r.books {
		if len(r.books) < maxBooks {
			return
		}
		delete(r.books, who)
	}
}
