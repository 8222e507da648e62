package sse_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/oversize"
	"github.com/mcpotel/mcpotel/internal/sse"
	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
)

// event returns an event with only these data.
func event(data string) sse.Event {
	return sse.Event{Data: []byte(data), HasData: true, Retry: -1}
}

func TestReaderFollowsTheStandard(t *testing.T) {
	id := func(id string, e sse.Event) sse.Event { e.ID, e.HasID = id, true; return e }
	name := func(name string, e sse.Event) sse.Event { e.Name = name; return e }
	none := sse.Event{Retry: -1}
	for _, c := range []struct {
		name, stream string
		want         []sse.Event
		lastID       string
		err          error // io.EOF if nil
	}{
		{name: "nothing", stream: ""},
		{name: "one event", stream: "data: {}\n\n", want: []sse.Event{event("{}")}},
		{name: "line feeds", stream: "data: a\ndata: b\n\ndata: c\n\n", want: []sse.Event{event("a\nb"), event("c")}},
		{name: "carriage returns", stream: "data: a\rdata: b\r\rdata: c\r\r", want: []sse.Event{event("a\nb"), event("c")}},
		{name: "both", stream: "data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", want: []sse.Event{event("a\nb"), event("c")}},
		{name: "a mixture", stream: "data: a\r\ndata: b\n\rdata: c\r\r\n", want: []sse.Event{event("a\nb"), event("c")}},
		{name: "byte order mark", stream: "\xEF\xBB\xBFdata: a\n\n", want: []sse.Event{event("a")}},
		{name: "a second byte order mark", stream: "\xEF\xBB\xBF\xEF\xBB\xBFdata: a\n\ndata: b\n\n",
			want: []sse.Event{event("b")}},
		{name: "half a byte order mark", stream: "\xEF\xBB", err: io.ErrUnexpectedEOF},
		{name: "one space is removed", stream: "data:a\n\ndata:  b\n\ndata:\tc\n\n",
			want: []sse.Event{event("a"), event(" b"), event("\tc")}},
		{name: "data without a colon", stream: "data\n\ndata\ndata\n\n", want: []sse.Event{event(""), event("\n")}},
		{name: "data of nothing", stream: "data:\n\ndata: \n\n", want: []sse.Event{event(""), event("")}},
		{name: "colons in the data", stream: "data: a: b:c\n\n", want: []sse.Event{event("a: b:c")}},
		{name: "comments", stream: ": a\n:\n\n:data: b\ndata: c\n: d\n\n", want: []sse.Event{event("c")}},
		{name: "an unfinished comment", stream: "data: a\n\n: b", want: []sse.Event{event("a")}},
		{name: "unknown fields", stream: "Data: a\ndata : b\n data: c\nfoo\ndata: d\n\n", want: []sse.Event{event("d")}},
		{name: "names", stream: "event: endpoint\ndata: a\n\nevent:x\nevent: y\ndata: b\n\nevent\ndata: c\n\n",
			want: []sse.Event{name("endpoint", event("a")), name("y", event("b")), event("c")}},
		{name: "a name alone is no event", stream: "event: x\n\ndata: a\n\n", want: []sse.Event{event("a")}},
		{name: "ids", stream: "id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\n",
			want: []sse.Event{id("1", event("a")), event("b"), id("2", event("c"))}, lastID: "2"},
		{name: "the last of several ids", stream: "id: 1\nid: 2\ndata: a\n\n", want: []sse.Event{id("2", event("a"))},
			lastID: "2"},
		{name: "an empty id resets", stream: "id: 1\ndata: a\n\nid\ndata: b\n\n",
			want: []sse.Event{id("1", event("a")), id("", event("b"))}},
		{name: "an id with a NUL is none", stream: "id: 1\ndata: a\n\nid: 2\x00\ndata: b\n\n",
			want: []sse.Event{id("1", event("a")), event("b")}, lastID: "1"},
		{name: "the id of an unfinished event does not count", stream: "id: 1\ndata: a\n\nid: 2\ndata: b\n",
			want: []sse.Event{id("1", event("a"))}, lastID: "1", err: io.ErrUnexpectedEOF},
		{name: "priming", stream: "id: 1\ndata:\n\nid: 2\n\n", want: []sse.Event{id("1", event("")), id("2", none)},
			lastID: "2"},
		{name: "retry", stream: "retry: 500\n\nretry:0\ndata: a\n\n",
			want: []sse.Event{{Retry: 500 * time.Millisecond}, {Data: []byte("a"), HasData: true}}},
		{name: "a retry that is not digits", stream: "retry: 1s\nretry: -1\nretry:\nretry: 1.5\ndata: a\n\n",
			want: []sse.Event{event("a")}},
		{name: "a retry of an age", stream: "retry: 99999999999999999999999999\n\n",
			want: []sse.Event{{Retry: 24 * time.Hour}}},
		{name: "an unfinished line", stream: "data: a\n\ndata: b", want: []sse.Event{event("a")}, err: io.ErrUnexpectedEOF},
		{name: "an unfinished event", stream: "data: a\n", err: io.ErrUnexpectedEOF},
		{name: "not UTF-8", stream: "data: \xFF\n\n", want: []sse.Event{event("\xFF")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.err == nil {
				c.err = io.EOF
			}
			for way, stream := range map[string]io.Reader{
				"at once":          strings.NewReader(c.stream),
				"byte by byte":     iotest.OneByteReader(strings.NewReader(c.stream)),
				"error with data":  iotest.DataErrReader(strings.NewReader(c.stream)),
				"now and then nil": &lazy{r: iotest.HalfReader(strings.NewReader(c.stream))},
			} {
				r := sse.NewReader(stream, 1<<20, false)
				got, err := readAll(r)
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s: events of %q differ (-want +got):\n%s", way, c.stream, diff)
				}
				if err != c.err || r.LastEventID() != c.lastID {
					t.Errorf("%s: want error %v and last id %q, got %v and %q", way, c.err, c.lastID, err, r.LastEventID())
				}
			}
		})
	}
}

// lazy returns no data from every second Read.
type lazy struct {
	r    io.Reader
	busy bool
}

func (l *lazy) Read(p []byte) (int, error) {
	if l.busy = !l.busy; l.busy {
		return 0, nil
	}
	return l.r.Read(p)
}

func readAll(r *sse.Reader) (events []sse.Event, err error) {
	for {
		e, err := r.Next()
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}

func TestReaderReturnsTheErrorOfTheStream(t *testing.T) {
	broken := errors.New("broken")
	r := sse.NewReader(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)), 100, true)
	got, err := readAll(r)
	if len(got) != 1 || err != broken {
		t.Errorf("want one event and the error of the stream, got %d and %v", len(got), err)
	}
	if _, err := r.Next(); err != broken {
		t.Errorf("once more: want the same error, got %v", err)
	}
	r = sse.NewReader(iotest.ErrReader(nil), 100, true)
	if _, err := r.Next(); err != io.ErrNoProgress {
		t.Errorf("a stream of nothing without end: want %v, got %v", io.ErrNoProgress, err)
	}
}

// The reader returns an event as soon as its empty line has arrived, even if that is only a carriage return.
func TestReaderDoesNotWaitForMore(t *testing.T) {
	for _, stream := range []string{"data: a\n\n", "data: a\r\n\r", "data: a\r\r", "data: a\r\n\r\n"} {
		r := sse.NewReader(io.MultiReader(strings.NewReader(stream), noMore{t}), 100, false)
		if e, err := r.Next(); err != nil || string(e.Data) != "a" {
			t.Errorf("%q: want the event, got %q and error %v", stream, e.Data, err)
		}
	}
}

// noMore fails a test that reads from it.
type noMore struct{ t *testing.T }

func (n noMore) Read([]byte) (int, error) {
	n.t.Error("want no read behind the end of an event")
	return 0, io.EOF
}

// limits are the ways to write 100,000 bytes of data, including the line feeds between.
var limits = map[string]func(size int) string{
	"one line": func(size int) string { return "data: " + strings.Repeat("x", size) + "\n" },
	"no space": func(size int) string { return "data:" + strings.Repeat("x", size) + "\r\n" },
	"lines of one byte": func(size int) string {
		return strings.Repeat("data:x\n", size/2) + "data:" + strings.Repeat("x", size%2) + "\n"
	},
	"a short and a long line": func(size int) string {
		return "data: x\nid: 7\n: comment\ndata: " + strings.Repeat("x", size-2) + "\n"
	},
	"lines of nothing": func(size int) string { return strings.Repeat("data\n", size+1) },
}

func TestReaderAcceptsExactlyTheLimit(t *testing.T) {
	for name, write := range limits {
		for _, limit := range []int{2, 1000, 1024, 100_000, 3 << 20} {
			stream := write(limit) + "\ndata: next\n\n"
			e, err := sse.NewReader(strings.NewReader(stream), limit, false).Next()
			if err != nil || len(e.Data) != limit {
				t.Errorf("%s: want %d bytes of data, got %d and error %v", name, limit, len(e.Data), err)
			}
		}
	}
}

func TestReaderFailsBeyondTheLimit(t *testing.T) {
	for name, write := range limits {
		for _, limit := range []int{2, 1000, 100_000} {
			r := sse.NewReader(strings.NewReader(write(limit+1)+"\ndata: x\n\n"), limit, false)
			for range 2 {
				_, err := r.Next()
				e, ok := errors.AsType[*oversize.Error](err)
				if !ok || e.Size <= limit || e.Limit != limit || len(e.Head) == 0 || e.Tail != nil {
					t.Errorf("%s, limit %d: want an error with size and head each time, got %+v", name, limit, err)
				}
			}
		}
	}
}

func TestReaderSkipsTooLargeEvents(t *testing.T) {
	for name, write := range limits {
		for _, c := range []struct{ limit, size int }{{6, 7}, {1000, 1001}, {1000, 5000}, {1000, 1 << 20},
			{100_000, 100_001}} {
			stream := "data: first\n\n" + write(c.size) + "id: over\n\ndata: next\n\n"
			stream = strings.ReplaceAll(stream, "first", "ab")
			r := sse.NewReader(strings.NewReader(stream), c.limit, true)
			if e, err := r.Next(); err != nil || string(e.Data) != "ab" {
				t.Fatalf("%s, %v: want the event in front, got %q and %v", name, c, e.Data, err)
			}
			whole, err := sse.NewReader(strings.NewReader(write(c.size)+"\n"), c.size, false).Next()
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Next()
			e, ok := errors.AsType[*oversize.Error](err)
			if !ok || e.Size != c.size || e.Limit != c.limit {
				t.Fatalf("%s, %v: want an error with size and limit, got %+v", name, c, err)
			}
			kept := min(1024, c.size)
			if !bytes.Equal(e.Head, whole.Data[:kept]) || !bytes.Equal(e.Tail, whole.Data[c.size-kept:]) {
				t.Errorf("%s, %v: want both ends of the data, got %d and %d bytes", name, c, len(e.Head), len(e.Tail))
			}
			if r.LastEventID() != "over" {
				t.Errorf("%s, %v: want the id of the event to count, got %q", name, c, r.LastEventID())
			}
			if e, err := r.Next(); err != nil || string(e.Data) != "next" {
				t.Errorf("%s, %v: want the event behind, got %q and %v", name, c, e.Data, err)
			}
		}
	}
}

// endless is a line without end.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.left -= n
	return n, nil
}

func TestReaderHoldsNoMoreThanTheLimit(t *testing.T) {
	const limit, sent = 64 << 10, 8 << 20
	for _, prefix := range []string{":", "", "id:", "event: ", "retry: ", "data: ", "data", "data: x\nid: "} {
		for _, skip := range []bool{false, true} {
			r := sse.NewReader(nil, limit, skip)
			held := heap.Allocated(func() {
				r.Reset(io.MultiReader(strings.NewReader(prefix), &endless{sent}, strings.NewReader("\n\n")))
				for _, err := r.Next(); err == nil; _, err = r.Next() {
				}
			})
			if held > 4*limit {
				t.Errorf("%q and 8 MiB behind it, skip %v: want at most %d bytes allocated, got %d", prefix, skip, 4*limit, held)
			}
		}
	}
}

func TestLargeEventAllocatesItsMemoryOnce(t *testing.T) {
	const limit, streams = 16 << 20, 4
	for _, size := range []int{1 << 20, 3 << 20, 10 << 20, limit - 1} {
		text := "data: " + strings.Repeat("l", size) + "\n\n"
		r := sse.NewReader(strings.NewReader(text), limit, false)
		read := func() {
			if e, err := r.Next(); err != nil || len(e.Data) != size {
				t.Fatalf("got %d bytes, %v, want %d", len(e.Data), err, size)
			}
		}
		read()
		got := heap.Allocated(func() {
			for range streams {
				r.Reset(strings.NewReader(text))
				read()
			}
		}) / streams
		if want := uint64(size + size/4 + 100<<10); got > want {
			t.Errorf("%d bytes: an event takes %d bytes of memory, want at most %d", size, got, want)
		}
	}
}

func TestLargeEventsDoNotShareData(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MiB
	stream := sse.AppendEvent(nil, sse.Event{Data: data})
	stream = append(stream, stream...)
	r := sse.NewReader(iotest.HalfReader(bytes.NewReader(stream)), len(data), false)
	one, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	two, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	clear(two.Data)
	_ = append(two.Data, "tail"...)
	if !bytes.Equal(one.Data, data) {
		t.Error("want the data of an event to be its own, got them changed with another's")
	}
}

func TestResetClearsTheReader(t *testing.T) {
	r := sse.NewReader(strings.NewReader("id: 1\ndata: a\n\ndata: cut"), 100, false)
	if _, err := readAll(r); err != io.ErrUnexpectedEOF {
		t.Fatalf("want %v, got %v", io.ErrUnexpectedEOF, err)
	}
	r.Reset(strings.NewReader("\xEF\xBB\xBFdata: b\n\n"))
	got, err := readAll(r)
	if diff := cmp.Diff([]sse.Event{event("b")}, got); diff != "" || err != io.EOF || r.LastEventID() != "" {
		t.Errorf("want nothing of the stream before, got last id %q, error %v and (-want +got):\n%s", r.LastEventID(), err,
			diff)
	}
}

// TestReaderAgreesWithTheStandard compares the reader with a literal implementation of the standard's algorithm.
func TestReaderAgreesWithTheStandard(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"\n", "\r", "\r\n", "\n\n", "data", ":", " ", "data: x", "data:" + strings.Repeat("y", 2000), "id", "id: 1",
		"id: \x00",
		"event: e", "retry: 12", "retry: x", "\xEF\xBB\xBF", "x", ": " + strings.Repeat("z", 20_000), "\x00", "\xFF",
	})
	rapid.Check(t, func(t *rapid.T) {
		stream := strings.Join(rapid.SliceOfN(pieces, 0, 25).Draw(t, "stream"), "")
		limit := rapid.SampledFrom([]int{1, 2, 7, 1 << 20}).Draw(t, "limit")
		agree(t, []byte(stream), limit)
	})
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{
		"data: {}\n\n", "\xEF\xBB\xBFid: 1\r\ndata\r\n\r\n", "retry: 5\n\nevent: endpoint\ndata: /x\n\n",
		":\n\n: x\rdata:a\rdata:b\r\r", "data: abcdefgh\n\ndata: i\n",
	} {
		f.Add([]byte(s), 4)
	}
	f.Fuzz(func(t *testing.T, stream []byte, limit int) {
		if limit > 0 {
			agree(t, stream, limit)
		}
	})
}

// agree fails the test unless the reader returns the same events as standard, in every way of reading.
func agree(t interface {
	Helper()
	Fatalf(string, ...any)
}, stream []byte, limit int) {
	t.Helper()
	want, wantID := standard(stream, limit)
	for _, src := range []io.Reader{bytes.NewReader(stream), iotest.OneByteReader(bytes.NewReader(stream)),
		iotest.HalfReader(bytes.NewReader(stream))} {
		var got []sse.Event
		r := sse.NewReader(src, limit, true)
		for {
			e, err := r.Next()
			if tooLarge, ok := errors.AsType[*oversize.Error](err); ok {
				e, err = sse.Event{Retry: time.Duration(tooLarge.Size)}, nil
			}
			if err != nil {
				break
			}
			got = append(got, e)
		}
		for i := range got {
			if got[i].HasData && got[i].Data == nil {
				got[i].Data = []byte{}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("events of %.500q differ (-want +got):\n%s", stream, diff)
		}
		if r.LastEventID() != wantID {
			t.Fatalf("last id of %.500q: want %q, got %q", stream, wantID, r.LastEventID())
		}
	}
}

// standard implements the standard's algorithm. An event above the limit has its size as Retry and no other fields.
func standard(stream []byte, limit int) (events []sse.Event, lastID string) {
	text := strings.TrimPrefix(string(stream), "\xEF\xBB\xBF")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	e, data := sse.Event{Retry: -1}, ""
	for _, line := range lines[:len(lines)-1] {
		if line == "" {
			if e.HasID {
				lastID = e.ID
			}
			e.Data = []byte(strings.TrimSuffix(data, "\n"))
			switch size := len(e.Data); {
			case e.HasData && size > limit:
				events = append(events, sse.Event{Retry: time.Duration(size)})
			case e.HasData || e.HasID || e.Retry >= 0:
				if !e.HasData {
					e.Data = nil
				}
				events = append(events, e)
			}
			e, data = sse.Event{Retry: -1}, ""
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case name == "data":
			data, e.HasData = data+value+"\n", true
		case len(line) > 16<<10: // bound of this package
		case name == "id" && !strings.Contains(value, "\x00"):
			e.ID, e.HasID = value, true
		case name == "event":
			e.Name = value
		case name == "retry" && value != "" && strings.Trim(value, "0123456789") == "":
			ms := 0
			for _, c := range value {
				ms = min(ms*10+int(c-'0'), 86_400_000)
			}
			e.Retry = time.Duration(ms) * time.Millisecond
		}
	}
	return events, lastID
}
