package grow_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/mcpotel/mcpotel/internal/grow"
	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
)

var errCut = errors.New("cut")

// With every announced length, Read returns the sent bytes, and the buffer grows only as bytes arrive.
func TestBodyMemoryGrowsWithTheReceivedBytes(t *testing.T) {
	const limit = 3 << 20
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for _, size := range []int{
		0, 1, grow.First - 1, grow.First, grow.First + 1, 64 << 10, 64<<10 + 1, 1 << 20, limit - 1, limit, limit + 1,
	} {
		for name, announced := range map[string]int64{"announced": int64(size), "not announced": -1} {
			body := make([]byte, size)
			for i := range body {
				body[i] = byte(random.Uint32())
			}
			in := &pieces{rest: body, random: random}
			most := 0
			b := grow.Body{Announced: announced, Limit: limit, Grow: func(from, to int) (func(), error) {
				if to <= from || to > limit+1 || to > max(grow.First, 16*in.came) {
					t.Errorf("%d bytes %s: memory grows from %d to %d when %d have come", size, name, from, to, in.came)
				}
				most = to
				return func() {}, nil
			}}
			got, err := b.Read(in)
			switch {
			case size > limit && err != grow.ErrLimit:
				t.Errorf("%d bytes %s: got %v, want that it is too large (seed %d)", size, name, err, seed)
			case size <= limit && (err != nil || !bytes.Equal(got, body)):
				t.Errorf("%d bytes %s: got %d bytes, %v, want them all (seed %d)", size, name, len(got), err, seed)
			case announced >= 0 && size <= limit && most > size:
				t.Errorf("%d bytes: memory has grown to %d", size, most)
			}
		}
	}
}

// pieces is a reader that returns a few bytes at a time.
type pieces struct {
	rest   []byte
	came   int
	random *rand.Rand
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), 1+p.random.IntN(100_000))], p.rest)
	p.rest = p.rest[n:]
	p.came += n
	return n, nil
}

func TestAnnouncedButMissingBodyUsesLittleMemory(t *testing.T) {
	const times = 100
	got := heap.Allocated(func() {
		for range times {
			body := grow.Body{Announced: 16 << 20, Limit: 16 << 20}
			if _, err := body.Read(iotest.ErrReader(errCut)); err != errCut {
				t.Fatalf("got %v, want %v", err, errCut)
			}
		}
	})
	if got > times*2*grow.First {
		t.Errorf("a body of which nothing came took %d bytes, want %d", got/times, grow.First)
	}
}

func TestShortBodyIsUnexpectedEOF(t *testing.T) {
	for came, want := range map[int]error{0: io.ErrUnexpectedEOF, 99: io.ErrUnexpectedEOF, 100: nil} {
		b := grow.Body{Announced: 100, Limit: 1000}
		if _, err := b.Read(bytes.NewReader(make([]byte, came))); err != want {
			t.Errorf("%d of 100 bytes: got %v, want %v", came, err, want)
		}
	}
}

func TestReadReturnsTheErrorOfGrow(t *testing.T) {
	b := grow.Body{Announced: -1, Limit: 1 << 20, Grow: func(int, int) (func(), error) { return nil, errCut }}
	if _, err := b.Read(bytes.NewReader(make([]byte, 1<<20))); err != errCut {
		t.Errorf("got %v, want %v", err, errCut)
	}
}

func ExampleNext() {
	for size := grow.Start(16 << 20); size < 16<<20; {
		size = grow.Next(size, 16<<20, 16<<20)
		fmt.Println(size >> 10)
	}
	// Output:
	// 64
	// 1024
	// 16384
}
