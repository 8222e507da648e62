package ndjson_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/ndjson"
)

func TestPartsAreWrittenAsOneFrame(t *testing.T) {
	r, f := pipe(t)
	w := ndjson.NewWriter(f, 0)
	const senders, frames = 4, 50
	body := strings.Repeat("b", 200_000)
	var sending sync.WaitGroup
	for i := range senders {
		sending.Go(func() {
			for n := range frames {
				head := fmt.Sprintf("%d %d ", i, n)
				err := w.SendWait(t.Context(), []byte(head+"small"))
				if n%10 == 0 {
					err = errors.Join(err, w.SendParts(t.Context(), []byte(head), []byte(body), []byte("c")))
				}
				if err != nil {
					t.Errorf("send %s: %v", head, err)
				}
			}
		})
	}
	lines := bufio.NewReader(r)
	next := map[string]int{}
	for range senders * (frames + frames/10) {
		line, err := lines.ReadString('\n')
		var i, n int
		var rest string
		if _, bad := fmt.Sscanf(line, "%d %d %s", &i, &n, &rest); bad != nil || err != nil {
			t.Fatalf("read %.60q, %v, want a frame", line, err)
		}
		kind := fmt.Sprint(i, rest[:1])
		step := 1
		switch rest {
		case "small":
		case body + "c":
			step = 10
		default:
			t.Fatalf("read %.60q of %d bytes, want one frame and no other in it", line, len(line))
		}
		if n != next[kind] {
			t.Errorf("sender %d: frame %d came where %d was to come", i, n, next[kind])
		}
		next[kind] += step
	}
	sending.Wait()
}

func TestPartsWaitForThePeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := io.Pipe()
		w := ndjson.NewWriter(f, 0)
		if err := w.SendParts(t.Context(), []byte("a"), []byte("\n")); !errors.Is(err, ndjson.ErrNewline) {
			t.Errorf("SendParts of a newline: %v, want %v", err, ndjson.ErrNewline)
		}
		if err := w.Send([]byte("first")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("enough"))
		defer cancel()
		if err := w.SendParts(ctx, []byte("a")); err == nil || err.Error() != "enough" {
			t.Errorf("SendParts to a peer that does not read: %v, want the cause of its context", err)
		}
		sent := make(chan error, 2)
		go func() { sent <- w.SendParts(t.Context(), []byte("se"), []byte("cond")) }()
		synctest.Wait()
		go func() { sent <- w.SendWait(t.Context(), []byte("third")) }()
		synctest.Wait()
		if len(sent) > 0 {
			t.Error("SendParts or what came behind it has returned, and nothing has left")
		}
		lines := bufio.NewReader(r)
		for _, want := range []string{"first\n", "second\n", "third\n"} {
			if got, err := lines.ReadString('\n'); got != want || err != nil {
				t.Errorf("read %q, %v, want %q", got, err, want)
			}
		}
		if err := errors.Join(<-sent, <-sent); err != nil {
			t.Errorf("what has left was reported as %v", err)
		}
		r.CloseWithError(errors.New("gone"))
		for range 2 {
			if err := w.SendParts(t.Context(), []byte("a")); !errors.Is(err, ndjson.ErrClosed) {
				t.Errorf("SendParts to a peer that is gone: %v, want %v", err, ndjson.ErrClosed)
			}
		}
	})
}
