package conn

import (
	"time"

	"github.com/mcpotel/mcpotel/internal/client/inflight"
	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// route passes one message to its receiver. It reports whether the reader may read the next message.
func (c *Conn) route(r *Reader, m *jsonrpc.Message, answer Answerer) bool {
	effects, why, answered, ok := c.admit(r, m)
	if !ok {
		return false
	}
	pull := false
	for _, e := range effects {
		switch e {
		case machine.Pull:
			pull = true
		case machine.Deliver:
			if answered != nil {
				answered.receive(m)
			}
		case machine.Drop:
			c.dropped(m, why)
			if late := why.stone.Note.late; late != nil {
				late(r, m)
			}
		case machine.Enqueue:
			c.features.Notified(r, m)
		case machine.Serve:
			c.features.Serve(r, m, answer)
		}
	}
	return pull
}

// admit classifies a message and steps the machine, in one atomic step. A response ends its call or finds the tombstone
// of its call. answered is the request that the message answers, if no goroutine waits for that answer.
func (c *Conn) admit(r *Reader, m *jsonrpc.Message) (effects []machine.Effect, d drop, answered *Request, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	in := machine.Input{Epoch: r.Link.Epoch, Now: time.Now()}
	f := &fact{message: m}
	switch m.Kind {
	case jsonrpc.Request:
		in.Event = machine.Request
	case jsonrpc.Notification:
		in.Event = machine.Notification
	default:
		in.Event, d = c.classify(m, f, in.Now)
	}
	if f.call != nil && f.call.pending != nil { // read pending before the call belongs to its caller again
		answered = f.call
	}
	effects, ok = c.stepLocked(in, f)
	if f.call != nil && r.turn != nil && answered == nil { // a caller that waits may read its own answers
		r.turn.answered(in.Now, c.calls.Len() == 0)
	}
	return effects, d, answered, ok
}

// drop describes a message that no request waits for.
type drop struct {
	reason string
	stone  inflight.Tombstone[headstone] // tombstone of the call, if there is one
}

// classify classifies a response. The caller holds mu.
func (c *Conn) classify(m *jsonrpc.Message, f *fact, now time.Time) (machine.Event, drop) {
	id, ok := m.ID.Int()
	if !ok {
		return machine.ResponseUnknown, drop{reason: names.DropUnknownID}
	}
	cl, class := c.calls.Classify(id, now)
	switch class {
	case inflight.InFlight:
		f.call = cl
		if cl.Own {
			return machine.ResponseOwn, drop{}
		}
		return machine.ResponseInFlight, drop{}
	case inflight.Late:
		stone, _ := c.calls.Tombstone(id, now)
		return machine.ResponseLate, drop{reason: lateReason(stone.Cause), stone: stone}
	case inflight.Duplicate:
		return machine.ResponseUnknown, drop{reason: names.DropDuplicate}
	}
	if id > 0 && id <= c.lastID { // the ID of a handshake request
		return machine.ResponseUnknown, drop{reason: names.DropDuplicate}
	}
	return machine.ResponseUnknown, drop{reason: names.DropUnknownID}
}

func lateReason(cause inflight.Cause) string {
	switch cause {
	case inflight.Timeout:
		return names.DropLateTimeout
	case inflight.Cancelled:
		return names.DropLateCancelled
	}
	return names.DropLateLost
}

// dropped counts a discarded message: a response that no request waits for, or a message during the handshake that is
// not part of it.
func (c *Conn) dropped(m *jsonrpc.Message, d drop) {
	if m.Kind == jsonrpc.Result || m.Kind == jsonrpc.Error {
		c.Telemetry.Dropped(instrument.Drop{Reason: d.reason, ID: m.ID.String(), Age: d.stone.Age, Ref: d.stone.Note.ref})
		return
	}
	c.Telemetry.NotificationDropped(m.Method, names.DropNotReady)
}

// Refused counts a message with invalid content as a violation. err is the reason. If the message was already consumed,
// err contains the beginning of its frame.
func (c *Conn) Refused(m *jsonrpc.Message, err error) *jsonrpc.Violation {
	v := jsonrpc.ViolationOf(m, err)
	head := m.Frame
	if head == nil {
		head = v.Head
	}
	c.Violation(v, head, m.Size(), 0)
	return v
}

// Violation counts a frame that violates the protocol. head is the whole frame or its beginning.
func (c *Conn) Violation(v *jsonrpc.Violation, head []byte, size, limit int) {
	c.Telemetry.Violation(instrument.Violation{
		Reason: v.Reason.String(), Size: size, Limit: limit, Direction: telemetry.DirectionReceived, Head: head,
	})
}
