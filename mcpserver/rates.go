package mcpserver

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/rates"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Rate limits the frequency of an event: Burst events at once, and PerSecond events a second on average.
type Rate struct {
	// PerSecond is the rate. Zero means the default in [Rates], negative means no limit.
	PerSecond float64

	// Burst is the number of events that may happen at once. Zero means PerSecond, but at least 1. If PerSecond is zero
	// too, zero means the default in [Rates].
	Burst int
}

// Rates limit how often one client may send expensive requests, and how often handlers may send it notifications. A
// client is a connection. Over HTTP, a client is an account (see [HTTPOptions.Account]), or a session if there is no
// account. HTTP requests with neither have no limits.
//
// The server refuses a request above its rate with -32603, over HTTP with 429 and Retry-After, and does not call its
// handler. The server drops a notification above its rate, and counts it as mcp_server.notification.drops; the handler
// that sends the notification gets no error. (specification 2026-07-28, server/utilities/completion, "Security";
// server/tools, "Security Considerations"; basic/patterns/progress)
type Rates struct {
	ToolCalls   Rate // tools/call; no limit by default, because Options.Limits.Concurrent limits the calls
	Completions Rate // completion/complete; by default 100 a second, 1,000 at once
	Tasks       Rate // tasks/get, tasks/result, tasks/update, tasks/cancel; by default 1,000 a second, 5,000 at once
	Progress    Rate // progress notifications of all requests of a client; no limit by default
	Logs        Rate // log messages of handlers to a client; no limit by default
}

// limits returns the limits with the defaults filled in.
func (r *Rates) limits() (rates.Limits, error) {
	none := Rate{PerSecond: -1}
	all := rates.Limits{
		rates.None:        rates.Rate(none),
		rates.ToolCalls:   orRate(r.ToolCalls, none),
		rates.Completions: orRate(r.Completions, Rate{100, 1000}),
		rates.Tasks:       orRate(r.Tasks, Rate{1000, 5000}),
		rates.Progress:    orRate(r.Progress, none),
		rates.Logs:        orRate(r.Logs, none),
	}
	for i := range all {
		if l := &all[i]; math.IsNaN(l.PerSecond) || l.Burst < 0 {
			return all, fmt.Errorf("options: Rates: %v is not a valid rate", *l)
		} else if l.Burst == 0 {
			l.Burst = int(max(1, min(l.PerSecond, math.MaxInt32)))
		}
	}
	return all, nil
}

func orRate(r, usual Rate) rates.Rate {
	if r.PerSecond == 0 {
		return rates.Rate{PerSecond: usual.PerSecond, Burst: cmp.Or(r.Burst, usual.Burst)}
	}
	return rates.Rate(r)
}

// allows counts one event of the kind what against the client's rate. It returns false if the event is above the rate.
func (x *exchange) allows(what rates.Kind) bool {
	if what == rates.None || x.s.cfg.rates[what].PerSecond < 0 {
		return true // do not read the clock
	}
	return x.Client.Rates.Allow(what, &x.s.cfg.rates, time.Now())
}

// mayTell reports whether a handler may send the client a notification now. If not, it counts the notification as
// dropped.
func (x *exchange) mayTell(what rates.Kind, method string) bool {
	if x.allows(what) {
		return true
	}
	x.Peer.Tel.NotificationDropped(method, names.DropRateLimited)
	return false
}
