package mcpserver

import (
	"cmp"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/tokens"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Rate limits how often something may happen: Burst times at once, and PerSecond times a second on average.
type Rate struct {
	// PerSecond is the rate. Zero means the default in [Rates], negative means no limit.
	PerSecond float64

	// Burst is how often it may happen at once. Zero means as often as in a second, but at least once.
	Burst int
}

func (r *Rate) tokens() tokens.Limit {
	return tokens.Limit{PerSecond: r.PerSecond, Burst: float64(r.Burst)}
}

// Rates limit how often one client may send expensive requests, and how often handlers may notify it. A client is a
// connection; over HTTP it is an account (see [HTTPOptions.Account]), or a session if there is no account. HTTP
// requests with neither have no limits.
//
// The server refuses a request above its rate with -32603, over HTTP with 429 and Retry-After, and does not call its
// handler. It drops a notification above its rate, and counts it as mcp_server.notification.drops; the handler that
// sends it gets no error. (specification 2026-07-28, server/utilities/completion, "Security"; server/tools, "Security
// Considerations"; basic/patterns/progress)
type Rates struct {
	ToolCalls   Rate // tools/call; no limit by default, because Options.MaxConcurrent bounds them
	Completions Rate // completion/complete; by default 100 a second, 1,000 at once
	Tasks       Rate // tasks/get, tasks/result, tasks/update, tasks/cancel; by default 1,000 a second, 5,000 at once
	Progress    Rate // progress notifications of all requests of a client; no limit by default
	Logs        Rate // log messages of handlers to a client; no limit by default
}

// rated is a kind of request or notification with a rate.
type rated uint8

const (
	unrated rated = iota
	rateToolCalls
	rateCompletions
	rateTasks
	rateProgress
	rateLogs
	allRated
)

// rates are the limits in force, indexed by rated.
type rates [allRated]Rate

// limits returns the limits with the defaults filled in.
func (r *Rates) limits() (rates, error) {
	none := Rate{PerSecond: -1}
	all := rates{
		unrated:         none,
		rateToolCalls:   orRate(r.ToolCalls, none),
		rateCompletions: orRate(r.Completions, Rate{100, 1000}),
		rateTasks:       orRate(r.Tasks, Rate{1000, 5000}),
		rateProgress:    orRate(r.Progress, none),
		rateLogs:        orRate(r.Logs, none),
	}
	for i := range all {
		if l := &all[i]; math.IsNaN(l.PerSecond) || l.Burst < 0 {
			return all, fmt.Errorf("options: Rates: %v is no rate", *l)
		} else if l.Burst == 0 {
			l.Burst = int(max(1, min(l.PerSecond, math.MaxInt32)))
		}
	}
	return all, nil
}

func orRate(r, usual Rate) Rate {
	if r.PerSecond == 0 {
		return Rate{usual.PerSecond, cmp.Or(r.Burst, usual.Burst)}
	}
	return r
}

// rateBook holds the token bucket of one client for each rate. Buckets are full when they are created.
type rateBook struct {
	mu      sync.Mutex
	buckets [allRated]tokens.Bucket
}

// allow takes a token, and reports false if there is none. A nil rateBook has no limits.
func (b *rateBook) allow(what rated, limits *rates, now time.Time) bool {
	limit := &limits[what]
	if b == nil || limit.PerSecond < 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buckets[what].Take(limit.tokens(), now) == 0
}

// untouched reports whether all buckets are full, so that the rateBook may be deleted.
func (b *rateBook) untouched(limits *rates, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for what := range b.buckets {
		if limits[what].PerSecond < 0 {
			continue // no limit: it uses no tokens
		}
		if !b.buckets[what].Full(limits[what].tokens(), now) {
			return false
		}
	}
	return true
}

// maxRateBooks is the maximum number of rateBooks that an HTTP handler keeps.
const maxRateBooks = 10_000

// rateBooks holds the rateBooks of the accounts of an HTTP handler.
type rateBooks struct {
	mu    sync.Mutex
	books map[quota.Account]*rateBook // guarded by mu
}

// of returns the rateBook of an account. If there are too many, it deletes untouched ones, or else arbitrary ones.
func (r *rateBooks) of(who quota.Account, limits *rates, now time.Time) *rateBook {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.books[who]; b != nil {
		return b
	}
	if len(r.books) >= maxRateBooks {
		r.clear(limits, now)
	}
	if r.books == nil {
		r.books = map[quota.Account]*rateBook{}
	}
	b := new(rateBook)
	r.books[who] = b
	return b
}

// clear makes room for one rateBook. mu is held.
func (r *rateBooks) clear(limits *rates, now time.Time) {
	for who, b := range r.books {
		if b.untouched(limits, now) {
			delete(r.books, who)
		}
	}
	for who := range r.books {
		if len(r.books) < maxRateBooks {
			return
		}
		delete(r.books, who)
	}
}

// allows takes a token of the client, and reports false if there is none.
func (x *exchange) allows(what rated) bool {
	if what == unrated || x.s.cfg.rates[what].PerSecond < 0 {
		return true // do not read the clock
	}
	return x.client.rates.allow(what, &x.s.cfg.rates, time.Now())
}

// mayTell reports whether a handler may send the client a notification now. If not, it counts the notification as
// dropped.
func (x *exchange) mayTell(what rated, method string) bool {
	if x.allows(what) {
		return true
	}
	x.Peer.Tel.NotificationDropped(method, names.DropRateLimited)
	return false
}
