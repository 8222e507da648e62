package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
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

// untilSignal returns a context that ends with Ctrl-C or SIGTERM. The command has a moment then to take leave of its
// servers; a second signal ends the process at once.
func untilSignal(parent context.Context) (_ context.Context, stop func()) {
	ctx, end := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1) // the first is what counts
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // ends with ctx
		select {
		case s := <-signals:
			signal.Stop(signals)
			end(&interruption{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		end(context.Canceled)
	}
}
