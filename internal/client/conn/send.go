package conn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// outgoing is a message on its way to the transport.
type outgoing struct {
	transport.Message
	op      *instrument.Op // of the message; nil if the message has none, or has ended its part in it by itself
	request *Request       // that the message makes; nil for any other message
	cancels int64          // the request that the message cancels; 0 for none
	session *Session       // that the message belongs to, for the reason why it is over; nil to be told no reason
	room    room
}

// room says what becomes of a message for which the transport has no room.
type room uint8

const (
	inOneTry  room = iota // it is not sent
	inLine                // it waits in the line of the connection
	byRetries             // a request is tried again as the state machine says
)

// errDecided says that a request has its outcome before the transport has accepted it.
var errDecided = errors.New("the request has its outcome")

// send gives one message to the transport. All that the client sends passes here: requests, notifications,
// cancellations, answers, and the messages of the handshake. The rules:
//
//   - Order: as long as a message waits in the line of the connection, the transport is busy for every other message.
//     So messages leave in the order in which they were sent, if they may wait in the line. A cancellation by
//     [transport.Conn.Cancel] does not wait: it also frees what the connection holds for its request.
//   - Busy: o.room says what becomes of the message. An error that wraps [transport.ErrBusy] says that it was not sent.
//   - Wait: the end of ctx ends each wait, and its cause is returned. The outcome of a request ends its wait, with
//     errDecided, and the end of the connection ends that of any other message.
//   - Closed: behind [transport.ErrClosed], the goroutine that reads the connection gets a moment to say why. The error
//     wraps [ErrConnectionLost] and the reason then, and the state machine knows that the connection is down.
//   - Telemetry: op is told of the first try, of the wait of a request, and of the size of the message that was
//     accepted. The transport
//     itself reports the length of its queue and how long a message was in it. An answer tells its operation by itself,
//     for several may be one message.
//   - Code of the user's: a transport may panic. In a goroutine of the client's, its connection has failed then (see
//     [Conn.InBackground]); in that of a caller, the panic is the caller's, behind [Request.breakOff].
func (c *Conn) send(ctx context.Context, l *Link, o *outgoing) error {
	var p *place
	defer func() { l.line.leave(p) }()
	for {
		if o.request != nil && len(o.request.Outcome) > 0 { // it failed while it was being encoded
			return errDecided
		}
		err := error(transport.ErrBusy)
		o.sending()
		if p != nil || l.line.empty() || o.cancels != 0 {
			err = o.hand(ctx, l.Conn)
		}
		switch {
		case err == nil:
			if o.op != nil {
				o.op.Sent(len(o.Data))
			}
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !errors.Is(err, transport.ErrBusy) || o.room == inOneTry:
		case o.room == byRetries:
			err = o.request.later(ctx, nil)
		case p == nil:
			p = l.line.enter()
			if o.request != nil {
				o.op.Retry(names.RetryBusy)
			}
			err = o.wait(ctx, l, p.first, 0)
		default:
			err = o.wait(ctx, l, nil, RoomEvery)
		}
		if errors.Is(err, transport.ErrClosed) && o.session != nil {
			return c.whyClosed(ctx, o, err)
		}
		if err != nil {
			return err
		}
	}
}

// sending notes a try.
func (o *outgoing) sending() {
	if o.op != nil {
		o.op.Sending()
	}
	if o.request != nil {
		o.request.attempts++
	}
}

// hand hands the message over: a request by way of the connection's seam if it has one.
func (o *outgoing) hand(ctx context.Context, conn transport.Conn) error {
	switch {
	case o.cancels != 0:
		conn.Cancel(o.cancels, o.Message)
		return nil
	case o.request != nil && o.session.sender != nil:
		return o.session.sender.SendFor(ctx, o.Message, o.session.direct)
	}
	return conn.Send(ctx, o.Message)
}

// wait waits until first is closed or, if that is nil, for d. An error says what has ended the wait.
func (o *outgoing) wait(ctx context.Context, l *Link, first <-chan struct{}, d time.Duration) error {
	var after <-chan time.Time
	if first == nil {
		t := time.NewTimer(d)
		defer t.Stop()
		after = t.C
	}
	over := l.Ctx.Done()
	var outcome chan Outcome
	if o.request != nil {
		over, outcome = nil, o.request.Outcome
	}
	select {
	case <-first:
	case <-after:
	case decided := <-outcome:
		outcome <- decided
		return errDecided
	case <-over:
		return fmt.Errorf("%w: %w", transport.ErrClosed, context.Cause(l.Ctx))
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// whyClosed returns why the connection takes nothing any more, which the goroutine that reads it knows, and mostly is
// about to say.
func (c *Conn) whyClosed(ctx context.Context, o *outgoing, err error) error {
	if ended := o.wait(ctx, o.session.Link, nil, Patience); ended != nil && o.request != nil {
		return ended
	}
	return c.lost(o.session, err)
}

// CloseStream tells the connection that the answer to the request with this id is not awaited any more. If the request
// has a stream of its own, the stream is closed; the server is told nothing else.
func (c *Conn) CloseStream(s *Session, id int64) {
	_ = c.send(s.Ctx, s.Link, &outgoing{cancels: id})
}
