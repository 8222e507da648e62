//go:build unix

package transport

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/mcpotel/mcpotel/internal/ndjson"
)

func newOutlet(t *testing.T) (*outlet, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.Close()
		_ = w.Close()
	})
	return &outlet{f: r}, w
}

func TestCutOutletReturnsRemainingDataThenEOF(t *testing.T) {
	o, w := newOutlet(t)
	want := bytes.Repeat([]byte("o"), 10_000)
	if _, err := w.Write(want); err != nil {
		t.Fatal(err)
	}
	o.cut()
	got, err := io.ReadAll(o)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("want %d bytes and io.EOF although the other end is open, got %d and %v", len(want), len(got), err)
	}
}

func TestCutEndsBlockedRead(t *testing.T) {
	o, _ := newOutlet(t)
	result := make(chan error)
	go func() {
		_, err := o.Read(make([]byte, 1))
		result <- err
	}()
	o.cut()
	if err := <-result; err != io.EOF {
		t.Errorf("want io.EOF, got %v", err)
	}
}

func TestCutOutletReturnsAtMostPipeCapacity(t *testing.T) {
	o, w := newOutlet(t)
	o.cut()
	chunk := make([]byte, 32<<10)
	total := 0
	for {
		if _, err := w.Write(chunk); err != nil { // as fast as the test reads
			t.Fatal(err)
		}
		n, err := o.Read(chunk)
		total += n
		if err == io.EOF {
			break
		}
		if err != nil || total > pipeSize {
			t.Fatalf("want io.EOF after %d bytes, got %d and error %v", pipeSize, total, err)
		}
	}
	if total != pipeSize {
		t.Errorf("want %d bytes, got %d", pipeSize, total)
	}
}

func TestDrainedOutletIgnoresCutAndInterrupt(t *testing.T) {
	o, w := newOutlet(t)
	o.cut()
	o.interrupt()
	o.drain()
	o.cut()
	o.interrupt()
	go func() { _, _ = w.Write([]byte("r")) }()
	if n, err := o.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("want a byte, got %d and %v", n, err)
	}
}

func TestReadContinuesAfterInterrupt(t *testing.T) {
	o, w := newOutlet(t)
	if !o.interruptible() {
		t.Fatal("want an outlet that can be interrupted")
	}
	result := make(chan error)
	go func() {
		_, err := o.Read(make([]byte, 1))
		result <- err
	}()
	o.interrupt()
	if err := <-result; err != ndjson.ErrInterrupted {
		t.Fatalf("want %v, got %v", ndjson.ErrInterrupted, err)
	}
	go func() { _, _ = w.Write([]byte("r")) }()
	if n, err := o.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("want a byte, got %d and %v", n, err)
	}
}

func TestCutOutletStaysCutAfterInterrupt(t *testing.T) {
	o, w := newOutlet(t)
	if _, err := w.Write([]byte("r")); err != nil {
		t.Fatal(err)
	}
	o.cut()
	o.interrupt()
	if n, err := o.Read(make([]byte, 1)); n != 0 || err != ndjson.ErrInterrupted {
		t.Errorf("want nothing and %v, got %d and %v", ndjson.ErrInterrupted, n, err)
	}
	if got, err := io.ReadAll(o); string(got) != "r" || err != nil {
		t.Errorf("want the remaining data and io.EOF, got %q and %v", got, err)
	}
}
