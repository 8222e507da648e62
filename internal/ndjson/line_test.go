package ndjson_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/internal/ndjson"
)

// fullWriter returns a writer with a frame that is being written and a full queue of 10 bytes.
func fullWriter(t *testing.T) (*gate, *ndjson.Writer) {
	g := newGate()
	w := ndjson.NewWriter(g, 10)
	for _, frame := range []string{"writing", "queued789"} {
		if err := w.Send([]byte(frame)); err != nil {
			t.Fatal(err)
		}
	}
	return g, w
}

// inLine starts the senders one by one; each is in the line before the next starts. The channel receives their results.
func inLine(senders ...func() error) <-chan error {
	done := make(chan error, len(senders))
	for _, send := range senders {
		go func() { done <- send() }()
		synctest.Wait()
	}
	return done
}

func TestQueuedSendersShareAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w := fullWriter(t)
		senders := make([]func() error, 9)
		var want strings.Builder
		want.WriteString("writing\nqueued789\n")
		for i := range senders {
			frame := fmt.Sprint(i)
			want.WriteString(frame + "\n")
			senders[i] = func() error { return w.SendWait(t.Context(), []byte(frame)) }
		}
		done := inLine(senders...)
		for _, served := range []int{0, 5, 9} { // five frames of two bytes fill the queue
			synctest.Wait()
			if len(done) != served {
				t.Errorf("after %d writes %d of those in line are served, want %d", g.writes, len(done), served)
			}
			g.pass <- nil
		}
		g.pass <- nil
		if err := w.Flush(t.Context()); err != nil || g.String() != want.String() || g.writes != 4 {
			t.Errorf("%v; written in %d writes: %q, want %q in 4", err, g.writes, g.String(), want.String())
		}
	})
}

func TestQueueAdvancesWhenItsFirstSenderGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		w := ndjson.NewWriter(g, 10)
		_, _ = w.Send([]byte("writing")), w.Send([]byte("queued"))
		ctx, cancel := context.WithCancelCause(t.Context())
		done := inLine(
			func() error { return w.SendWait(ctx, []byte("larger than the queue")) },
			func() error { return w.SendWait(t.Context(), []byte("b")) },
		)
		if len(done) != 0 {
			t.Error("who lined up behind the first was served before it")
		}
		cause := errors.New("cause")
		cancel(cause)
		if got := []error{<-done, <-done}; !errors.Is(errors.Join(got...), cause) || got[0] != nil && got[1] != nil {
			t.Errorf("got %v, want the cause and nil", got)
		}
		g.pass <- nil
		g.pass <- nil
		if err := w.Flush(t.Context()); err != nil || g.String() != "writing\nqueued\nb\n" {
			t.Errorf("%v; written %q", err, g.String())
		}
	})
}

func TestPartsKeepTheirPlaceInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w := fullWriter(t)
		gone, leave := context.WithCancel(t.Context())
		done := inLine(
			func() error { return w.SendWait(t.Context(), []byte("before")) },
			func() error { return w.SendParts(gone, []byte("none")) },
			func() error { return w.SendParts(t.Context(), []byte("pa"), []byte("rt")) },
			func() error { return w.SendWait(t.Context(), []byte("behind")) },
		)
		leave()
		if err := <-done; err != context.Canceled {
			t.Errorf("who left the line got %v, want %v", err, context.Canceled)
		}
		go func() {
			for {
				select {
				case g.pass <- nil:
				case <-t.Context().Done():
					return
				}
			}
		}()
		if err := errors.Join(<-done, <-done, <-done, w.Flush(t.Context())); err != nil {
			t.Error(err)
		}
		if want := "writing\nqueued789\nbefore\npart\nbehind\n"; g.String() != want {
			t.Errorf("written %q, want %q", g.String(), want)
		}
	})
}

func TestWriterEndReleasesQueuedSenders(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *ndjson.Writer, *gate){
		"the stream fails": func(_ *testing.T, _ *ndjson.Writer, g *gate) { g.pass <- errors.New("gone") },
		"the writer is closed": func(t *testing.T, w *ndjson.Writer, g *gate) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_ = w.Close(ctx) // the write continues
			synctest.Wait()
			g.pass <- nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			g, w := fullWriter(t)
			done := inLine(
				func() error { return w.SendWait(t.Context(), []byte("a")) },
				func() error { return w.SendParts(t.Context(), []byte("b")) },
				func() error { return w.SendWait(t.Context(), []byte("c")) },
			)
			end(t, w, g)
			for range 3 {
				if err := <-done; !errors.Is(err, ndjson.ErrClosed) {
					t.Errorf("%s: who was in line gets %v, want %v", name, err, ndjson.ErrClosed)
				}
			}
			if strings.ContainsAny(g.String(), "abc") {
				t.Errorf("%s: written %q, want nothing of those in line", name, g.String())
			}
		})
	}
}
