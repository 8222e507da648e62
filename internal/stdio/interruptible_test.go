package stdio

import (
	"io"
	"testing"
	"testing/synctest"
)

func TestBlockedTerminalReadIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminal, typing := io.Pipe()
		r := interruptible(terminal)
		go io.WriteString(typing, "x")
		if b := make([]byte, 1); true {
			if _, err := r.Read(b); err != nil || b[0] != 'x' {
				t.Fatalf("read %q, %v, want what was typed", b, err)
			}
		}
		ended := make(chan error)
		go func() {
			_, err := r.Read(make([]byte, 1))
			ended <- err
		}()
		synctest.Wait()
		r.Close()
		if err := <-ended; err == nil {
			t.Error("the read that waited returned nil, want an error")
		}
		if _, err := io.WriteString(typing, "more"); err != nil {
			t.Errorf("typing returned %v, want nil: somebody still reads", err)
		}
		if _, err := io.WriteString(typing, "more"); err == nil {
			t.Error("typing returned nil, want the stream closed when nobody wants its input")
		}
	})
}
