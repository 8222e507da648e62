package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// TestUpRunsARoundAndEnds is the command as a person starts it, on free ports.
func TestUpRunsARoundAndEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var out bytes.Buffer
	if err := run(ctx, []string{"up", "--free-ports", "--rounds", "1"}, &out, t.Output()); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{"the stack is up after", "http://127.0.0.1:", "round 1 took", "the traffic has ended after", "the stack has ended after"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q, got\n%s", want, &out)
		}
	}
}

func TestWrongArgumentsAreErrors(t *testing.T) {
	for _, args := range [][]string{nil, {"down"}, {"up", "more"}, {"up", "--nosuch"}} {
		if err := run(t.Context(), args, new(bytes.Buffer), new(bytes.Buffer)); err == nil {
			t.Errorf("%q: want an error, got none", args)
		}
	}
}
