package waterfall

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// anyText generates text that a peer might send: words, and arbitrary characters.
var anyText = rapid.OneOf(
	rapid.StringMatching(`[a-z/_ ]{0,40}`),
	rapid.String(),
	rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 30), func(b []byte) string { return string(b) }),
	rapid.SampledFrom([]string{"\x1b[2J", "\x1b]0;title\x07", "天気予報", "👩‍👩‍👧", "e\u0301", "\u202etxt.exe", "\r\n"}),
)

// anySpans generates spans with distinct ids. The parent of a span may be another span, the span itself, a missing span
// or none.
func anySpans(t *rapid.T) []Span {
	n := rapid.IntRange(0, 12).Draw(t, "spans")
	spans := make([]Span, n)
	for i := range spans {
		from := rapid.IntRange(-5_000, 5_000).Draw(t, "from")
		spans[i] = span(fmt.Sprintf("%08x", i), "", anyText.Draw(t, "service"), anyText.Draw(t, "kind"),
			fmt.Sprintf("<%d>%s", i, anyText.Draw(t, "name")), from, from+rapid.IntRange(-100, 9_000).Draw(t, "duration"))
		if p := rapid.IntRange(-1, n).Draw(t, "parent"); p >= 0 {
			spans[i].ParentID = fmt.Sprintf("%08x", p)
		}
		if rapid.Bool().Draw(t, "error") {
			spans[i].Error = true
			spans[i].Attributes["error.type"] = anyText.Draw(t, "error.type")
		}
		spans[i].Attributes["gen_ai.tool.name"] = anyText.Draw(t, "tool")
		for range rapid.IntRange(0, 6).Draw(t, "links") {
			spans[i].Links = append(spans[i].Links, Link{traceID, anyText.Draw(t, "link")})
		}
	}
	return spans
}

func anyOptions(t *rapid.T) Options {
	return Options{Width: rapid.IntRange(60, 200).Draw(t, "width"), ASCII: rapid.Bool().Draw(t, "ascii")}
}

func draw(t *rapid.T, spans []Span, opts Options) string {
	var b strings.Builder
	if err := Render(&b, spans, opts); err != nil {
		t.Fatalf("Render: %v", err)
	}
	return b.String()
}

func TestLinesFitTheWidthAndHaveNoControlCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opts := anyOptions(t)
		out := draw(t, anySpans(t), opts)
		if !utf8.ValidString(out) {
			t.Fatalf("the output is not UTF-8: %q", out)
		}
		for line := range strings.Lines(out) {
			line = strings.TrimSuffix(line, "\n")
			if got := columns(line); got > opts.Width {
				t.Errorf("a line has %d columns, want at most %d: %q", got, opts.Width, line)
			}
			for _, r := range line {
				if !unicode.IsPrint(r) || opts.ASCII && r > unicode.MaxASCII {
					t.Errorf("a line contains %q, want only printable characters (ASCII: %v): %q", r, opts.ASCII, line)
				}
			}
		}
	})
}

func TestColourDoesNotChangeTheText(t *testing.T) {
	own := strings.NewReplacer(func() []string {
		pairs := []string{reset, "", string(faint), "", string(bold), "", string(red), ""}
		for _, s := range serviceStyles {
			pairs = append(pairs, string(s), "")
		}
		return pairs
	}()...)
	rapid.Check(t, func(t *rapid.T) {
		spans, opts := anySpans(t), anyOptions(t)
		want := draw(t, spans, opts)
		opts.Color = true
		var got strings.Builder
		for line := range strings.Lines(own.Replace(draw(t, spans, opts))) {
			got.WriteString(strings.TrimRight(line, " \n") + "\n")
		}
		if got.String() != want {
			t.Errorf("without its colours the output differs\ngot:\n%s\nwant:\n%s", got.String(), want)
		}
	})
}

func TestEverySpanIsDrawnOnceForAnyParents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spans := anySpans(t)
		for i := range spans {
			spans[i].Name = fmt.Sprintf("<span number %d>", i) // no generated text contains this by chance
			spans[i].Links = nil
		}
		out := draw(t, spans, Options{Width: 200, Attributes: func(Span) []Attribute { return nil }})
		for _, s := range spans {
			if got := strings.Count(out, s.Name); got != 1 {
				t.Errorf("span %s is drawn %d times, want once:\n%s", s.Name, got, out)
			}
		}
	})
}

func TestTheOrderOfTheSpansDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spans := anySpans(t)
		want := draw(t, spans, Options{})
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		r.Shuffle(len(spans), func(i, j int) { spans[i], spans[j] = spans[j], spans[i] })
		if got := draw(t, spans, Options{}); got != want {
			t.Errorf("another order of spans changes the output\ngot:\n%s\nwant:\n%s", got, want)
		}
	})
}

func TestASpanOfAnotherServiceIsDrawnWithinItsParent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, r := range grow(anySpans(t)) {
			align(r, 0)
			within(t, r)
		}
	})
}

func within(t *rapid.T, n *node) {
	for _, c := range n.children {
		if !n.missing && c.Service != n.Service &&
			(n.from.Sub(c.from) > skewTolerance || c.to.Sub(n.to) > skewTolerance) {
			t.Errorf("%q is drawn %v to %v, want within its parent %q, %v to %v", c.Name, c.from, c.to, n.Name, n.from, n.to)
		}
		if c.to.Before(c.from) {
			t.Errorf("%q is drawn backwards, %v to %v", c.Name, c.from, c.to)
		}
		within(t, c)
	}
}

func TestABarCoversItsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.IntRange(1, 80).Draw(t, "cells")
		a := rapid.IntRange(0, 1000).Draw(t, "from")
		b := rapid.IntRange(a, 1000).Draw(t, "to")
		for _, ascii := range []bool{false, true} {
			x := axis{t0, t0.Add(1000), cells, ascii}
			bar := []rune(x.bar(t0.Add(time.Duration(a)), t0.Add(time.Duration(b))))
			if len(bar) != cells {
				t.Fatalf("bar is %d cells, want %d: %q", len(bar), cells, string(bar))
			}
			if strings.TrimSpace(string(bar)) == "" {
				t.Errorf("bar from %d to %d of 1000 is invisible", a, b)
			}
			for i, r := range bar {
				lo, hi := i*1000/cells, (i+1)*1000/cells
				if whole := a < lo-1000/cells && b > hi+1000/cells; whole && r != '█' && r != '=' {
					t.Errorf("cell %d of %q is %q, want it full: the bar is from %d to %d of 1000", i, string(bar), r, a, b)
				}
				if outside := b < lo-1000/cells-1 || a > hi+1000/cells+1; outside && r != ' ' {
					t.Errorf("cell %d of %q is %q, want it empty: the bar is from %d to %d of 1000", i, string(bar), r, a, b)
				}
			}
		}
	})
}

func FuzzTextFitsItsColumn(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b[31m", "今日の天気", "z\u0301\u0301\u0301\u0301\u0301\u0301", "\xff", "👩‍👩‍👧️",
		"a\u00a0b"} {
		f.Add(s, 5, false)
	}
	f.Fuzz(func(t *testing.T, s string, n int, ascii bool) {
		n = min(max(n, 0), 1000)
		c := clean(s, ascii)
		got := truncate(c, n, ascii)
		if columns(got) > n {
			t.Errorf("truncate(%q, %d) = %q takes %d columns, want at most %d", c, n, got, columns(got), n)
		}
		if columns(c) <= n && got != c {
			t.Errorf("truncate(%q, %d) = %q, want it untouched: it fits", c, n, got)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("clean(%q) = %q contains unprintable characters", s, c)
		}
	})
}
