package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// interruption is the cause of a context that a signal has cancelled.
type interruption struct{ signal syscall.Signal }

func (i *interruption) Error() string {
	if i.signal == syscall.SIGTERM {
		return "terminated"
	}
	return "interrupted"
}

// code returns the exit code that shells use for a program ended by the signal: 130 for Ctrl-C, 143 for SIGTERM.
func (i *interruption) code() int { return 128 + int(i.signal) }

// twice is the time within which two signals count as one. The program timeout, for example, signals the process and
// then its process group.
const twice = 500 * time.Millisecond

// untilSignal returns a context that Ctrl-C or SIGTERM cancels. The command then has a moment to disconnect from its
// servers; a second signal ends the process at once.
func untilSignal(parent context.Context) (_ context.Context, stop func()) {
	shell := new(interrupts)
	ctx, end := context.WithCancelCause(context.WithValue(parent, interruptsKey{}, shell))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // ends with ctx, or when duplicates of the first signal can no longer arrive
		for {
			select {
			case s := <-signals:
				cause := &interruption{s.(syscall.Signal)}
				if s == os.Interrupt && shell.take(cause) {
					continue
				}
				end(cause)
				time.Sleep(twice)
				signal.Stop(signals)
			case <-ctx.Done():
			}
			return
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		end(context.Canceled)
	}
}
