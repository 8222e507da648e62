package auditlog

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

var testKey = []byte("a key for the tests, of 32 bytes")

const testEvent = "mcp_client.audit.call"

func open(t testing.TB, path string) *Log {
	t.Helper()
	l, err := Open(path, testKey)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func add(t testing.TB, l *Log, tools ...string) (h Head) {
	t.Helper()
	for _, tool := range tools {
		var err error
		if h, err = l.Append(time.Now(), testEvent, []slog.Attr{slog.String("gen_ai.tool.name", tool)}); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func closed(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func verified(t testing.TB, path string, heads ...Head) Report {
	t.Helper()
	r, err := verifyFile(path, heads...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func verifyFile(path string, heads ...Head) (Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return Report{}, err
	}
	defer f.Close()
	return Verify(f, heads...)
}

func TestChainContinuesAfterRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var heads []Head
	for range 3 {
		l := open(t, path)
		heads = append(heads, add(t, l, "a", "b"))
		closed(t, l)
	}
	r := verified(t, path, heads...)
	if r.Calls != 6 || r.Head.Sequence != 12 || r.Unclean != 0 || r.Lost != 0 || r.Torn != 0 {
		t.Errorf("got %+v, want 6 calls in 12 lines", r)
	}
	if heads[2].Sequence != 11 {
		t.Errorf("the last head is %v, want sequence 11", heads[2])
	}
}

func TestChainWithoutFileHasHeads(t *testing.T) {
	l := open(t, "")
	first, second := add(t, l, "a"), add(t, l, "a")
	if first.Sequence != 1 || second.Sequence != 2 || first.Hash == second.Hash {
		t.Errorf("got the heads %v and %v", first, second)
	}
	closed(t, l)
	if _, err := l.Append(time.Now(), testEvent, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close, got %v", err)
	}
}

func TestFileHasOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path)
	if _, err := Open(path, testKey); err == nil || !strings.Contains(err.Error(), "give each process its own file") {
		t.Errorf("the second Log got %v", err)
	}
	closed(t, l)
	closed(t, open(t, path))
}

func TestUnusableFilesAreRefusedAndKept(t *testing.T) {
	long := strings.Repeat("x", tailSize) + "\n"
	for name, text := range map[string]string{
		"another file": "hello\n", "no line break": "hello", "JSON": `{"sequence":1}` + "\n", "long": long,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(path, testKey); !errors.Is(err, errForeign) {
				t.Errorf("got %v", err)
			}
			if after, _ := os.ReadFile(path); string(after) != text {
				t.Error("the file has changed")
			}
		})
	}
	if _, err := Open(t.TempDir(), testKey); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: got %v", err)
	}
	if _, err := Open("", testKey[:MinKey-1]); err == nil || !strings.Contains(err.Error(), "openssl rand") {
		t.Errorf("a short key: got %v", err)
	}
}

// crash copies the file of a Log as a crash after n bytes leaves it.
func crash(t testing.TB, path string, n int64) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	after := path + ".crashed"
	if err := os.WriteFile(after, text[:n], 0o600); err != nil {
		t.Fatal(err)
	}
	return after
}

// TestCrashLosesNothingThatWasWritten cuts a file after every byte, and continues it.
func TestCrashLosesNothingThatWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path)
	add(t, l, "a", "b")
	size := l.size
	closed(t, l)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range size {
		after := crash(t, path, n)
		left := text[:n]
		complete := bytes.LastIndexByte(left, '\n') + 1
		before, err := verifyFile(after)
		if err != nil || before.Torn != int64(len(left)-complete) {
			t.Fatalf("after %d bytes: got %+v and %v, want an incomplete line of %d bytes", n, before, err, len(left)-complete)
		}
		l := open(t, after)
		head := add(t, l, "c")
		closed(t, l)
		r := verified(t, after, head)
		calls := before.Calls + 1
		if n > 0 && text[n] == '\n' && n != int64(bytes.IndexByte(text, '\n')) { // the record lacks only the line break
			calls++
		}
		if want := (Report{Calls: calls, Unclean: 1, First: r.First, Last: r.Last, Head: r.Head}); r != want && n > 0 {
			t.Fatalf("after %d bytes: got %+v, want %+v", n, r, want)
		}
		if now, _ := os.ReadFile(after); !bytes.HasPrefix(now, left) {
			t.Fatalf("after %d bytes: the file lost something", n)
		}
	}
}

func TestTornLineIsEvidence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path)
	add(t, l, "a")
	size := l.size
	closed(t, l)
	path = crash(t, path, size-10)
	l = open(t, path)
	head := add(t, l, "b")
	closed(t, l)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := bytes.IndexByte(text, '\n') + 5 // in the incomplete line
	changed := bytes.Clone(text)
	changed[torn] ^= 1
	if _, err := Verify(bytes.NewReader(changed), head); !isBroken(err, 2) {
		t.Errorf("a changed incomplete line: got %v", err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if _, err := Verify(bytes.NewReader(bytes.Join(append(lines[:1:1], lines[2:]...), nil)), head); !isBroken(err, 2) {
		t.Errorf("a removed incomplete line: got %v", err)
	}
}

func isBroken(err error, line int) bool {
	broken, ok := errors.AsType[*BrokenError](err)
	return ok && broken.Line == line
}

// disk is a file that fails.
type disk struct {
	text     []byte
	room     int // bytes that can be written; negative for any number
	truncate error
}

var errFull = errors.New("no space left on device")

func (d *disk) Write(p []byte) (int, error) {
	if d.room < 0 || len(p) <= d.room {
		d.text = append(d.text, p...)
		return len(p), nil
	}
	d.text = append(d.text, p[:d.room]...)
	return d.room, errFull
}

func (d *disk) Truncate(n int64) error {
	if d.truncate == nil {
		d.text = d.text[:n]
	}
	return d.truncate
}

func (d *disk) Sync() error  { return nil }
func (d *disk) Close() error { return nil }

func TestFullDiskCountsLostRecords(t *testing.T) {
	for room := range 40 {
		l := open(t, "")
		d := &disk{room: -1}
		l.file = d
		add(t, l, "a")
		d.room = room
		for range 3 {
			if _, err := l.Append(time.Now(), testEvent, nil); !errors.Is(err, errFull) {
				t.Fatalf("got %v", err)
			}
		}
		d.room = -1
		head := add(t, l, "b")
		closed(t, l)
		r, err := Verify(bytes.NewReader(d.text), head)
		if err != nil || r.Calls != 2 || r.Lost != 3 || r.Head.Sequence != 4 {
			t.Fatalf("with room for %d bytes: got %+v, %v", room, r, err)
		}
	}
}

func TestRecordsLostBeforeCloseAreCounted(t *testing.T) {
	l := open(t, "")
	d := &disk{room: 0}
	l.file = d
	if _, err := l.Append(time.Now(), testEvent, nil); err == nil {
		t.Fatal("want an error")
	}
	d.room = -1
	closed(t, l)
	if r, err := Verify(bytes.NewReader(d.text)); err != nil || r.Lost != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestUnremovableLineEndsTheWriting(t *testing.T) {
	l := open(t, "")
	d := &disk{room: 10, truncate: errors.New("operation not permitted")}
	l.file = d
	for range 2 {
		if _, err := l.Append(time.Now(), testEvent, nil); err == nil {
			t.Fatal("want an error")
		}
		d.room = -1
	}
	if len(d.text) != 10 {
		t.Errorf("the file has %d bytes, want the incomplete line only", len(d.text))
	}
	_ = l.Close()
}

func TestOversizedRecordIsLostAlone(t *testing.T) {
	l := open(t, "")
	if _, err := l.Append(time.Now(), testEvent, []slog.Attr{slog.String("x", strings.Repeat("y", MaxLine))}); err == nil {
		t.Error("want an error for a record of more than 64 KiB")
	}
	if h := add(t, l, "a"); h.Sequence != 2 {
		t.Errorf("got %v, want a gap and the record", h)
	}
}

func TestConcurrentRecordsFormOneChain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	synctest.Test(t, func(t *testing.T) {
		l := open(t, path)
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				for j := range 20 {
					time.Sleep(time.Duration(j) * time.Millisecond) // virtual time: the goroutines wake up together
					add(t, l, fmt.Sprint(i, j))
				}
			})
		}
		all.Wait()
		closed(t, l)
	})
	if r := verified(t, path); r.Calls != 1000 || r.Head.Sequence != 1002 {
		t.Errorf("got %+v", r)
	}
}

// TestEveryManipulationIsDetected changes a file in one way. The head of the last record is known from the logs.
func TestEveryManipulationIsDetected(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path)
	head := add(t, l, "a", "b", "c", "d", "é\n\x00")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, l)
	lines := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(bytes.Clone(lines[len(lines)-1]), '\n')
	rapid.Check(t, func(t *rapid.T) {
		line := func(label string) int { return rapid.IntRange(0, len(lines)-1).Draw(t, label) }
		changed := append([][]byte(nil), lines...)
		switch way := rapid.SampledFrom([]string{"flip", "remove", "swap", "repeat", "cut", "insert"}).Draw(t, "way"); way {
		case "flip":
			i := line("line")
			changed[i] = bytes.Clone(changed[i])
			at := rapid.IntRange(0, len(changed[i])-1).Draw(t, "at")
			changed[i][at] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
		case "remove":
			i := line("line")
			changed = append(changed[:i:i], changed[i+1:]...)
		case "swap":
			i := line("one")
			j := (i + rapid.IntRange(1, len(lines)-1).Draw(t, "distance")) % len(lines)
			changed[i], changed[j] = changed[j], changed[i]
		case "repeat":
			i, j := line("one"), line("place")
			changed = append(changed[:j:j], append([][]byte{lines[i]}, lines[j:]...)...)
		case "cut":
			n := rapid.IntRange(0, len(text)-1).Draw(t, "size")
			changed = [][]byte{text[:n]}
		case "insert":
			j := line("place")
			junk := rapid.SliceOfN(rapid.Byte(), 1, 100).Draw(t, "junk")
			changed = append(changed[:j:j], append([][]byte{junk}, lines[j:]...)...)
		}
		if _, err := Verify(bytes.NewReader(bytes.Join(changed, nil)), head); err == nil {
			t.Fatal("not detected")
		} else if _, ok := errors.AsType[*BrokenError](err); !ok {
			t.Fatalf("got %v, want a BrokenError", err)
		}
	})
	if r := verified(t, path, head); r.Calls != 5 {
		t.Errorf("unchanged: got %+v", r)
	}
}

// TestRewrittenFileNeedsAHead shows what the chain alone does not prove.
func TestRewrittenFileNeedsAHead(t *testing.T) {
	dir := t.TempDir()
	l, forged := open(t, filepath.Join(dir, "a")), open(t, filepath.Join(dir, "b"))
	head := add(t, l, "delete", "list")
	add(t, forged, "list", "list")
	closed(t, l)
	closed(t, forged)
	verified(t, filepath.Join(dir, "b"))
	if _, err := verifyFile(filepath.Join(dir, "b"), head); !isBroken(err, 3) {
		t.Errorf("got %v, want an error for the line with the sequence of the head", err)
	}
}

func TestVerifySaysWhatIsWrong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path)
	head := add(t, l, "a", "b", "c")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, l)
	n := bytes.SplitAfter(text, []byte("\n"))
	for _, test := range []struct {
		name string
		text [][]byte
		want string
	}{
		{"removed", [][]byte{n[0], n[2], n[3]}, "line 2: sequence 3 follows 1: 1 lines between them were removed or moved"},
		{"moved", [][]byte{n[0], n[1], n[1]}, "line 3: sequence 2 follows 2: lines were moved, copied or inserted"},
		{"no start", [][]byte{n[1], n[2]}, "line 1: sequence 2 follows 0: 1 lines between them were removed or moved"},
		{"changed", [][]byte{n[0], bytes.Replace(n[1], []byte(`"a"`), []byte(`"x"`), 1), n[2]},
			"line 2: the text does not fit its hash: the line was changed, or is not from an audit file"},
		{"short", [][]byte{n[0], n[1]}, "the file ends with sequence 2, before the head 4: 2 lines at the end were removed"},
		{"empty", nil, "the file ends with sequence 0, before the head 4: 4 lines at the end were removed"},
	} {
		if _, err := Verify(bytes.NewReader(bytes.Join(test.text, nil)), head); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
}

func TestVerifyOfOversizedLineEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path)
	add(t, l, "a")
	closed(t, l)
	text, _ := os.ReadFile(path)
	long := append(bytes.Repeat([]byte("x"), 3*MaxLine), '\n')
	if _, err := Verify(bytes.NewReader(append(long, text...))); !isBroken(err, 1) {
		t.Errorf("got %v", err)
	}
}

func TestHeadRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Head{Sequence: rapid.Uint64Min(1).Draw(t, "sequence")}
		copy(h.Hash[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "hash"))
		if got, err := ParseHead(h.String()); err != nil || got != h {
			t.Fatalf("got %v, %v", got, err)
		}
	})
	zeros := Hash{}.String()
	for _, text := range []string{
		"", "1", "1:", "0:" + zeros, "-1:" + zeros, "1:" + zeros[1:], "1:" + zeros + "00", "x:" + zeros,
	} {
		if h, err := ParseHead(text); err == nil {
			t.Errorf("%q: got %v", text, h)
		}
	}
}

func TestHashOfArgumentsDependsOnTheirValueOnly(t *testing.T) {
	l := open(t, "")
	for _, same := range [][]string{
		{``, `{}`, ` { } `},
		{`{"a":1,"b":[true,null]}`, "{ \"b\" : [ true , null ] ,\n\"a\":1}"},
		{`{"a":"é\n"}`, `{"a":"\u00e9\u000a"}`, `{"\u0061":"\u00E9\n"}`},
		{`{"x":{"b":1,"a":2}}`, `{"x":{"a":2,"b":1}}`},
	} {
		for _, other := range same[1:] {
			if l.HashArguments([]byte(same[0])) != l.HashArguments([]byte(other)) {
				t.Errorf("%s and %s: want the same hash", same[0], other)
			}
		}
	}
	seen := map[string]string{}
	for _, text := range []string{
		`{}`, `{"a":1}`, `{"a":1.0}`, `{"a":"1"}`, `{"a":9007199254740992}`, `{"a":9007199254740993}`, `{"a":[1,2]}`,
		`{"a":[2,1]}`, `{"a":1,"a":2}`, `{"a":2,"a":1}`,
	} {
		hash := l.HashArguments([]byte(text))
		if other, ok := seen[hash]; ok {
			t.Errorf("%s and %s have the same hash", text, other)
		}
		seen[hash] = text
	}
	other, err := Open("", append([]byte("x"), testKey...))
	if err != nil {
		t.Fatal(err)
	}
	if other.HashArguments(nil) == l.HashArguments(nil) || other.KeyID() == l.KeyID() || len(l.KeyID()) != 16 {
		t.Error("want other hashes and another id with another key")
	}
}
