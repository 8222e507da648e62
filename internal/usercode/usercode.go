// Package usercode calls code of the user: a handler, a callback, a transport, a store. Such code returns, panics, or
// ends its goroutine by [runtime.Goexit], as t.Fatal does in a test. A panic can be recovered. The end of a goroutine
// cannot be stopped; only its deferred functions still run. So there are four ways to call such code:
//
//   - [Run], for code with an outcome: Run reports a failure before the goroutine continues or ends.
//   - [Persist], for a loop that must continue: if its goroutine ends, another goroutine continues the loop.
//   - [Apart], for rare calls: Apart calls the code in a separate goroutine, which the code may end, and waits for the
//     outcome.
//   - [Pass], for code in a goroutine of the user: Pass cleans up, and the panic or the end of the goroutine continues.
package usercode

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// ErrExited is the Value of a [Failure] caused by [runtime.Goexit].
var ErrExited = errors.New("it called runtime.Goexit")

// Failure describes how the user's code failed to return.
type Failure struct {
	Value any    // value of the panic, or ErrExited
	Stack []byte // stack of the goroutine at the failure
}

// Caught returns the failure of the code, or nil if it returned. Call it from a deferred function, with the result of
// that function's own recover.
func Caught(recovered any, returned bool) *Failure {
	switch {
	case recovered != nil:
		return &Failure{recovered, debug.Stack()}
	case !returned:
		return &Failure{ErrExited, debug.Stack()}
	}
	return nil
}

// Exited reports whether the code ended its goroutine instead of panicking.
func (f *Failure) Exited() bool { return f.Value == ErrExited }

// Error implements error. It contains only the type of the panic value, because the value may be confidential.
func (f *Failure) Error() string {
	if f.Exited() {
		return ErrExited.Error()
	}
	return fmt.Sprintf("panic of type %T", f.Value)
}

// ErrorType returns the value of the attribute error.type.
func (f *Failure) ErrorType() string { return "panic" }

// Repeat repeats the panic or the Goexit in this goroutine.
func (f *Failure) Repeat() {
	if f.Exited() {
		runtime.Goexit()
	}
	panic(f.Value)
}

// Run calls f. If f fails, Run calls failed in the same goroutine; after a panic Run then returns, and after a Goexit
// the goroutine ends.
func Run(f func(), failed func(*Failure)) {
	returned := false
	defer func() {
		if failure := Caught(recover(), returned); failure != nil {
			failed(failure)
		}
	}()
	f()
	returned = true
}

// Pass calls f. If f fails, Pass calls broken, and the panic or Goexit continues.
func Pass(f, broken func()) {
	returned := false
	defer func() {
		if !returned {
			broken()
		}
	}()
	f()
	returned = true
}

// Apart calls f in a separate goroutine, waits for it, and returns its failure, or nil if f returned.
func Apart(f func()) *Failure {
	var failure *Failure
	done := make(chan struct{})
	go func() { // ends with f
		defer close(done)
		Run(f, func(how *Failure) { failure = how })
	}()
	<-done
	return failure
}

// Persist calls f. If f ends its goroutine, Persist calls f again in a new goroutine, started with start, and so on
// until f returns or panics. f must record its progress so that it does not repeat the work that ended the goroutine.
func Persist(start func(func()), f func()) {
	returned := false
	defer func() {
		if v := recover(); v != nil {
			panic(v)
		}
		if !returned {
			start(func() { Persist(start, f) })
		}
	}()
	f()
	returned = true
}
