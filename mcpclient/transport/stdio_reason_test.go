//go:build unix

package transport

import (
	"errors"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/seam"
	"github.com/mcpotel/mcpotel/internal/ndjson"
)

// After a child has closed its standard output, Receive waits a quarter of a second for the child's exit. A caller with
// an earlier deadline must be able to interrupt that wait.
func TestInterruptEndsWaitForChildExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := closedOutput(t)
		begun := time.Now()
		for range 3 {
			result := make(chan error, 1)
			go func() {
				_, err := c.next()
				result <- err
			}()
			synctest.Wait()
			c.Interrupter()()
			if err := <-result; !errors.Is(err, seam.ErrInterrupted) || time.Since(begun) > 0 {
				t.Fatalf("interrupted: got %v after %v, want %v at once", err, time.Since(begun), seam.ErrInterrupted)
			}
		}
		c.Interrupter()()
		time.Sleep(statusWait - 1)
		if _, err := c.next(); err != seam.ErrInterrupted {
			t.Errorf("interrupted before: got %v, want %v", err, seam.ErrInterrupted)
		}
		_, err := c.next()
		if took := time.Since(begun); !errors.Is(err, io.EOF) || took != statusWait {
			t.Errorf("not interrupted: got %v after %v, want %v after %v in all", err, took, io.EOF, statusWait)
		}
		if _, again := c.next(); again != err {
			t.Errorf("after the end: got %v, want %v", again, err)
		}
	})
}

// closedOutput returns a connection to a running child that has closed its standard output.
func closedOutput(t *testing.T) *stdioConn {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	t.Cleanup(func() { _ = r.Close() })
	c := &stdioConn{
		proc: &process{pid: 1, ended: make(chan struct{})}, stdout: &outlet{f: r}, stderrRead: make(chan struct{}),
	}
	c.fetcher.init(c.nextFrame)
	c.in = ndjson.NewReader(c.stdout, 1<<20, false)
	return c
}
