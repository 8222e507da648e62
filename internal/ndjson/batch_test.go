package ndjson

import (
	"bytes"
	"context"
	"sync"
	"testing"
)

// Writers share unused memory, which contains no data of another writer.
func TestIdleWritersHoldNoBuffer(t *testing.T) {
	var outs [8]bytes.Buffer
	var writers [len(outs)]*Writer
	var senders sync.WaitGroup
	for i := range writers {
		writers[i] = NewWriter(&outs[i], 0)
		senders.Go(func() {
			for range 500 {
				if err := writers[i].SendWait(context.Background(), []byte{'a' + byte(i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	senders.Wait()
	for i, w := range writers {
		if err := w.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		w.mu.Lock()
		if w.out != nil || w.queue != nil {
			t.Errorf("writer %d has nothing to write: want no memory for that, got %v and %v", i, w.out, w.queue)
		}
		w.mu.Unlock()
		if want := bytes.Repeat([]byte{'a' + byte(i), '\n'}, 500); !bytes.Equal(outs[i].Bytes(), want) {
			t.Errorf("writer %d: want 500 lines of its own, got %.40q", i, outs[i].Bytes())
		}
	}
}
