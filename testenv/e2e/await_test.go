package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcpotel/mcpotel/mcp"
)

// until polls for an event that sends no signal.
func until(t *testing.T, ctx context.Context, what string, happened func() bool) {
	t.Helper()
	untilEvery(t, ctx, 20*time.Millisecond, what, happened)
}

// untilEvery is like until, with a pause between two polls, for expensive conditions.
func untilEvery(t *testing.T, ctx context.Context, pause time.Duration, what string, happened func() bool) {
	t.Helper()
	again := time.NewTicker(pause)
	defer again.Stop()
	for !happened() {
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("want that %s, and it does not come", what)
		}
	}
}

func (x *explorer) until(what string, happened func() bool) {
	x.Helper()
	until(x.T, x.ctx, what, happened)
}

// next waits for a value.
func next[T any](t *testing.T, ctx context.Context, what string, values <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-values:
	case <-ctx.Done():
		t.Fatalf("want %s, and it does not come", what)
	}
	return v
}

func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(mcp.RequestID{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// drain removes the values that a channel holds now.
func drain[T any](values <-chan T) {
	for {
		select {
		case <-values:
		default:
			return
		}
	}
}
