package receiver

import (
	"container/list"
	"context"
	"strconv"
	"sync"

	"github.com/mcpotel/mcpotel/internal/lock"
)

// deliveries remembers the alerts that sinks have received, so that repetitions are not delivered again. It is bounded:
// the alerts that Alertmanager has not sent for the longest time are forgotten first. It is safe for concurrent use.
type deliveries struct {
	mu    sync.Mutex
	known map[alertKey]*delivery // guarded by mu
	order list.List              // of *delivery, the least recently sent first; guarded by mu
}

// maxDeliveries bounds the number of alerts in memory, of about 200 bytes each.
const maxDeliveries = 10_000

// alertKey identifies an alert from its start to its end, and its end.
type alertKey struct {
	fingerprint uint64
	starts      int64 // in nanoseconds
	resolved    bool
}

// keyOf returns the key of an alert, whose fingerprint Parse has validated.
func keyOf(a *Alert) alertKey {
	hash, err := strconv.ParseUint(a.Fingerprint, 16, 64)
	if err != nil {
		panic("receiver: the fingerprint was not validated: " + err.Error())
	}
	return alertKey{hash, a.StartsAt.UnixNano(), a.Status == Resolved}
}

// delivery is the state of one alert.
type delivery struct {
	turn lock.Mutex // held while the alert is delivered
	sent uint64     // the sinks that have it, a bit each; guarded by turn

	key   alertKey
	users int // goroutines between begin and end; guarded by deliveries.mu
	place *list.Element
}

// begin returns the delivery of an alert when no other goroutine delivers the same alert. The caller must call end.
func (d *deliveries) begin(ctx context.Context, k alertKey) (*delivery, error) {
	d.mu.Lock()
	one := d.known[k]
	if one == nil {
		if d.known == nil {
			d.known = map[alertKey]*delivery{}
		}
		one = &delivery{key: k}
		one.place = d.order.PushBack(one)
		d.known[k] = one
	}
	d.order.MoveToBack(one.place)
	one.users++
	d.forget()
	d.mu.Unlock()
	if err := one.turn.LockContext(ctx); err != nil {
		d.leave(one)
		return nil, err
	}
	return one, nil
}

// end ends the turn of a delivery.
func (d *deliveries) end(one *delivery) {
	one.turn.Unlock()
	d.leave(one)
}

func (d *deliveries) leave(one *delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	one.users--
}

// forget removes the oldest delivery above the bound, unless it is in use. The caller holds mu.
func (d *deliveries) forget() {
	for e := d.order.Front(); e != nil && len(d.known) > maxDeliveries; {
		next := e.Next()
		if one := e.Value.(*delivery); one.users == 0 {
			d.order.Remove(e)
			delete(d.known, one.key)
		}
		e = next
	}
}
