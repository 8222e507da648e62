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

// Rate is how often something may happen: Burst times at once, and PerSecond times a second in the long run.
type Rate struct {
	// PerSecond is the rate. Zero means the default of what it is about, negative means that there is no limit.
	PerSecond float64

	// Burst is how often it may happen at once. Zero means as often as in a second, and once at least.
	Burst int
}

func (r *Rate) tokens() tokens.Limit {
	return tokens.Limit{PerSecond: r.PerSecond, Burst: float64(r.Burst)}
}

// Rates bound how often one client may ask for what costs more than it shows, and how often handlers tell it something.
// A client is a connection; over HTTP an account (see [HTTPOptions.Account]), or without one a session. Requests over
// HTTP that have neither have no limits.
//
// A request beyond its rate is refused, and its handler not called: with -32603, and over HTTP with 429 and
// Retry-After. A notification beyond its rate is not sent, and counted as mcp_server.notification.drops; the handler
// that sends it gets no error. (specification 2026-07-28, server/utilities/completion, "Security"; server/tools,
// "Security Considerations"; basic/patterns/progress)
type Rates struct {
	ToolCalls   Rate // tools/call; no limit by default, for Options.MaxConcurrent bounds what they cost
	Completions Rate // completion/complete; by default 100 a second, 1,000 at once
	Tasks       Rate // tasks/get, tasks/result, tasks/update, tasks/cancel; by default 1,000 a second, 5,000 at once
	Progress    Rate // reports of progress, by all requests of a client together; no limit by default
	Logs        Rate // log messages of handlers to a client; no limit by default
}

// rated is what has a rate of its own.
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

// rates are the limits in force, by what they are about.
type rates [allRated]Rate

// limits returns the limits in force.
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

// rateBook is how much of each rate one client has used: buckets of tokens, full when they are made.
type rateBook struct {
	mu      sync.Mutex
	buckets [allRated]tokens.Bucket
}

// allow takes a token, and reports false if there is none. A nil book has no end of them.
func (b *rateBook) allow(what rated, limits *rates, now time.Time) bool {
	limit := &limits[what]
	if b == nil || limit.PerSecond < 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buckets[what].Take(limit.tokens(), now) == 0
}

// untouched reports whether nothing of any rate is used, so that the book may be forgotten.
func (b *rateBook) untouched(limits *rates, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for what := range b.buckets {
		if limits[what].PerSecond < 0 {
			continue // no limit: nothing is taken
		}
		if !b.buckets[what].Full(limits[what].tokens(), now) {
			return false
		}
	}
	return true
}

// maxRateBooks is of how many accounts a handler knows what they have used.
const maxRateBooks = 10_000

// rateBooks are those of the accounts of an HTTP handler.
type rateBooks struct {
	mu    sync.Mutex
	books map[quota.Account]*rateBook // guarded by mu
}

// of returns the book of an account. Where there are too many, those that are untouched go, or else any.
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

// clear makes room. mu is held.
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

// allows takes a token of the client's, and reports false if there is none.
func (x *exchange) allows(what rated) bool {
	if what == unrated || x.s.cfg.rates[what].PerSecond < 0 {
		return true // without a look at the clock
	}
	return x.client.rates.allow(what, &x.s.cfg.rates, time.Now())
}

// mayTell reports whether the client may be sent a notification of a handler's now. One that it may not is counted.
func (x *exchange) mayTell(what rated, method string) bool {
	if x.allows(what) {
		return true
	}
	x.Peer.Tel.NotificationDropped(method, names.DropRateLimited)
	return false
}
