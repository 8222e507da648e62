package recording

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

var kinds = []Kind{Notification, Request, Result, Error, Cancelled}

// drawn returns a random valid recording.
func drawn(t *rapid.T) (h Header, entries []*Entry) {
	h = Header{
		Version: Version, Recorded: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "recorded"), 0).UTC(),
		Server: rapid.String().Draw(t, "server"), Content: rapid.Bool().Draw(t, "content"),
	}
	var open []*Entry
	for i := range rapid.IntRange(0, 8).Draw(t, "entries") {
		e := &Entry{
			Session: 1, Seq: i + 1, AtUS: int64(i), From: HostSide, Kind: Request, Request: i + 1, Bytes: i,
			Method: rapid.StringN(1, 20, 40).Draw(t, "method"), Name: rapid.String().Draw(t, "name"),
			TraceID: rapid.StringMatching(`([0-9a-f]{32})?`).Draw(t, "trace"),
		}
		switch e.Kind = rapid.SampledFrom(kinds).Draw(t, "kind"); {
		case e.Kind == Notification:
			e.Request = 0
		case e.Kind == Request:
			open = append(open, e)
		case len(open) == 0:
			continue
		default:
			e.Request, open = open[0].Request, open[1:]
			if e.Kind != Cancelled {
				e.From = ServerSide
			}
			e.TookUS, e.Code = 7, rapid.Int64().Draw(t, "code")
		}
		if h.Content {
			text, _ := json.Marshal(map[string]string{"x": rapid.String().Draw(t, "content")})
			e.Content = text
		}
		entries = append(entries, e)
	}
	return h, entries
}

// written returns the file of a recording.
func written(h Header, entries []*Entry) []byte {
	var b bytes.Buffer
	w := NewWriter(&b, h, 0, nil)
	for _, e := range entries {
		w.Write(e)
	}
	_ = w.Close(context.Background())
	return b.Bytes()
}

func TestParseReadsWrittenFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, entries := drawn(t)
		text := written(h, entries)
		f, err := Parse(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		h.Server = strings.ToValidUTF8(h.Server, "\ufffd")
		if f.Header != h || f.Cut || f.Why != "" || !reflect.DeepEqual(f.Entries, entries) {
			t.Fatalf("got %+v of\n%s", f, text)
		}
	})
}

// TestTruncatedFileKeepsItsCompleteLines cuts a file at every byte.
func TestTruncatedFileKeepsItsCompleteLines(t *testing.T) {
	text := written(Header{Version: Version, Content: true}, []*Entry{
		{Session: 1, Seq: 1, From: HostSide, Kind: Request, Method: "a", Request: 1, Content: json.RawMessage(`{"x":"ü"}`)},
		{Session: 1, Seq: 2, From: ServerSide, Kind: Result, Method: "a", Request: 1, Content: json.RawMessage(`{}`)},
	})
	first := bytes.IndexByte(text, '\n')
	for n := range text {
		f, err := Parse(text[:n])
		switch lines := bytes.Count(text[:n], []byte("\n")); {
		case n < first:
			if err == nil || !strings.Contains(err.Error(), "line 1: not a recording") {
				t.Errorf("%d bytes: got %v", n, err)
			}
		case err != nil:
			t.Errorf("%d bytes: got %v", n, err)
		case !f.Cut && n < len(text)-1, len(f.Entries) < lines-1, len(f.Entries) > lines:
			t.Errorf("%d bytes, %d lines: got %+v", n, lines, f)
		}
	}
}

func TestParseErrorNamesLineAndMember(t *testing.T) {
	const head = `{"mcpotel_recording":1,"content":true}` + "\n"
	const request = `{"session":1,"seq":1,"from":"host","kind":"request","method":"a","request":1,"params":{}}` + "\n"
	result := strings.Replace(request, `"request"`, `"result"`, 1)
	from := strings.NewReplacer(`"host"`, `"server"`, `,"params":{}`, "")
	for _, c := range []struct{ text, want string }{
		{"", "line 1: not a recording"},
		{`{"mcpotel_recording":2}`, "line 1: the recording has version 2, but this program reads version 1"},
		{head + "{\n", "line 2: not a JSON object"},
		{head + "[]\n", "line 2: not a JSON object"},
		{head + `{"seq":"x"}` + "\n", "line 2: seq has the wrong type string"},
		{head + `{"kind":"call"}` + "\n", `line 2: kind is "call", want`},
		{head + `{"kind":"result"}` + "\n", `line 2: from is "", want host or server`},
		{head + strings.Replace(request, `"session":1`, `"session":0`, 1), "line 2: session is missing"},
		{head + strings.Replace(request, `"method":"a"`, `"method":""`, 1), "line 2: method is missing"},
		{head + strings.Replace(request, `"request":1`, `"request":0`, 1), "line 2: request is missing"},
		{head + request + request, "line 3: request 1 occurs twice"},
		{head + result, "line 2: no unanswered request 1 before"},
		{head + request + result, "line 3: request 1 was sent by the host"},
		{head + request + strings.Replace(from.Replace(result), `"session":1`, `"session":2`, 1),
			"line 3: request 1 belongs to session 1"},
		{head + request + from.Replace(result), "line 3: result is missing"},
		{head + `{"end":true}` + "\n" + request, `line 3: more lines after`},
	} {
		if _, err := Parse([]byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v of\n%s\nwant %s", err, c.text, c.want)
		}
	}
}

// disk is a destination that can fail or hang.
type disk struct {
	bytes.Buffer
	err  error
	hang chan struct{} // nil for a disk that does not hang
}

func (d *disk) Write(b []byte) (int, error) {
	if d.hang != nil {
		<-d.hang
	}
	if d.err != nil {
		return 0, d.err
	}
	return d.Buffer.Write(b)
}

func note(n int) *Entry {
	text, _ := json.Marshal(strings.Repeat("x", n))
	return &Entry{Session: 1, Seq: 1, From: HostSide, Kind: Notification, Method: "m", Content: text}
}

func TestWriterEndsRecordingAtWriteErrorOrLimit(t *testing.T) {
	full := errors.New("no space left on device")
	for name, c := range map[string]struct {
		disk  disk
		limit int64
		write []int // sizes
		want  error
		kept  int // entries
	}{
		"the disk is full":      {disk: disk{err: full}, write: []int{1, 1}, want: full},
		"the limit is reached":  {limit: 2000, write: []int{10, 10, 3000, 10}, want: ErrLimit, kept: 2},
		"the disk does nothing": {disk: disk{hang: make(chan struct{})}, write: []int{600, 600, 1}, want: ErrSlow, kept: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if c.disk.hang != nil {
					c.disk.hang = make(chan struct{})
				}
				told := make(chan error, 2)
				w := NewWriter(&c.disk, Header{Version: Version, Content: true}, c.limit, func(err error) { told <- err })
				w.room = 1000
				for _, n := range c.write {
					w.Write(note(n)) // returns although the disk hangs
				}
				if c.disk.hang != nil {
					atOnce, cancel := context.WithCancel(t.Context())
					cancel()
					if err := w.Close(atOnce); !errors.Is(err, context.Canceled) {
						t.Errorf("got %v of a disk that hangs", err)
					}
					close(c.disk.hang)
				}
				synctest.Wait()
				if err := w.Close(t.Context()); !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
				if err := <-told; !errors.Is(err, c.want) || len(told) > 0 {
					t.Errorf("got told %v, want %v, once", err, c.want)
				}
				if c.disk.err != nil {
					return
				}
				f, err := Parse(c.disk.Bytes())
				if err != nil || f.Cut || !strings.Contains(f.Why, c.want.Error()) || len(f.Entries) != c.kept {
					t.Errorf("got %+v, %v", f, err)
				}
			})
		})
	}
}
