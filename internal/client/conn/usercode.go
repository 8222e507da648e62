package conn

import (
	"context"

	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// The client calls user code (handlers, callbacks, the transport) through package usercode. Whatever user code does,
// the client continues to work and can be stopped.

// BrokenOff is the result of an operation in which user code has failed. It is for a deferred End, because a second End
// has no effect.
var BrokenOff = instrument.Result{ErrorType: names.ErrorPanic}

// Failed returns a function that reports a failure of the code with this name to the telemetry.
func (c *Conn) Failed(ctx context.Context, name string) func(*usercode.Failure) {
	return func(f *usercode.Failure) { c.Telemetry.HandlerPanic(ctx, name, f.Value, f.Stack) }
}

// apart calls f, which is code of the transport, in its own goroutine. It returns an error if f panics or ends its
// goroutine.
func (c *Conn) apart(name string, f func()) error {
	if failure := usercode.Apart(f); failure != nil {
		c.Failed(c.Base, name)(failure)
		return failure
	}
	return nil
}

// InBackground runs f in a goroutine that Stop waits for. If the transport panics in f, the connection fails.
func (c *Conn) InBackground(l *Link, f func()) {
	c.goroutines.Go(func() {
		usercode.Run(f, func(failure *usercode.Failure) { c.transportFailed(l.Epoch, failure) })
	})
}

// transportFailed closes a connection after its transport has panicked, because the reader may not notice that.
func (c *Conn) transportFailed(epoch uint64, failure *usercode.Failure) *usercode.Failure {
	defer c.fail(epoch, failureOf(failure, machine.TransportDown))
	c.Failed(c.Base, "transport")(failure)
	return failure
}
