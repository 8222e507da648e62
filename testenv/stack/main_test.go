package stack_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/testenv/stack"
)

// up is the one stack of all tests that do not kill a part of it.
var up *stack.Stack

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rules, err := dashboardRules()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if up, err = stack.Up(ctx, stack.Options{Log: os.Stderr, Rules: rules}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := up.Stop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	return m.Run()
}

// limit bounds a test's waiting.
func limit(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), d, fmt.Errorf("%s has waited %v", t.Name(), d))
	t.Cleanup(cancel)
	return ctx
}

// until waits for something that nothing tells of.
func until(t *testing.T, ctx context.Context, what string, happened func() bool) {
	t.Helper()
	if !within(ctx, happened) {
		t.Fatalf("want that %s: %v", what, context.Cause(ctx))
	}
}

// within asks again and again, until ctx ends, whether something has happened.
func within(ctx context.Context, happened func() bool) bool {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for !happened() {
		select {
		case <-again.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
