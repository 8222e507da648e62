package rpc

import (
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// maxStones is how many questions that were given up are remembered, to know a late answer by.
const maxStones = 256

// Tombstone is what is remembered of one.
type Tombstone struct {
	Reason string // why its answer is late
	Since  time.Time
	Ref    instrument.Ref // of its span
}

// tombstones are those of a client, at most maxStones: the oldest give way. They belong to asks.mu.
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

// Bury remembers a question that was given up.
func (t *Asks) Bury(id int64, s Tombstone) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buried.put(id, s)
}

// stray says for telemetry why no question waits for a response.
func (x *Exchange) stray(id jsonrpc.ID) instrument.Drop {
	d := instrument.Drop{Reason: names.DropUnexpected, ID: id.String()}
	if x.Asks == nil {
		return d
	}
	n, ok := x.Asks.number(id)
	x.Asks.mu.Lock()
	defer x.Asks.mu.Unlock()
	s, late := x.Asks.buried.byID[n]
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
