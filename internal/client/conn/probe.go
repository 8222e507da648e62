package conn

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Probe is for tests: it reads counts of a core, and triggers rare events.
type Probe struct{ C *Conn }

// Figures are counts of a core.
type Figures struct {
	LastID                        int64 // last request ID
	InFlight, Tombstones, Waiters int
	Told                          int // number of tombstones that telemetry knows of
	Records, Untold               int // number of records that wait to be reported, and number of dropped records
	Telling                       bool
	NextSweep                     time.Time // zero if no sweep is planned

	Turn       int32  // state of the present session's turn
	OwnAnswers uint32 // answers that callers have read themselves in the present session
	InLine     int32  // number of messages that wait for room
}

func (p Probe) Figures() Figures {
	c := p.C
	c.mu.Lock()
	defer c.mu.Unlock()
	f := Figures{
		LastID: c.lastID, InFlight: c.calls.Len(), Tombstones: c.calls.Tombstones(), Waiters: len(c.waiters), Told: c.buried,
		Records: len(c.teller.records), Untold: int(c.teller.untold), Telling: c.teller.running,
	}
	f.NextSweep, _ = c.calls.NextSweep()
	if s := c.session; s != nil {
		f.InLine = s.line.length.Load()
		if t := s.in.turn; t != nil {
			f.Turn, f.OwnAnswers = t.state.Load(), t.own.Load()
		}
	}
	return f
}

// Add adds r to the requests in flight n times, under consecutive IDs, and returns the first ID.
func (p Probe) Add(r *Request, n int, deadline func(id int64) time.Time) (first int64) {
	p.C.mu.Lock()
	defer p.C.mu.Unlock()
	for range n {
		p.C.lastID++
		p.C.calls.Add(p.C.lastID, deadline(p.C.lastID), r)
	}
	return p.C.lastID - int64(n) + 1
}

// Settle removes n requests in flight without an outcome. Their IDs are consecutive and start at first.
func (p Probe) Settle(first int64, n int) {
	p.C.mu.Lock()
	defer p.C.mu.Unlock()
	for id := range int64(n) {
		p.C.calls.Settle(first + id)
	}
}

// Open adds r to the requests in flight as an acknowledged subscription, and returns its ID.
func (p Probe) Open(r *Request) int64 {
	r.open = true
	r.ID = p.Add(r, 1, func(int64) time.Time { return time.Time{} })
	return r.ID
}

// Busy simulates that the server refuses a request for now.
func (p Probe) Busy(id int64, why *transport.RequestError) { p.C.putOff(id, why) }

// BusyAndLost simulates, in one atomic step, that the server refuses a request for now and that the connection is lost.
func (p Probe) BusyAndLost(id int64, why *transport.RequestError, err error) {
	p.C.mu.Lock()
	defer p.C.mu.Unlock()
	r, _ := p.C.calls.Find(id)
	r.putOff <- why
	p.C.stepLocked(machine.Input{Event: machine.TransportDown, Epoch: p.C.m.Epoch}, &fact{err: err})
}

// OpenAndOver simulates, in one atomic step, that the server acknowledges a subscription and answers its request.
func (p Probe) OpenAndOver(id int64, told func(Content)) {
	p.C.mu.Lock()
	defer p.C.mu.Unlock()
	r, _ := p.C.calls.Settle(id)
	told(r.Content)
	r.Opened <- struct{}{}
	r.finish(Outcome{Message: jsonrpc.Message{Kind: jsonrpc.Result}})
}

// End ends the present session with err, as the loss of its connection does, but does not report the loss to the
// machine: see [Probe.Lose].
func (p Probe) End(err error) {
	p.C.Present().end(&failure{event: machine.TransportDown, err: err})
}

// AwaitLoss waits for the reason of a failed send, as send does.
func (p Probe) AwaitLoss(ctx context.Context, err error) error {
	return p.C.whyClosed(ctx, &outgoing{session: p.C.Present()}, err)
}

// Lose reports the loss of the present connection to the machine.
func (p Probe) Lose(err error) { _ = p.C.lost(p.C.Present(), err) }

// Pace configures when a session lends its turn: the tick, the maximum interval between answers, and the number of
// answers. It must be called before the core starts.
func (p Probe) Pace(tick, soon time.Duration, enough int32) {
	p.C.pace = &pace{Tick: tick, soon: soon, Enough: enough}
}
