package mcpserver

import (
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// maxStones is how many questions that were given up are remembered, to know a late answer by.
const maxStones = 256

// stone is what is remembered of one.
type stone struct {
	reason string // why its answer is late
	since  time.Time
	ref    instrument.Ref // of its span
}

// stones are those of a client, at most maxStones: the oldest give way. They belong to asks.mu.
type stones struct {
	byID  map[int64]stone
	order []int64
}

func (t *stones) put(id int64, s stone) {
	if t.byID == nil {
		t.byID = map[int64]stone{}
	}
	if len(t.order) == maxStones {
		delete(t.byID, t.order[0])
		t.order = t.order[1:]
	}
	t.byID[id] = s
	t.order = append(t.order, id)
}

// bury remembers a question that was given up.
func (t *asks) bury(id int64, s stone) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buried.put(id, s)
}

// stray says for telemetry why no question waits for a response.
func (x *rpcExchange) stray(id jsonrpc.ID) instrument.Drop {
	d := instrument.Drop{Reason: names.DropUnexpected, ID: id.String()}
	if x.asks == nil {
		return d
	}
	n, ok := x.asks.number(id)
	x.asks.mu.Lock()
	defer x.asks.mu.Unlock()
	s, late := x.asks.buried.byID[n]
	switch {
	case !ok || n <= 0 || n > x.asks.last:
		d.Reason = names.DropUnknownID
	case !late:
		d.Reason = names.DropDuplicate
	default:
		d.Reason, d.Age, d.Ref = s.reason, time.Since(s.since), s.ref
	}
	return d
}
