//go:build unix

package transport_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestStderrGoesToLoggerAndCallbackByLine(t *testing.T) {
	h := newHarness(t)
	s := h.stdio()
	lines := make(chan string, 10)
	s.Stderr = func(line string) { lines <- line }
	j := &journal{level: slog.LevelDebug, added: make(chan struct{}, 10)}
	conn, child := h.dial(s, transport.Config{Logger: slog.New(j)})

	h.do(child, command{Op: opStderr, Data: []byte("half ")})
	h.do(child, command{Op: opWrite, Data: []byte("{}\n")})
	h.do(child, command{Op: opStderr, Data: []byte("a line\r\nanother \xff\n")})
	frame, err := conn.Receive(t.Context())
	if err != nil || string(frame.Data) != "{}" {
		t.Errorf("receive: want {} without standard error, got %q and %v", frame.Data, err)
	}
	for _, want := range []string{"half a line", "another \uFFFD"} {
		if got := <-lines; got != want {
			t.Errorf("callback: want %q, got %q", want, got)
		}
		<-j.added
	}
	record := func(line string) map[string]string {
		const event = "mcp_client.process.stderr"
		return map[string]string{"level": "DEBUG", "message": event, "event.name": event, event + ".line": line}
	}
	want := []map[string]string{record("half a line"), record("another \uFFFD")}
	if diff := cmp.Diff(want, j.records); diff != "" {
		t.Errorf("want one record for each line (-want +got):\n%s", diff)
	}
	if got := conn.Info().LastWords; got != "another \uFFFD" {
		t.Errorf("last words: want the latest line, got %q", got)
	}
}

func TestStderrWithoutNewlineIsDrainedInPieces(t *testing.T) {
	const megabytes = 10
	h := newHarness(t)
	s := h.stdio()
	var total, longest int // owned by the callback until Close has returned
	s.Stderr = func(line string) {
		total += len(line)
		longest = max(longest, len(line))
	}
	conn, child := h.dial(s, transport.Config{})
	h.do(child, command{Op: opStderr, Data: bytes.Repeat([]byte("s"), 1<<20), N: megabytes})
	h.do(child, command{Op: opWrite, Data: []byte("{}\n")})
	if frame, err := conn.Receive(t.Context()); err != nil || string(frame.Data) != "{}" {
		t.Errorf("receive: want {}, got %q and %v", frame.Data, err)
	}
	if err := conn.Close(h.within(patience)); err != nil {
		t.Errorf("close: want no error, got %v", err)
	}
	if total != megabytes<<20 || longest != 64<<10 {
		t.Errorf("want %d bytes in pieces of at most 64 KiB, got %d and %d", megabytes<<20, total, longest)
	}
	for _, line := range conn.Info().Exit.Stderr {
		if line != strings.Repeat("s", 1<<10) {
			t.Errorf("want 1 KiB of each piece kept, got %d bytes", len(line))
		}
	}
}
