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
	op      *instrument.Op // operation of the message; nil if the caller records the operation itself
	request *Request       // the request that the message carries; nil for any other message
	cancels int64          // ID of the request that the message cancels; 0 for any other message
	session *Session       // session of the message, to find out why it ended; nil if the caller needs no reason
	room    room           // what send does if the transport has no room
}

// room decides what send does with a message if the transport has no room.
type room uint8

const (
	inOneTry  room = iota // return transport.ErrBusy
	inLine                // wait in the line of the connection
	byRetries             // retry a request as the state machine decides
)

// errDecided reports that a request got its outcome before the transport accepted it.
var errDecided = errors.New("the request already has an outcome")

// send passes one message to the transport. Every message of the client passes through send: requests, notifications,
// cancellations, answers, and the messages of the handshake. The rules:
//
//   - Order: while a message waits in the line of the connection, the transport counts as busy for every other message.
//     So the messages that may wait in the line are sent in the order of the calls of send. A cancellation by
//     [transport.Conn.Cancel] does not wait, because it also frees the resources of its request.
//   - Busy: o.room decides what send does. An error that wraps [transport.ErrBusy] means that the message was not sent.
//   - Wait: if ctx ends, every wait ends, and send returns the cause of ctx. If a request gets its outcome, its wait
//     ends with errDecided. If the connection ends, the wait of a message other than a request ends.
//   - Closed: after [transport.ErrClosed], the goroutine that reads the connection gets a moment to report the reason.
//     The error then wraps [ErrConnectionLost] and the reason, and the state machine knows that the connection is down.
//   - Telemetry: op records the first attempt, the wait of a request, and the size of the accepted message. The
//     transport reports the length of its queue and the time that messages spend in it. send does not end the operation
//     of an answer, because several answers may form one message.
//   - User code: a transport may panic. In a goroutine of the client, the connection then fails, see
//     [Conn.InBackground]. In the caller's goroutine, the panic reaches the caller, after [Request.breakOff].
func (c *Conn) send(ctx context.Context, l *Link, o *outgoing) error {
	var p *place
	defer func() { l.line.leave(p) }()
	for {
		if o.request != nil && len(o.request.Outcome) > 0 { // the request failed while it was being encoded
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

// sending records an attempt to send the message.
func (o *outgoing) sending() {
	if o.op != nil {
		o.op.Sending()
	}
	if o.request != nil {
		o.request.attempts++
	}
}

// hand passes the message to the transport. A request is passed through [seam.Sender] if the connection implements that
// interface.
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

// wait waits until first is closed or, if first is nil, for d. It returns an error if the wait ends early.
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

// whyClosed returns the reason why the connection is closed. The goroutine that reads usually reports the reason soon.
func (c *Conn) whyClosed(ctx context.Context, o *outgoing, err error) error {
	if ended := o.wait(ctx, o.session.Link, nil, Patience); ended != nil && o.request != nil {
		return ended
	}
	return c.lost(o.session, err)
}

// CloseStream informs the connection that the client no longer needs the answer to the request. If the request has its
// own stream, the transport closes that stream. The server gets no notification.
func (c *Conn) CloseStream(s *Session, id int64) {
	_ = c.send(s.Ctx, s.Link, &outgoing{cancels: id})
}
