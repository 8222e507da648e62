package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// interruption is the cause of a context that a signal has ended.
type interruption struct{ signal syscall.Signal }

func (i *interruption) Error() string {
	if i.signal == syscall.SIGTERM {
		return "terminated"
	}
	return "interrupted"
}

// code is the exit code that shells give to a program that the signal has ended: 130 for Ctrl-C, 143 for SIGTERM.
func (i *interruption) code() int { return 128 + int(i.signal) }

// twice is how soon after one another signals count as one: programs such as timeout send it to the process, and then
// to its group.
const twice = 500 * time.Millisecond

// untilSignal returns a context that ends with Ctrl-C or SIGTERM. The command has a moment then to take leave of its
// servers; a second signal ends the process at once.
func untilSignal(parent context.Context) (_ context.Context, stop func()) {
	ctx, end := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1) // the first is what counts
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // ends with ctx, and what is the same signal
		select {
		case s := <-signals:
			end(&interruption{s.(syscall.Signal)})
			time.Sleep(twice)
			signal.Stop(signals)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		end(context.Canceled)
	}
}
