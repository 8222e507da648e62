package rpc

import (
	"sync/atomic"
	"time"
)

// Pace records how long a handler runs. The record decides whether the reading goroutine may run the handler the next
// time. A zero Pace has no runs. If two goroutines add a run at the same time, one run may be lost.
type Pace struct{ packed atomic.Uint64 }

func (p *Pace) load() record {
	all := p.packed.Load()
	return record{mean: uint32(all), runs: uint16(all >> 32), doublings: uint16(all >> 48)}
}

func (p *Pace) store(r record) {
	p.packed.Store(uint64(r.mean) | uint64(r.runs)<<32 | uint64(r.doublings)<<48)
}

// add adds a run.
func (p *Pace) add(took time.Duration) { p.store(p.load().add(took)) }

// stalled records that a run has kept the reader from reading.
func (p *Pace) stalled() { p.store(p.load().stalled()) }

// quick reports whether the next run is likely to be quick.
func (p *Pace) quick() bool { return p.load().quick() }

// record is the state of a pace.
type record struct {
	mean      uint32 // mean time of the latest runs, in nanoseconds
	runs      uint16 // number of runs since the start or the last stall; counting stops when more runs change nothing
	doublings uint16 // how often stalls have doubled the number of runs that the handler needs before it is trusted
}

const (
	quickRun   = 50 * time.Microsecond
	window     = 16   // number of runs in the mean
	FirstTrust = 32   // number of runs before a new handler is trusted
	maxDouble  = 7    // maximum number of doublings
	lapse      = 1024 // number of quick runs of a trusted handler that undo one doubling
)

// trust returns the number of runs after which the mean time of the handler counts.
func (r record) trust() uint16 { return FirstTrust << r.doublings }

// quick reports whether the handler is trusted and its runs are quick on average.
func (r record) quick() bool { return r.runs >= r.trust() && r.mean <= uint32(quickRun) }

// add returns the record with one more run. A run longer than Patience counts as Patience.
func (r record) add(took time.Duration) record {
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

// stalled returns r after a stall: the handler needs twice as many runs as before to be trusted again, up to a limit.
func (r record) stalled() record {
	return record{r.mean, 0, min(r.doublings+1, maxDouble)}
}

// OnePace returns the pace for a method whose requests all take about the same time.
func OnePace() func(string) *Pace {
	p := new(Pace)
	return func(string) *Pace { return p }
}
