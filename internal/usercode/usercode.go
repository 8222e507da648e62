// Package usercode is how code of the user's is called: a handler, a callback, a transport, a store. Such code returns,
// panics, or ends its goroutine by [runtime.Goexit], as t.Fatal does in a test. A panic can be ended where it is
// noticed. The end of a goroutine cannot; only what is deferred in it still runs. So there are four ways, by what the
// code runs in:
//
//   - [Run] for what has an outcome: it is told before the goroutine goes on, or ends.
//   - [Persist] for a loop that must go on: another goroutine goes on with it.
//   - [Apart] for what is seldom called and whose outcome is waited for: it has a goroutine of its own to lose.
//   - [Pass] for what runs in the goroutine of the user: things are put in order, and the panic or the end goes on to
//     there.
package usercode

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// ErrExited is the value of a [Failure] by [runtime.Goexit].
var ErrExited = errors.New("it has ended its goroutine (runtime.Goexit)")

// Failure is how code of the user's has ended that has not returned.
type Failure struct {
	Value any    // of the panic, or ErrExited
	Stack []byte // of the goroutine, down to where it happened
}

// Caught returns how code has failed, nil if it has returned. A deferred function calls it with what its own recover
// has returned.
func Caught(recovered any, returned bool) *Failure {
	switch {
	case recovered != nil:
		return &Failure{recovered, debug.Stack()}
	case !returned:
		return &Failure{ErrExited, debug.Stack()}
	}
	return nil
}

// Exited reports whether the code has ended its goroutine, rather than panicked.
func (f *Failure) Exited() bool { return f.Value == ErrExited }

// Error implements error. What the value says may be meant for few eyes, so there is its type only.
func (f *Failure) Error() string {
	if f.Exited() {
		return ErrExited.Error()
	}
	return fmt.Sprintf("panic of type %T", f.Value)
}

// ErrorType is the value of the attribute error.type.
func (f *Failure) ErrorType() string { return "panic" }

// Repeat fails in the same way in this goroutine.
func (f *Failure) Repeat() {
	if f.Exited() {
		runtime.Goexit()
	}
	panic(f.Value)
}

// Run calls f. If f fails, failed is told, in the same goroutine; then Run returns if that was a panic, and the
// goroutine ends otherwise.
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

// Pass calls f. If f fails, broken is called, and the failure goes on.
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

// Apart calls f in a goroutine of its own, waits for it, and returns how it has failed, nil if it has not.
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

// Persist calls f, and if f ends its goroutine, calls f again in another, which start starts; and so on until f
// returns, or panics. f must have taken note of what it was at, so as not to begin with that anew.
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
