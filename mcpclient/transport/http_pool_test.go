package transport

import (
	"testing"

	"github.com/mcpotel/mcpotel/internal/sse"
)

func TestConnectionsOfOneClientShareWorkerPool(t *testing.T) {
	o := new(originClient)
	a, b := joinPool(o), joinPool(o)
	if a != b {
		t.Error("want one pool for two connections")
	}
	if own := joinPool(nil); own == a || own == joinPool(nil) {
		t.Error("want a separate pool for each connection with its own client")
	}
	a.leave()
	if joinPool(o) != b {
		t.Error("want the pool kept as long as one connection uses it")
	}
	b.leave()
	b.leave()
	if joinPool(o) == b {
		t.Error("want another pool after the last connection has left")
	}
}

func TestWorkerAppliesFrameLimitOfEachConnection(t *testing.T) {
	var w worker
	small, large := frameBound{limit: 10}, frameBound{limit: 1000, skip: true}
	var got []*sse.Reader
	for _, b := range []frameBound{small, small, large, small} {
		got = append(got, w.eventsOf(b))
		if w.bound != b {
			t.Errorf("got a reader for %+v, want one for %+v", w.bound, b)
		}
	}
	if got[0] != got[1] || got[1] == got[2] || got[2] == got[3] {
		t.Error("want a reader reused only for the same frame bound")
	}
}
