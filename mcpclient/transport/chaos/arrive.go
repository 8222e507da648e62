package chaos

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/oversize"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Receive applies the plan to each frame of the server.
func (c *conn) Receive(ctx context.Context) (transport.Frame, error) {
	for {
		f, delivered, err := c.Next(ctx)
		if err != nil || delivered {
			return f, err
		}
		f, passes := c.arrive(f)
		if !passes {
			continue
		}
		c.Release()
		return f, nil
	}
}

// arrive applies the plan to a frame of the server. passes is true if the caller must deliver the returned frame. It is
// false if the frame was lost, delayed or already delivered, or if the connection is over.
func (c *conn) arrive(f transport.Frame) (_ transport.Frame, passes bool) {
	on, r, id := c.about(&f)
	if on == "" {
		return f, true
	}
	v := c.of.judge(on, r.method, r.tool)
	tell(trace.ContextWithSpan(context.Background(), r.span), c.cfg.Logger, v.kinds, r)
	at := c.due(&v, len(f.Data))
	if v.hit != nil {
		if f, passes = c.damage(f, &v, id); !passes {
			return f, false
		}
	}
	if at.After(time.Now()) {
		c.DeliverAt(at, f)
		return f, false
	}
	return f, true
}

// about returns the kind of a server's frame and the request to which the frame belongs. An answer removes its request
// from the open requests. on is empty if no fault can hit the frame.
func (c *conn) about(f *transport.Frame) (on On, r request, id int64) {
	if f.Err != nil {
		c.forget(f.Request)
		return "", r, 0
	}
	m, err := jsonrpc.Parse(f.Data)
	switch {
	case err != nil:
		return "", r, 0
	case m.Kind == jsonrpc.Request || m.Kind == jsonrpc.Notification:
		return OnNotification, request{method: m.Method}, 0
	}
	if id = f.Request; id == 0 {
		id, _ = m.ID.Int()
	}
	r, known := c.forget(id)
	if !known {
		return "", r, 0
	}
	return OnAnswer, r, id
}

// damage applies every fault except delays to a frame. id is the request to which the frame belongs, 0 for none.
func (c *conn) damage(f transport.Frame, v *verdict, id int64) (_ transport.Frame, passes bool) {
	switch v.hit.Kind {
	case Drop:
		return f, false
	case Duplicate:
		c.DeliverAt(time.Now(), transport.Frame{Data: append([]byte(nil), f.Data...), Request: f.Request})
	case Reorder:
		if !c.Release() { // a frame that was already held now follows f, so f is not held
			c.Hold(time.Now().Add(v.hit.Delay), f)
			return f, false
		}
	case Truncate:
		if c.of.http && id != 0 { // transport.HTTP reports a malformed answer like this
			return transport.Frame{Request: id, Err: &transport.RequestError{
				Reason: transport.ReasonMalformed, Err: ErrInjected,
			}}, true
		}
		f.Data = f.Data[:1+v.draw%uint64(max(1, len(f.Data)-1))]
	case Garbage:
		c.Deliver(transport.Frame{Data: garbage(v.draw), Request: f.Request})
		c.Deliver(f)
		return f, false
	case Oversize:
		return c.above(f)
	case Error:
		f.Data = failure(f.Data, v.hit.Code)
	case Freeze:
		c.freeze(v.hit.Delay)
		c.Deliver(f)
		return f, false
	case Cut, Death:
		lost, over := c.breakOff(v.hit.Kind, id)
		return lost, over == nil
	}
	return f, true
}

// garbage returns a frame of random bytes.
func garbage(draw uint64) []byte {
	b := make([]byte, 1+draw%64)
	for i := range b {
		if b[i] = byte(chance(draw, uint64(i))); b[i] == '\n' || b[i] == '\r' {
			b[i] = 0
		}
	}
	return b
}

// above returns the result of Receive for a frame above the limit.
func (c *conn) above(f transport.Frame) (_ transport.Frame, passes bool) {
	limit := c.cfg.FrameLimit
	if limit <= 0 {
		limit = transport.DefaultFrameLimit
	}
	head, tail := f.Data[:min(len(f.Data), oversize.Kept)], f.Data[max(0, len(f.Data)-oversize.Kept):]
	size := max(limit+1, len(f.Data))
	if !c.cfg.SkipOversize {
		c.End(&transport.FrameTooLargeError{Size: size, Limit: limit, Head: head})
		return f, false
	}
	return transport.Frame{Request: f.Request, Err: &transport.RequestError{
		Reason: transport.ReasonTooLarge, Size: size, Limit: limit, Head: head, Tail: tail, Err: ErrInjected,
	}}, true
}

// failure returns an error response in place of an answer.
func failure(answer []byte, code int) []byte {
	m, _ := jsonrpc.Parse(answer) // about has parsed it without an error
	data, _ := jsonrpc.AppendError(nil, m.ID, &jsonrpc.WireError{Code: int64(code), Message: ErrInjected.Error()})
	return data
}
