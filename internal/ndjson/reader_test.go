package ndjson_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/internal/ndjson"
	"github.com/mcpotel/mcpotel/internal/oversize"
	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
)

const roomy = 16 << 20

// frames reads the whole stream and describes it: each frame, each oversized frame, and the end. It skips
// interruptions.
func frames(r *ndjson.Reader) (got []string) {
	for {
		frame, err := r.Next()
		switch tooLarge, ok := errors.AsType[*oversize.Error](err); {
		case err == ndjson.ErrInterrupted:
		case err == nil:
			got = append(got, string(frame))
		case ok:
			got = append(got, fmt.Sprintf("too large: %d of %d, %q…%q", tooLarge.Size, tooLarge.Limit, tooLarge.Head,
				tooLarge.Tail))
		default:
			return append(got, "end: "+err.Error())
		}
		if len(got) > 1_000_000 {
			return append(got, "no end")
		}
	}
}

// pace is a reader that returns at most n bytes at a time, and asserts that no read asks for more than the bound. A
// nervous pace is interrupted occasionally, with and without bytes.
type pace struct {
	r       io.Reader
	n       int
	largest int
	nervous *rand.Rand
}

func (p *pace) Read(b []byte) (n int, err error) {
	p.largest = max(p.largest, len(b))
	if p.nervous != nil && p.nervous.IntN(4) == 0 {
		return 0, ndjson.ErrInterrupted
	}
	n, err = p.r.Read(b[:min(len(b), p.n)])
	if p.nervous != nil && err == nil && p.nervous.IntN(4) == 0 {
		err = ndjson.ErrInterrupted
	}
	return n, err
}

func TestReaderSplitsAtNewlines(t *testing.T) {
	for _, tt := range []struct {
		name, stream string
		want         []string
	}{
		{"nothing", "", []string{"end: EOF"}},
		{"lines", "a\nbc\nd\n", []string{"a", "bc", "d", "end: EOF"}},
		{"last line without a newline", "a\nbc", []string{"a", "bc", "end: EOF"}},
		{"carriage returns", "a\r\nb\r\r\nc\rd\r\n", []string{"a", "b\r", "c\rd", "end: EOF"}},
		{"last line ends with a carriage return", "a\r", []string{"a", "end: EOF"}},
		{"blank lines", "\n \n\r\n\t \r\na\n\n\nb\n \t", []string{"a", "b", "end: EOF"}},
		{"space around is left alone", " a \n", []string{" a ", "end: EOF"}},
		{"NUL and invalid UTF-8 are left alone", "\x00\xff\n", []string{"\x00\xff", "end: EOF"}},
	} {
		for _, n := range []int{1, 2, 3, 1 << 20} {
			r := ndjson.NewReader(&pace{r: strings.NewReader(tt.stream), n: n}, 100, false)
			if diff := cmp.Diff(tt.want, frames(r)); diff != "" {
				t.Errorf("%s, %d bytes a time: (-want +got)\n%s", tt.name, n, diff)
			}
		}
	}
}

func TestReaderAcceptsExactlyTheLimit(t *testing.T) {
	ends := func(line string) string {
		return fmt.Sprintf("%q…%q", line[:min(1024, len(line))], line[max(0, len(line)-1024):])
	}
	for _, limit := range []int{1, 5, 4094, 4095, 4096, 4097, 65536, 100_000} {
		at, over := strings.Repeat("a", limit), strings.Repeat("o", limit+1)
		far := strings.Repeat("f", 3*limit+70_000)
		skipped := func(line string) string { return fmt.Sprintf("too large: %d of %d, %s", len(line), limit, ends(line)) }
		for _, newline := range []string{"\n", "\r\n"} {
			stream := at + newline + over + newline + at + newline + far + newline + "z" + newline + over
			want := []string{at, skipped(over), at, skipped(far), "z", skipped(over), "end: EOF"}
			for _, n := range []int{limit, limit + 1, limit + 2, 1000, 1 << 20} {
				p := &pace{r: strings.NewReader(stream), n: n}
				if diff := cmp.Diff(want, frames(ndjson.NewReader(p, limit, true))); diff != "" {
					t.Errorf("limit %d, newline %q, %d bytes a time: (-want +got)\n%.2000s", limit, newline, n, diff)
				}
				if bound := max(limit+2, 64<<10); p.largest > bound {
					t.Errorf("limit %d: the buffer has %d bytes, want at most %d", limit, p.largest, bound)
				}
			}
		}
	}
}

// Frames that arrive one by one need a small buffer; if many arrive at once, one read returns many.
func TestReaderBufferFollowsTheArrivalRate(t *testing.T) {
	stream := strings.Repeat(strings.Repeat("a", 199)+"\n", 100)
	for _, tt := range []struct{ atOnce, most int }{{200, 512}, {len(stream), 4096}} {
		p := &pace{r: strings.NewReader(stream), n: tt.atOnce}
		if got := len(frames(ndjson.NewReader(p, 16<<20, false))) - 1; got != 100 {
			t.Errorf("%d bytes at once: want 100 frames, got %d", tt.atOnce, got)
		}
		if p.largest > tt.most || p.largest < tt.most/2 {
			t.Errorf("%d bytes at once: want reads of up to %d bytes, got %d", tt.atOnce, tt.most, p.largest)
		}
	}
}

func TestReaderStopsForGoodAtATooLargeFrame(t *testing.T) {
	for _, stream := range []string{"ok\n123456\nnext\n", "ok\n1234567890", "ok\n" + strings.Repeat("1", 9000)} {
		for _, n := range []int{1, 1 << 20} {
			r := ndjson.NewReader(&pace{r: strings.NewReader(stream), n: n}, 5, false)
			if frame, err := r.Next(); string(frame) != "ok" || err != nil {
				t.Fatalf("first frame: %q, %v, want ok", frame, err)
			}
			for range 3 {
				frame, err := r.Next()
				tooLarge, ok := errors.AsType[*oversize.Error](err)
				if !ok || frame != nil || tooLarge.Size < 6 || tooLarge.Limit != 5 ||
					!strings.HasPrefix(string(tooLarge.Head), "1") || tooLarge.Tail != nil {
					t.Errorf("%.20q, %d bytes a time: %q, %#v, want an *oversize.Error, each time", stream, n, frame, err)
				}
			}
		}
	}
}

// endless is a line that never ends. It counts the bytes that it has returned.
type endless struct{ given, largest int }

func (e *endless) Read(b []byte) (int, error) {
	e.largest = max(e.largest, len(b))
	e.given += len(b)
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

func TestAnEndlessLineIsReadLittleBeyondTheLimit(t *testing.T) {
	const limit = 1 << 20
	e := &endless{}
	if _, err := ndjson.NewReader(e, limit, false).Next(); err == nil {
		t.Fatal("endless line: no error")
	}
	if e.given > limit+2 {
		t.Errorf("%d bytes were read, want at most the limit and a line's end, %d", e.given, limit+2)
	}
}

func TestReaderReportsBufferedFrames(t *testing.T) {
	r := ndjson.NewReader(strings.NewReader("a\nb\nc"), 100, false)
	for _, want := range []bool{true, true, false} {
		if _, err := r.Next(); err != nil || r.Buffered() != want {
			t.Errorf("Next returned %v and Buffered %v, want nil and %v", err, r.Buffered(), want)
		}
	}
}

func TestReaderReturnsTheStreamsError(t *testing.T) {
	cause := errors.New("cause")
	r := ndjson.NewReader(io.MultiReader(strings.NewReader("a\nunfinished"), iotest.ErrReader(cause)), 100, false)
	if frame, err := r.Next(); string(frame) != "a" || err != nil {
		t.Fatalf("first frame: %q, %v", frame, err)
	}
	for range 2 {
		if frame, err := r.Next(); frame != nil || err != cause {
			t.Errorf("after the failure: %q, %v, want %v and no unfinished frame", frame, err, cause)
		}
	}
	r = ndjson.NewReader(io.MultiReader(strings.NewReader(strings.Repeat("x", 200)), iotest.ErrReader(cause)), 100, true)
	if _, err := r.Next(); err == nil || err == cause {
		t.Errorf("failure inside of a frame that is skipped: %v, want an *oversize.Error first", err)
	}
	if _, err := r.Next(); err != cause {
		t.Errorf("then: %v, want %v", err, cause)
	}
	if _, err := ndjson.NewReader(idle{}, 100, false).Next(); err != io.ErrNoProgress {
		t.Errorf("a stream that gives nothing: %v, want %v", err, io.ErrNoProgress)
	}
	if got := frames(ndjson.NewReader(iotest.DataErrReader(strings.NewReader("a\nb")), 100, false)); !cmp.Equal(got,
		[]string{"a", "b", "end: EOF"}) {
		t.Errorf("data together with EOF: %q", got)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestInterruptedReaderContinues(t *testing.T) {
	startled := iotest.ErrReader(ndjson.ErrInterrupted)
	for _, skip := range []bool{true, false} {
		stream := io.MultiReader(&once{startled}, strings.NewReader("a\nb"), &once{startled}, strings.NewReader("c\n"))
		r := ndjson.NewReader(stream, 100, skip)
		for _, want := range []string{"interrupted", "a", "interrupted", "bc", "EOF"} {
			got, err := r.Next()
			if err != nil {
				got = []byte(err.Error())
			}
			if string(got) != want {
				t.Errorf("want %q, got %q", want, got)
			}
		}
	}
}

// once is a reader that ends after the first Read of r.
type once struct{ r io.Reader }

func (o *once) Read(p []byte) (int, error) {
	if o.r == nil {
		return 0, io.EOF
	}
	defer func() { o.r = nil }()
	return o.r.Read(p)
}

func TestReaderNeedsALimit(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("NewReader with limit 0 did not panic")
		}
	}()
	ndjson.NewReader(strings.NewReader(""), 0, false)
}

func TestFramesBelongToTheCaller(t *testing.T) {
	var stream bytes.Buffer
	var want []string
	for i, size := range []int{10, 100, 70_000, 1 << 20, 5, 1<<20 + 1, 3 << 20, 1<<20 - 1, 6 << 20, 5 << 20, 12,
		16<<20 - 1, 16 << 20, 1} {
		line := strings.Repeat(string(rune('a'+i)), size)
		want = append(want, line)
		stream.WriteString(line + "\n")
	}
	for _, n := range []int{64 << 10, 1 << 20, 1 << 30} {
		r := ndjson.NewReader(&pace{r: bytes.NewReader(stream.Bytes()), n: n}, roomy, false)
		var got [][]byte
		for range want {
			frame, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if len(frame) < 1<<20 && cap(frame) > 2*len(frame)+16 {
				t.Errorf("a frame of %d bytes holds %d, want its own size", len(frame), cap(frame))
			}
			got = append(got, frame)
		}
		for i := range got {
			_ = append(got[i], "overwriting"...)
		}
		for i := range got {
			if string(got[i]) != want[i] {
				t.Errorf("%d bytes a time: frame %d of %d bytes was changed by what came after", n, i, len(want[i]))
			}
		}
	}
}

func TestLargeBufferIsDroppedAfterSmallFrames(t *testing.T) {
	for _, large := range []int{1<<20 - 10, 2 << 20, 3 << 20, 16 << 20} {
		var stream bytes.Buffer
		stream.WriteString(strings.Repeat("l", large) + "\n")
		for range 200 {
			stream.WriteString("small\n")
		}
		p := &pace{r: &stream, n: 700_000}
		r := ndjson.NewReader(p, roomy, false)
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		p.n = len("small\n")
		for i := range 200 {
			if i == 100 {
				p.largest = 0
			}
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if p.largest > 64<<10 {
			t.Errorf("100 small frames after one of %d bytes, the buffer still has %d bytes", large, p.largest)
		}
	}
}

func TestLargeFrameBufferIsSizedByThePreviousFrame(t *testing.T) {
	line := strings.Repeat("l", 5<<20) + "\n"
	p := &pace{r: strings.NewReader(strings.Repeat(line, 3) + strings.Repeat("s\n", 100) + line), n: 100_000}
	r := ndjson.NewReader(p, roomy, false)
	var largest []int
	for {
		frame, err := r.Next()
		if err != nil {
			break
		}
		if len(frame) > 1 {
			largest = append(largest, p.largest>>20)
			p.largest = 0
		}
	}
	// The first frame makes the buffer grow fourfold to 16 MiB, more than half of which would be unused. For the later
	// ones, the buffer is an eighth larger than the previous frame, until many small frames have come between.
	if len(largest) != 4 || largest[0] < 10 || largest[1] > 6 || largest[2] > 6 || largest[3] < 10 {
		t.Errorf("the most that was read at once is %v MiB, want much, little, little, much", largest)
	}
}

func TestLargeFrameAllocatesItsMemoryOnce(t *testing.T) {
	const before, measured = 2, 4
	for _, size := range []int{1 << 20, 3 << 20, 10 << 20, roomy - 1} {
		line := strings.Repeat("l", size) + "\n"
		for _, n := range []int{4 << 10, 64 << 10, 1 << 20} {
			lines := make([]io.Reader, before+measured)
			for i := range lines {
				lines[i] = strings.NewReader(line)
			}
			r := ndjson.NewReader(&pace{r: io.MultiReader(lines...), n: n}, roomy, false)
			read := func(frames int) {
				for range frames {
					if _, err := r.Next(); err != nil {
						t.Fatal(err)
					}
				}
			}
			read(before)
			got := heap.Allocated(func() { read(measured) }) / measured
			if want := uint64(size + size/4 + 100<<10); got > want {
				t.Errorf("%d bytes, %d at a time: a frame takes %d bytes of memory, want at most %d", size, n, got, want)
			}
		}
	}
}

func TestReadingIsLinear(t *testing.T) {
	// The line arrives in single bytes; scanning all bytes again after each read would take hours.
	line := strings.Repeat("x", 4<<20)
	r := ndjson.NewReader(&pace{r: strings.NewReader(line + "\n" + line), n: 1}, roomy, false)
	if got := frames(r); len(got) != 3 || got[0] != line || got[1] != line {
		t.Errorf("%d frames, want two and the end", len(got))
	}
}

func TestSmallFramesCostOneAllocation(t *testing.T) {
	stream := strings.Repeat(`{"jsonrpc":"2.0","id":1,"result":{}}`+"\n", 2000)
	r := ndjson.NewReader(strings.NewReader(stream), roomy, false)
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := r.Next(); err != nil {
			t.Error(err)
		}
	}); n > 1 {
		t.Errorf("%v allocations a frame, want 1", n)
	}
}

// split returns the expected results of a Reader, computed without a buffer.
func split(stream []byte, limit int) (want []string) {
	for len(stream) > 0 {
		line, rest, _ := bytes.Cut(stream, []byte("\n"))
		stream = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		switch {
		case len(line) > limit:
			want = append(want, fmt.Sprintf("too large: %d of %d, %q…%q", len(line), limit, line[:min(1024, len(line))],
				line[max(0, len(line)-1024):]))
		case len(bytes.Trim(line, " \t\r")) > 0:
			want = append(want, string(line))
		}
	}
	return append(want, "end: EOF")
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n \nlong line\n"), uint8(5), uint64(1))
	f.Add(bytes.Repeat([]byte("0123456789abcdef"), 1000), uint8(200), uint64(2))
	f.Add([]byte("\r\r\n\r"), uint8(0), uint64(3))
	f.Add([]byte("frame\nlong line that is skipped, while it is interrupted\nframe\n"), uint8(7), uint64(4))
	f.Add([]byte("0\r\r\n"), uint8(0), uint64(70)) // one byte too large with the first \r, which belongs to the frame
	f.Fuzz(func(t *testing.T, stream []byte, small uint8, seed uint64) {
		limit := int(small) + 1
		if seed%3 == 0 {
			limit += 4000
		}
		random := rand.New(rand.NewPCG(seed, 0))
		p := &pace{r: bytes.NewReader(stream), n: 1 + random.IntN(1+random.IntN(6000))}
		if seed%2 == 0 {
			p.nervous = random
		}
		got := frames(ndjson.NewReader(p, limit, true))
		if diff := cmp.Diff(split(stream, limit), got); diff != "" {
			t.Errorf("limit %d, %d bytes a time: (-want +got)\n%s", limit, p.n, diff)
		}
		if bound := max(limit+2, 4096); p.largest > bound {
			t.Errorf("limit %d: the buffer has %d bytes, want at most %d", limit, p.largest, bound)
		}
	})
}
