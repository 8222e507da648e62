package transport

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
)

func TestLargeResponseWithoutLengthIsAllocatedOnce(t *testing.T) {
	const limit, answers = 16 << 20, 4
	b := frameBound{limit: limit}
	for _, size := range []int{100 << 10, 200 << 10, 1 << 20, 3 << 20, 10 << 20, limit} {
		text, w := strings.Repeat("l", size), new(worker)
		read := func() {
			resp := &http.Response{ContentLength: -1, Body: io.NopCloser(strings.NewReader(text))}
			if body, err := b.readBody(w, resp); err != nil || len(body) != size {
				t.Fatalf("got %d bytes, %v, want %d", len(body), err, size)
			}
		}
		read()
		got := heap.Allocated(func() {
			for range answers {
				read()
			}
		}) / answers
		if want := uint64(size + size/4 + 10<<10); got > want {
			t.Errorf("%d bytes: an answer takes %d bytes of memory, want at most %d", size, got, want)
		}
	}
}
