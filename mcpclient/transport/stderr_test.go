package transport

import (
	"io"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// read returns all lines of r, and the kept last lines.
func read(r io.Reader) (all, last []string) {
	l := &lines{logger: slog.New(slog.DiscardHandler), callback: func(line string) { all = append(all, line) }}
	l.readAll(r)
	return all, l.last()
}

func TestStandardErrorIsReadDespiteAFailingCallback(t *testing.T) {
	for name, fail := range map[string]func(){"panic": func() { panic("oops") }, "exit": runtime.Goexit} {
		var heard []string
		told := 0
		l := &lines{
			logger: slog.New(slog.DiscardHandler),
			callback: func(line string) {
				heard = append(heard, line)
				if line == "a" {
					fail()
				}
			},
			config: &Config{Failed: func(string, any, []byte) { told++ }},
		}
		l.readAll(strings.NewReader("a\nb\n"))
		if diff := cmp.Diff([]string{"a", "b"}, heard); diff != "" || told != 1 {
			t.Errorf("%s: %d failures were reported, want 1; lines (-want +got):\n%s", name, told, diff)
		}
	}
}

func TestStandardErrorIsSplitIntoLines(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"one line", "a\n", []string{"a"}},
		{"a last line without its end", "a\nb", []string{"a", "b"}},
		{"empty lines", "\n\na\n\n", []string{"", "", "a", ""}},
		{"carriage returns", "a\r\nb\rc\r\n", []string{"a", "b\rc"}},
		{"invalid UTF-8", "a\xffb\n", []string{"a\uFFFDb"}},
		{"a line of the largest size", long + "\na\n", []string{long, "a"}},
		{"a line one byte longer", long + "y\na\n", []string{long, "y", "a"}},
		{"a line of two pieces", long + long + "\n", []string{long, long}},
		{"an empty line after a long one", long + "\n\n", []string{long, ""}},
	} {
		for _, r := range []io.Reader{
			strings.NewReader(tt.text), iotest.OneByteReader(strings.NewReader(tt.text)),
			iotest.DataErrReader(strings.NewReader(tt.text)),
		} {
			got, _ := read(r)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: want these lines (-want +got):\n%s", tt.name, diff)
			}
		}
	}
}

func TestLastStderrLinesSkipBlankLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.SliceOfN(rapid.SampledFrom([]string{"", "  ", "a", "b", strings.Repeat("ü", keptLine)}), 0,
			3*maxKept).Draw(t, "lines")
		var want []string
		for _, line := range given {
			if strings.TrimSpace(line) != "" {
				want = append(want, line[:min(len(line), keptLine)])
			}
		}
		want = want[max(0, len(want)-maxKept):]
		_, got := read(strings.NewReader(strings.Join(given, "\n")))
		if len(want) == 0 {
			want = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("want these last words (-want +got):\n%s", diff)
		}
	})
}

func TestAllStandardErrorTextIsDelivered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ab\n]{0,200}`).Draw(t, "text")
		times := rapid.SampledFrom([]int{1, 7, 1000}).Draw(t, "times")
		text = strings.Repeat(text, times)
		all, _ := read(strings.NewReader(text))
		want, got := strings.ReplaceAll(text, "\n", ""), strings.Join(all, "")
		if got != want {
			t.Fatalf("want %d bytes of text, got %d that differ", len(want), len(got))
		}
		for _, line := range all {
			if len(line) > maxLine {
				t.Fatalf("want at most %d bytes a line, got %d", maxLine, len(line))
			}
		}
	})
}
