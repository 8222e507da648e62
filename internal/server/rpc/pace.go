package rpc

import (
	"sync/atomic"
	"time"
)

// Pace is what is known of how long a handler runs. It decides whether the goroutine that reads may run it the next
// time. The zero value knows nothing. Of two goroutines that add to it at the same time, one may do so in vain.
type Pace struct{ packed atomic.Uint64 }

func (p *Pace) load() record {
	all := p.packed.Load()
	return record{mean: uint32(all), runs: uint16(all >> 32), doublings: uint16(all >> 48)}
}

func (p *Pace) store(r record) {
	p.packed.Store(uint64(r.mean) | uint64(r.runs)<<32 | uint64(r.doublings)<<48)
}

// ran notes how long a run has taken.
func (p *Pace) ran(took time.Duration) { p.store(p.load().ran(took)) }

// stalled notes that a run has kept others waiting.
func (p *Pace) stalled() { p.store(p.load().stalled()) }

// quick reports whether the next run will be quick, as far as one can tell.
func (p *Pace) quick() bool { return p.load().quick() }

// record is the state of a pace.
type record struct {
	mean      uint32 // of the latest runs, in nanoseconds
	runs      uint16 // since it was new or stalled, as far as they matter
	doublings uint16 // of how many runs it takes to be trusted
}

const (
	quickRun   = 50 * time.Microsecond
	window     = 16   // runs that the mean is about
	FirstTrust = 32   // runs before a handler is trusted
	maxDouble  = 7    // doublings
	lapse      = 1024 // runs with trust that take one back
)

// trust is how many runs are needed.
func (r record) trust() uint16 { return FirstTrust << r.doublings }

// quick reports whether runs are quick, but for a few.
func (r record) quick() bool { return r.runs >= r.trust() && r.mean <= uint32(quickRun) }

// ran returns the record with one run more. One that takes very long counts as one that takes patience.
func (r record) ran(took time.Duration) record {
	latest := uint32(min(max(took, 0), Patience))
	if r.runs == 0 && r.doublings == 0 {
		r.mean = latest
	} else {
		r.mean = (r.mean*(window-1) + latest) / window
	}
	if r.runs < r.trust() || r.doublings > 0 && r.quick() {
		r.runs++
	}
	if r.doublings > 0 && r.runs >= r.trust()+lapse {
		r.doublings--
		r.runs = r.trust()
	}
	return r
}

// stalled returns the record of a handler that has lost its trust.
func (r record) stalled() record {
	return record{r.mean, 0, min(r.doublings+1, maxDouble)}
}

// OnePace returns the pace of a method whose requests are all alike.
func OnePace() func(string) *Pace {
	p := new(Pace)
	return func(string) *Pace { return p }
}
