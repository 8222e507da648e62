package conn

import (
	"context"

	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// The client calls code of the user's as package usercode has it: handlers, callbacks, the transport. Whatever that
// does, the client goes on and can be stopped.

// BrokenOff is how an operation ends in which code of the user's has failed, unless it has ended before: for a defer.
var BrokenOff = instrument.Result{ErrorType: names.ErrorPanic}

// Failed returns what tells telemetry that the code of this name has failed.
func (c *Conn) Failed(ctx context.Context, name string) func(*usercode.Failure) {
	return func(f *usercode.Failure) { c.Telemetry.HandlerPanic(ctx, name, f.Value, f.Stack) }
}

// apart calls f, a part of the transport's, in a goroutine of its own. The error is a failure of that code.
func (c *Conn) apart(name string, f func()) error {
	if failure := usercode.Apart(f); failure != nil {
		c.Failed(c.Base, name)(failure)
		return failure
	}
	return nil
}

// InBackground runs f in a goroutine that Stop waits for. If the transport fails in it, so has the connection.
func (c *Conn) InBackground(l *Link, f func()) {
	c.goroutines.Go(func() {
		usercode.Run(f, func(failure *usercode.Failure) { c.transportFailed(l.Epoch, failure) })
	})
}

// transportFailed gives up a connection whose transport has failed, which its reader need not notice.
func (c *Conn) transportFailed(epoch uint64, failure *usercode.Failure) *usercode.Failure {
	defer c.fail(epoch, failureOf(failure, machine.TransportDown))
	c.Failed(c.Base, "transport")(failure)
	return failure
}
