package mcpserver

import (
	"context"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// The server calls code of the user's as package usercode has it: handlers, stores, connections. Whatever that does,
// the request gets its answer, and the server goes on and can be shut down.

// brokenOff is how an operation ends in which code of the user's has failed, unless it has ended before: for a defer.
var brokenOff = instrument.Result{ErrorType: names.ErrorPanic}

// failed returns what tells telemetry that the code of this name has failed.
func (o *observer) failed(ctx context.Context, name string) func(*usercode.Failure) {
	return func(f *usercode.Failure) { o.tel.HandlerPanic(ctx, name, f.Value, f.Stack) }
}

// apart calls f in a goroutine of its own. The error is a failure of that code.
func (s *Server) apart(ctx context.Context, name string, f func()) error {
	if failure := usercode.Apart(f); failure != nil {
		o := s.observer(instrument.Network{})
		o.failed(context.WithoutCancel(ctx), name)(failure)
		return failure
	}
	return nil
}

// guarded calls a part of a handler that answers no request, in a goroutine of its own, and survives its failure.
func (o *observer) guarded(ctx context.Context, method string, f func()) {
	if failure := usercode.Apart(f); failure != nil {
		o.failed(ctx, method)(failure)
	}
}
