package rpc

import (
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// maxStones limits the number of abandoned requests whose late answers are recognized.
const maxStones = 256

// Tombstone describes a request of the server that was given up.
type Tombstone struct {
	Reason string         // why a late answer is dropped
	Since  time.Time      // when the request was given up
	Ref    instrument.Ref // the span of the request
}

// tombstones holds the latest maxStones tombstones of a client. Asks.mu guards it.
type tombstones struct {
	byID  map[int64]Tombstone
	order []int64
}

func (t *tombstones) put(id int64, s Tombstone) {
	if t.byID == nil {
		t.byID = map[int64]Tombstone{}
	}
	if len(t.order) == maxStones {
		delete(t.byID, t.order[0])
		t.order = t.order[1:]
	}
	t.byID[id] = s
	t.order = append(t.order, id)
}

// AddTombstone adds the tombstone of a request that was given up.
func (t *Asks) AddTombstone(id int64, s Tombstone) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tombstones.put(id, s)
}

// stray describes, for telemetry, why no request waits for a response.
func (x *Exchange) stray(id jsonrpc.ID) instrument.Drop {
	d := instrument.Drop{Reason: names.DropUnexpected, ID: id.String()}
	if x.Asks == nil {
		return d
	}
	n, ok := x.Asks.number(id)
	x.Asks.mu.Lock()
	defer x.Asks.mu.Unlock()
	s, late := x.Asks.tombstones.byID[n]
	switch {
	case !ok || n <= 0 || n > x.Asks.last:
		d.Reason = names.DropUnknownID
	case !late:
		d.Reason = names.DropDuplicate
	default:
		d.Reason, d.Age, d.Ref = s.Reason, time.Since(s.Since), s.Ref
	}
	return d
}
