package transporttest

import (
	"context"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Subject is a transport under test, with access to the other end of its connections.
type Subject struct {
	Transport transport.Transport

	// Accept returns the server's end of the latest connection. The tests call Dial and Accept in turns.
	Accept func(ctx context.Context) (Peer, error)

	// Unordered means that messages may overtake each other, as HTTP requests do.
	Unordered bool

	// Notices means that Conn.Cancel sends the notice that it gets, a notifications/cancelled. A transport must do so if
	// all requests share one stream, because closing this stream would end the other requests, too. If each request has
	// its own stream, Conn.Cancel may close that stream instead. Without Notices, the tests do not check the notice.
	Notices bool
}

// Peer is the server's end of a connection. A method whose ctx ends returns the cause of ctx; its action may still
// happen later. Methods may be called concurrently.
type Peer interface {
	// Send puts a frame on the wire. It returns when the wire holds the whole frame; the client may receive it
	// later.
	Send(ctx context.Context, frame []byte) error

	// Receive returns the next frame of the client. It returns [io.EOF] when the client has closed the connection.
	Receive(ctx context.Context) ([]byte, error)

	// Exit ends the peer without sending anything. Frames that the peer has already sent stay on the wire.
	Exit(ctx context.Context) error
}

// Partial is a [Peer] that can send a frame in parts.
type Partial interface {
	// Begin puts the beginning of a frame on the wire. The next Send carries the rest.
	Begin(ctx context.Context, part []byte) error
}

// Stubborn is a [Peer] that can refuse to end until it is killed.
type Stubborn interface {
	// Resist makes the peer ignore the close of the connection, and requests to end.
	Resist(ctx context.Context) error
}

// TestTransport checks the contract. It runs a subtest for each part of the contract, and calls open with that subtest.
func TestTransport(t *testing.T, open func(t *testing.T) Subject) {
	interruptible := false
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) { check(t, p, open) })
	}
	t.Run("a connection is checked for interruptible receives", func(t *testing.T) {
		check(t, promise{check: func(r *rig) {
			conn, _ := r.dial(transport.Config{})
			interruptible = interrupter(conn) != nil
		}}, open)
	})
	if !interruptible {
		return
	}
	for _, p := range interruptions {
		t.Run(p.name, func(t *testing.T) { check(t, p, open) })
	}
}

func check(t *testing.T, p promise, open func(t *testing.T) Subject) {
	r := &rig{T: t, Subject: open(t)}
	r.before = r.goroutines()
	p.check(r)
}

type promise struct {
	name  string
	check func(r *rig)
}

// promises lists the contract.
var promises = []promise{
	{"each dial opens a new connection", dialEachTime},
	{"dial with an ended context fails with its cause", dialEnded},
	{"dial that is cancelled midway leaves nothing", dialMidway},
	{"the end of dial's context does not affect the connection", dialContextEnds},
	{"dial does not keep its context", dialForgets},
	{"a transport has a name", named},

	{"frames arrive whole and in order at a receive with a deadline", receiveWithDeadline},
	{"frames arrive whole and in order at a receive without a deadline", receiveWithoutEnd},
	{"a frame of exactly the limit arrives, one byte more ends the connection", receiveLimit},
	{"with SkipOversize a frame over the limit is skipped", receiveSkip},
	{"the end of receive's context loses no frame", receiveResumes},
	{"the end of receive's context loses no part of a frame", receivePartResumes},
	{"receive with an ended context asks for nothing", receiveEnded},
	{"receive does not keep its context", receiveForgets},
	{"the peer's sends block while the client does not receive", receivePulls},
	{"frames before the peer's end arrive, then a permanent error", receivePeerEnds},

	{"frames leave whole and in order", sendInOrder},
	{"a frame larger than the outbound queue is sent", sendLarge},
	{"send with an ended context sends nothing", sendEnded},
	{"send to a peer that does not read returns ErrBusy and never waits", sendBusy},
	{"send does not keep the data", sendForgets},
	{"concurrent sends do not mix their frames", sendConcurrently},
	{"send after the peer's end returns ErrClosed", sendPeerEnds},
	{"send after close returns ErrClosed", sendClosed},
	{"cancel sends the notice", cancelNotice},

	{"close is idempotent and concurrent", closeTwice},
	{"close ends a receive", closeEndsReceive},
	{"no frame is received after close", closeEndsReceiving},
	{"accepted frames are sent before the close", closeFlushes},
	{"close keeps its deadline", closeDeadline},
	{"close keeps its deadline when the peer does not read", closeDeaf},
	{"close keeps its deadline when the peer resists", closeResisted},
	{"close with a cancelled context returns at once", closeAtOnce},
	{"an impatient close shortens a patient one", closeImpatient},
	{"close leaves nothing", closeLeavesNothing},
}

// interruptions lists the further promises of a transport whose connections can be interrupted.
var interruptions = []promise{
	{"an interruption ends the next receive and loses no frame", interruptBefore},
	{"an interruption ends a waiting receive", interruptDuring},
	{"an interruption loses no part of a frame", interruptPart},
	{"frames arrive whole and in order despite interruptions", interruptOften},
	{"a closed connection stays closed after an interruption", interruptClosed},
}
