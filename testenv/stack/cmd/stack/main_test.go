package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestUpRunsARoundAndEnds runs the command as a user does, but on free ports.
func TestUpRunsARoundAndEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var out bytes.Buffer
	if err := run(ctx, []string{"up", "--free-ports", "--rounds", "1"}, &out, t.Output()); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{"the stack is up after", "http://127.0.0.1:", "round 1 took",
		"the traffic has ended after", "the stack has ended after"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q, got\n%s", want, &out)
		}
	}
}

func TestPageShowsTelemetryOfTheAgent(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	read, write := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, []string{"up", "--free-ports", "--web"}, write, t.Output())
		write.CloseWithError(err)
		ended <- err
	}()
	var url string
	lines := bufio.NewScanner(read)
	for lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), "on a page"); ok {
			url = strings.TrimSpace(at)
		}
		if strings.HasPrefix(lines.Text(), "round 1 took") {
			break
		}
	}
	go io.Copy(io.Discard, read)
	for _, want := range []string{"tools/call", "shop"} {
		await(ctx, t, url, want)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("want an end in order, got %v", err)
	}
}

// await requests a page until it contains a text.
func await(ctx context.Context, t *testing.T, url, want string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for text := ""; !strings.Contains(text, want); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("want %q on the page %q, got\n%s", want, url, text)
		}
		r, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		text = string(body)
	}
}

func TestWrongArgumentsAreErrors(t *testing.T) {
	for _, args := range [][]string{nil, {"down"}, {"up", "more"}, {"up", "--nosuch"}} {
		if err := run(t.Context(), args, new(bytes.Buffer), new(bytes.Buffer)); err == nil {
			t.Errorf("%q: want an error, got none", args)
		}
	}
}
