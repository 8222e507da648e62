package mcpclient_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// typed requests the completion of a value in the background.
func typed(ctx context.Context, k *mcpclient.Completer, value string) <-chan error {
	return background(func() error {
		_, err := k.Complete(ctx, mcp.PromptRef("p"),
			mcp.CompleteArgument{Name: "language", Value: value}, nil)
		return err
	})
}

func wantSuperseded(t *testing.T, err error) {
	t.Helper()
	if e, ok := errors.AsType[*mcpclient.Error](err); !ok || e.Kind != mcpclient.KindCancelled ||
		!errors.Is(err, mcpclient.ErrSuperseded) {
		t.Errorf("got %v, want an error of kind %s that wraps %v", err, mcpclient.KindCancelled, mcpclient.ErrSuperseded)
	}
}

func TestOnlyTheLatestInputIsCompleted(t *testing.T) {
	inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
		k := mcpclient.NewCompleter(r.c, 100*time.Millisecond)
		var earlier []<-chan error
		var last <-chan error
		took := elapsed(func() {
			for _, value := range []string{"p", "py", "pyt"} {
				if last != nil {
					earlier = append(earlier, last)
				}
				last = typed(t.Context(), k, value)
				time.Sleep(60 * time.Millisecond)
			}
			f := r.Expect(mcp.MethodComplete) // the client sends only the last value
			if !strings.Contains(f.Raw, `"value":"pyt"`) {
				t.Errorf("sent %s, want the last value completed", f.Raw)
			}
			r.Answer(f, `{"completion":{"values":["python"]}}`)
			if err := <-last; err != nil {
				t.Error(err)
			}
		})
		if want := 220 * time.Millisecond; took != want { // counted from the last character
			t.Errorf("it took %v, want %v", took, want)
		}
		for _, done := range earlier {
			err := <-done
			wantSuperseded(t, err)
			if !mcpclient.SafeToRetry(err) {
				t.Errorf("%v: want safe to retry, because nothing was sent", err)
			}
		}
		r.silent()
	})
}

func TestLaterCompletionCancelsRunningOne(t *testing.T) {
	inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
		k := mcpclient.NewCompleter(r.c, -1)
		first := typed(t.Context(), k, "p")
		f := r.Expect(mcp.MethodComplete)
		second := typed(t.Context(), k, "py")
		wantSuperseded(t, <-first)
		var cancelled, next frame
		for range 2 { // the two messages may arrive in either order
			if g := r.Receive(); g.Method == mcp.NotificationCancelled {
				cancelled = g
			} else {
				next = g
			}
		}
		if !strings.Contains(cancelled.Raw, `"requestId":`+string(f.ID)) {
			t.Errorf("sent %s, want the first request cancelled", cancelled.Raw)
		}
		r.Answer(next, `{"completion":{"values":["python"]}}`)
		if err := <-second; err != nil {
			t.Error(err)
		}
		third := typed(t.Context(), k, "pyt") // the previous completion must leave nothing behind
		r.Answer(r.Expect(mcp.MethodComplete), `{"completion":{"values":[]}}`)
		if err := <-third; err != nil {
			t.Error(err)
		}
	})
}

func TestCompletionCancelledDuringDelayIsNotSent(t *testing.T) {
	inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
		k := mcpclient.NewCompleter(r.c, 0)
		ctx, cancel := context.WithCancelCause(t.Context())
		done := typed(ctx, k, "p")
		synctest.Wait()
		cancel(errLunch)
		if err := <-done; !errors.Is(err, errLunch) || errors.Is(err, mcpclient.ErrSuperseded) ||
			!mcpclient.SafeToRetry(err) {
			t.Errorf("got %v, want the cause of the caller's context", err)
		}
		time.Sleep(time.Hour)
		r.silent()
		var f frame
		done = typed(t.Context(), k, "q")
		if took := elapsed(func() { f = r.Expect(mcp.MethodComplete) }); took != mcpclient.DefaultCompletionDelay {
			t.Errorf("asked after %v, want %v by default", took, mcpclient.DefaultCompletionDelay)
		}
		r.Answer(f, `{"completion":{"values":[]}}`)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
