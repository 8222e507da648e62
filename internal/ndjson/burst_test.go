package ndjson

import (
	"bytes"
	"testing"
)

// A burst of many frames takes as much memory as the queue allows. The writer releases the memory after the burst.
func TestMemoryOfABurstIsReleased(t *testing.T) {
	const queue = 8 << 20
	for _, size := range []int{100, 10_000} {
		gate := &gate{open: make(chan struct{})}
		w := NewWriter(gate, queue)
		frame := bytes.Repeat([]byte("c"), size)
		sent := 0
		for ; w.Send(frame) == nil; sent++ {
		}
		if got := sent * (size + 1); got < queue-size {
			t.Errorf("frames of %d bytes: %d bytes had room, want %d", size, got, queue)
		}
		close(gate.open)
		if err := w.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.mu.Lock()
		if held := w.out.memory() + w.queue.memory(); held > largeBurst {
			t.Errorf("frames of %d bytes have left, and %d bytes are held", size, held)
		}
		w.mu.Unlock()
	}
}

// gate is a stream that accepts nothing until it is opened.
type gate struct{ open chan struct{} }

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	return len(p), nil
}
